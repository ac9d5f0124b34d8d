//! Responses that a world creates itself, without the handlers.

use serde_json::{Map, Value, json};

use crate::faults::Heard;

const VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

/// Whether a request names revision 2026-07-28 or later.
pub fn is_modern(message: &Value) -> bool {
    message.pointer(VERSION).is_some()
}

pub fn method(message: &Value) -> &str {
    message["method"].as_str().unwrap_or_default()
}

/// The URI in a request.
pub fn uri(message: &Value) -> &str {
    message["params"]["uri"].as_str().unwrap_or_default()
}

/// The text of a call of `echo`.
pub fn said(message: &Value) -> &str {
    let echo = method(message) == "tools/call" && message["params"]["name"] == "echo";
    message["params"]["arguments"]["text"].as_str().filter(|_| echo).unwrap_or_default()
}

/// A result with the fields that every result of 2026-07-28 has.
pub fn result(message: &Value, mut result: Value) -> Heard {
    if let Some(result) = result.as_object_mut().filter(|_| is_modern(message)) {
        result.entry("resultType").or_insert_with(|| json!("complete"));
        if method(message) != "tools/call" {
            result.entry("ttlMs").or_insert_with(|| json!(0));
            result.entry("cacheScope").or_insert_with(|| json!("public"));
        }
    }
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

pub fn error(message: &Value, code: i64, text: &str) -> Heard {
    let error = json!({ "code": code, "message": text });
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
}

/// One page of a list: the pages with their items, and the cursors of all pages except the first.
pub fn page(message: &Value, field: &str, pages: &[(&str, Vec<Value>)]) -> Heard {
    let cursor = message["params"]["cursor"].as_str();
    let at = match cursor {
        None => Some(0),
        Some(cursor) => pages.iter().skip(1).position(|(own, _)| *own == cursor).map(|at| at + 1),
    };
    let Some(at) = at else { return error(message, -32602, "Invalid cursor") };
    let mut listed = Map::new();
    listed.insert(field.to_owned(), pages[at].1.clone().into());
    if let Some((next, _)) = pages.get(at + 1) {
        listed.insert("nextCursor".to_owned(), json!(next));
    }
    result(message, listed.into())
}

pub fn resource(uri: &str) -> Value {
    json!({ "uri": uri, "name": uri })
}
