//! A minimal well-behaved server. Each hostile one differs from it by one trait.

use serde_json::{Value, json};

/// The response to a message, if it needs one.
pub fn answer(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let said = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {}, "resources": {} },
            "serverInfo": { "name": "hostile", "version": "1" },
        }),
        "ping" => json!({}),
        "tools/list" => json!({ "tools": [{ "name": "t", "description": "d", "inputSchema": { "type": "object" } }] }),
        "resources/list" => json!({ "resources": [{ "uri": "a:b", "name": "n" }] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        "resources/read" if message["params"]["uri"] == "a:b" => {
            json!({ "contents": [{ "uri": "a:b", "text": "t" }] })
        }
        "resources/read" => return Some(refusal(id, -32002, "there is no such resource")),
        "tools/call" => json!({ "content": [], "isError": true }),
        method => return Some(refusal(id, -32601, &format!("no method {method}"))),
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": said }))
}

fn refusal(id: &Value, code: i32, words: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": words } })
}

/// Responses that are hard to parse, by the name of the trait.
pub fn twisted(how: &str, answer: &Value) -> Option<Vec<u8>> {
    let text = answer.to_string();
    let listed = |member: &str| text.replacen("\"tools\":", &format!("\"x\":{member},\"tools\":"), 1).into_bytes();
    Some(match how {
        "deep" => listed(&("[".repeat(100_000) + &"]".repeat(100_000))),
        "digits" => listed(&"7".repeat(1_000_000)),
        "many-values" => listed(&format!("[{}0]", "0,".repeat(300_000))),
        "long-line" => listed(&format!("\"{}\"", "x".repeat(64 << 20))),
        "same-keys" => text.replacen("\"jsonrpc\"", "\"jsonrpc\":\"2.0\",\"jsonrpc\"", 1).into_bytes(),
        "not-utf8" => {
            let mut bytes = listed("\"?\"");
            bytes.iter_mut().filter(|byte| **byte == b'?').for_each(|byte| *byte = 0xFF);
            bytes
        }
        "nul" => [text.as_bytes(), b"\0"].concat(),
        "bom" => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        "crlf" => [text.as_bytes(), b"\r"].concat(),
        _ => return None,
    })
}
