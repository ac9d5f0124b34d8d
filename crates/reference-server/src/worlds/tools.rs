//! Worlds for rules about clients: tools whose arguments are repeated in HTTP headers.

use hyper::{StatusCode, header::HeaderValue};
use serde_json::{Value, json};

use crate::{
    faults::{Behaviour, Heard, Memory, Met},
    http::{Body, empty},
    options::Transport,
    worlds::made::{method, result},
};
use conform_model::revision::Revision;

pub static TOOLS: &[Behaviour] = &[Behaviour {
    since: Some(Revision::V2026_07_28),
    hear: Some(|memory, message| match method(message) {
        "tools/list" => {
            memory.requests += 1;
            let tools = tools(memory.requests > 1);
            result(message, json!({ "tools": tools }))
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
    let city = json!({ "type": "object", "properties": { "city": { "type": "string", "x-mcp-header": "City" } } });
    let text = json!({ "type": "string" });
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
        tool("grüße ☃", json!({})),
        tool(" leading", json!({})),
        tool("=?base64?literal?=", json!({})),
        tool("odd-names", json!({ "a": moved("!#$%&'*+-.^_`|~09Az"), "b": moved("Method") })),
        tool("moving", json!({ "a": a, "b": b })),
    ]
}

/// The schema of the tool `moving` changed after it was first listed.
fn meet(_: &mut Memory, request: &Value) -> Met {
    let message = &request["message"];
    let moving = method(message) == "tools/call" && message["params"]["name"] == "moving";
    if !moving || request["headers"].get("mcp-param-second").is_some() {
        return Met::Served;
    }
    let error = json!({ "code": -32020, "message": "The header Mcp-Param-Second is missing." });
    let body = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string();
    let mut reply = empty(StatusCode::BAD_REQUEST);
    *reply.body_mut() = Body::Whole(Some(body.into()));
    reply.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    Met::Answered(reply)
}
