//! Worlds for rules about clients: tools whose arguments are repeated in HTTP headers.

use hyper::{StatusCode, header::HeaderValue};
use serde_json::{Value, json};

use crate::{
    faults::{Behaviour, Heard, Memory, Met},
    http::{Body, empty},
    options::Transport,
    worlds::{
        made::{method, page, result},
        rounds::required,
    },
};
use conform_model::revision::Revision;

pub static TOOLS: &[Behaviour] = &[Behaviour {
    since: Some(Revision::V2026_07_28),
    hear: Some(|memory, message| match method(message) {
        "tools/list" => {
            let first = message["params"].get("cursor").is_none();
            memory.requests += u64::from(first);
            let mut tools = tools(memory.requests > 1);
            let second = tools.split_off(tools.len() - 6);
            page(message, "tools", &[("", tools), ("page 2", second)])
        }
        "tools/call"
            if message["params"]["name"] == "asks-first" && message["params"].get("inputResponses").is_none() =>
        {
            required(message, true, None)
        }
        "tools/call" => result(message, json!({ "content": [{ "type": "text", "text": "called" }] })),
        _ => Heard::Message,
    }),
    meet: Some(meet),
    ..Behaviour::new("header-tools", "arguments of tools go into headers, or cannot", &[Transport::Http])
}];

fn tools(later: bool) -> Vec<Value> {
    let tool = |name: &str, properties: Value| json!({ "name": name, "inputSchema": { "type": "object", "properties": properties } });
    let one = |name: &str, header: &str| tool(name, json!({ "a": { "type": "string", "x-mcp-header": header } }));
    let typed = |name: &str, kind: &str| tool(name, json!({ "a": { "type": kind, "x-mcp-header": "A" } }));
    let header = json!({ "type": "string", "x-mcp-header": "A" });
    let under = |name: &str, keywords: Value| {
        let mut schema = keywords;
        schema["type"] = json!("object");
        json!({ "name": name, "inputSchema": schema })
    };
    let inner = json!({ "type": "object", "properties": {
        "region": { "type": "string", "x-mcp-header": "Region" },
        "city": { "type": "string" },
    } });
    let region = json!({ "region": { "type": "string", "x-mcp-header": "Region" } });
    let text = json!({ "type": "string" });
    let city = json!({ "type": "object", "properties": { "city": { "type": "string", "x-mcp-header": "City" } } });
    let moved = |name: &str| json!({ "type": "string", "x-mcp-header": name });
    let (a, b) = if later { (text.clone(), moved("Second")) } else { (moved("First"), text.clone()) };
    vec![
        tool(
            "locate",
            json!({
                "region": { "type": "string", "x-mcp-header": "Region" },
                "limit": { "type": "integer", "x-mcp-header": "Limit" },
                "exact": { "type": "boolean", "x-mcp-header": "Exact", "default": true },
                "place": city,
            }),
        ),
        one("bad-empty", ""),
        one("bad-space", "A b"),
        one("bad-colon", "A:b"),
        one("bad-unicode", "Größe"),
        tool("bad-twice", json!({ "a": moved("Same"), "b": moved("sAME") })),
        typed("bad-object", "object"),
        typed("bad-number", "number"),
        typed("bad-array", "array"),
        one("bad-lines", "A\r\nB"),
        tool("bad-items", json!({ "a": { "type": "array", "items": header } })),
        tool("bad-choice", json!({ "a": { "oneOf": [header] } })),
        under("bad-not", json!({ "not": { "properties": { "a": header } } })),
        under("bad-condition", json!({ "if": { "properties": { "a": header } } })),
        under("bad-reference", json!({ "$defs": { "a": header }, "properties": { "a": { "$ref": "#/$defs/a" } } })),
        under("bad-additional", json!({ "additionalProperties": header })),
        tool(
            "deep",
            json!({ "region": text, "city": text, "a": { "type": "object", "properties": { "region": text, "b": inner } } }),
        ),
        tool("asks-first", region.clone()),
        tool("never-right", region),
        tool("grüße ☃", json!({})),
        tool(" leading", json!({})),
        tool("=?base64?literal?=", json!({})),
        tool("odd-names", json!({ "a": moved("!#$%&'*+-.^_`|~09Az"), "b": moved("Method") })),
        tool("moving", json!({ "a": a, "b": b })),
    ]
}

/// The schema of the tool `moving` changed after it was first listed. A call of `never-right` is never right.
fn meet(_: &mut Memory, request: &Value) -> Met {
    let message = &request["message"];
    let calls = |name: &str| method(message) == "tools/call" && message["params"]["name"] == name;
    let moved = calls("moving") && request["headers"].get("mcp-param-second").is_none();
    if !moved && !calls("never-right") {
        return Met::Served;
    }
    let error = json!({ "code": -32020, "message": "The header Mcp-Param-Second is missing or wrong." });
    let body = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string();
    let mut reply = empty(StatusCode::BAD_REQUEST);
    *reply.body_mut() = Body::Whole(Some(body.into()));
    reply.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    Met::Answered(reply)
}
