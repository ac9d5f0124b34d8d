//! `odd-messages`: the messages around a call of `echo`, selected by its text.

use serde_json::{Value, json};

use crate::faults::{Heard, Memory, Scene};

/// Notifications that are sent at once.
const BURST: usize = 200;
/// Depth of a nested message, which few parsers support.
const DEEP: usize = 200;
/// Depth of a nested schema; some parsers support at most 128 levels.
const DEEP_SCHEMA: usize = 50;

/// Texts that cause an error, its code, and `data` if there is any.
const ERRORS: [(&str, i64, Option<&str>); 13] = [
    ("error -32603", -32603, None),
    ("error -32602", -32602, None),
    ("error -1", -1, None),
    ("error 1000000", 1_000_000, None),
    ("data null", -32603, Some("null")),
    ("data text", -32603, Some("\"text\"")),
    ("data number", -32603, Some("7.5")),
    ("data array", -32603, Some("[1,null,{}]")),
    ("data object", -32603, Some(r#"{"a":{"b":{"c":[]}}}"#)),
    ("code -32001", -32001, None),
    ("code -32003", -32003, None),
    ("code -32004", -32004, None),
    ("capability", -32021, Some(r#"{"requiredCapabilities":{"com.example":{}}}"#)),
];

pub fn hear(_: &mut Memory, message: &mut Value) -> Heard {
    let Some((_, code, data)) = text(message).and_then(|text| ERRORS.iter().find(|(name, ..)| *name == text)) else {
        return Heard::Message;
    };
    let mut error = json!({ "code": code, "message": "Failed on purpose" });
    if let Some(data) = data.and_then(|data| serde_json::from_str::<Value>(data).ok()) {
        error["data"] = data;
    }
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
}

pub fn say(_: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    if let (Some(result), Some(text)) = (message.get_mut("result"), scene.sent.and_then(text)) {
        match text {
            "result type absent" => drop(result.as_object_mut().map(|result| result.shift_remove("resultType"))),
            "result type unknown" => result["resultType"] = json!("partial"),
            _ => {}
        }
    }
    true
}

pub fn around(_: &mut Memory, scene: &Scene, message: &Value) -> (Vec<Value>, Vec<Value>) {
    let modern = scene.revision.is_modern();
    // While a slow call is running, and long before its result.
    if message["method"] == "notifications/progress" && message["params"]["progress"] == 1 && !modern {
        // Several calls can run at the same time.
        let id = format!("busy-{}", message["params"]["progressToken"]);
        return (Vec::new(), vec![request(&json!(id), "ping", Value::Null)]);
    }
    let is_response = message.get("result").is_some();
    let Some(text) = scene.sent.and_then(text).filter(|_| is_response) else { return (Vec::new(), Vec::new()) };
    let id = &message["id"];
    let token = scene.sent.and_then(|sent| sent.pointer("/params/_meta/progressToken")).cloned().unwrap_or_default();
    let before = match text {
        "unknown notifications" => {
            vec![note("notifications/does-not-exist", json!({})), note("com.example/moved", json!({ "to": [1] }))]
        }
        "unknown response" => vec![json!({ "jsonrpc": "2.0", "id": "never-sent", "result": result("stray") })],
        "error without id" => vec![error(None), error(Some(Value::Null))],
        "malformed" => malformed(),
        "same id" if !modern => vec![request(id, "ping", Value::Null)],
        "server requests" if modern => {
            vec![request(&json!("stray-1"), "ping", json!({})), request(&json!("stray-2"), "roots/list", json!({}))]
        }
        "server requests" => {
            let ids = [json!(0), json!(-5), json!(9_007_199_254_740_991_i64), json!("7"), json!(""), json!("é🦀")];
            let pings = ids.iter().map(|id| request(id, "ping", Value::Null));
            let known = request(&json!("roots-1"), "roots/list", Value::Null);
            let unknown = request(&json!("unknown-1"), "server/does-not-exist", json!({ "a": 1 }));
            pings.chain([unknown, known]).collect()
        }
        "undeclared" if !modern => vec![
            request(&json!("undeclared-roots"), "roots/list", Value::Null),
            request(&json!("undeclared-sampling"), "sampling/createMessage", sampling()),
            request(&json!("undeclared-elicitation"), "elicitation/create", form()),
        ],
        "bad params" if !modern => vec![
            request(&json!("bad-sampling"), "sampling/createMessage", json!({ "maxTokens": 10 })),
            request(&json!("bad-elicitation"), "elicitation/create", json!({ "requestedSchema": 7 })),
        ],
        "progress" => progress(&token),
        "log messages" => logs(),
        "cancellations" => vec![
            note("notifications/cancelled", json!({ "requestId": "never-sent", "reason": "odd" })),
            note("notifications/cancelled", Value::Null),
            note("notifications/cancelled", json!({ "requestId": null })),
            note("notifications/cancelled", json!({ "requestId": { "id": 1 } })),
        ],
        "cancelled by server" => vec![note("notifications/cancelled", json!({ "requestId": id }))],
        _ => Vec::new(),
    };
    let after = match text {
        "two responses" => {
            let mut second = message.clone();
            second["result"] = result("second");
            vec![second]
        }
        "progress" if !token.is_null() => {
            vec![note("notifications/progress", json!({ "progressToken": token, "progress": 1000 }))]
        }
        _ => Vec::new(),
    };
    (before, after)
}

/// Text that is not JSON is in the field `raw`.
pub fn spell(message: &Value) -> Vec<u8> {
    message.get("raw").and_then(Value::as_str).map_or_else(|| message.to_string(), str::to_owned).into_bytes()
}

/// Tools with difficult schemas, and one in an unknown dialect.
pub fn schemas(result: &mut Value) {
    let deep =
        (0..DEEP_SCHEMA).fold(json!({ "type": "string" }), |inner, _| json!({ "type": "array", "items": inner }));
    let wide: Vec<Value> = (0..2000).map(|n| json!({ "properties": { "a": { "const": n } } })).collect();
    let node = json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/node" } } });
    let schemas = [
        ("deep", json!({ "type": "object", "properties": { "a": deep } })),
        ("wide", json!({ "type": "object", "anyOf": wide })),
        (
            "circular",
            json!({ "type": "object", "$defs": { "node": node }, "properties": { "a": { "$ref": "#/$defs/node" } } }),
        ),
        ("dialect", json!({ "$schema": "https://example.com/no-dialect", "type": "object" })),
        (
            "keywords",
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "$defs": { "short": { "$anchor": "short", "type": "string", "maxLength": 5 } },
                "properties": {
                    "a": { "$ref": "#/$defs/short" },
                    "b": { "type": "array", "prefixItems": [{ "type": "integer" }], "items": false },
                },
                "dependentRequired": { "a": ["b"] },
                "unevaluatedProperties": false,
                "x-vendor": { "trace": null },
            }),
        ),
    ];
    if let Some(tools) = result.get_mut("tools").and_then(Value::as_array_mut) {
        tools.extend(schemas.map(|(name, schema)| json!({ "name": name, "inputSchema": schema })));
    }
}

fn text(message: &Value) -> Option<&str> {
    let echoes = message["method"] == "tools/call" && message["params"]["name"] == "echo";
    message.pointer("/params/arguments/text").filter(|_| echoes).and_then(Value::as_str)
}

pub fn request(id: &Value, method: &str, params: Value) -> Value {
    let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
    if !params.is_null() {
        request["params"] = params;
    }
    request
}

pub fn note(method: &str, params: Value) -> Value {
    let mut note = json!({ "jsonrpc": "2.0", "method": method });
    if !params.is_null() {
        note["params"] = params;
    }
    note
}

fn error(id: Option<Value>) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "error": { "code": -32600, "message": "Invalid request" } });
    if let Some(id) = id {
        message["id"] = id;
    }
    message
}

fn result(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "resultType": "complete" })
}

fn malformed() -> Vec<Value> {
    let both = json!({ "jsonrpc": "2.0", "id": "never-sent", "result": {}, "error": { "code": 1, "message": "" } });
    let deep = format!("{}{}", "[".repeat(DEEP), "]".repeat(DEEP));
    vec![
        json!({ "raw": "{\"jsonrpc\":\"2.0\",\"id\"" }),
        json!(42),
        json!({ "id": "never-sent" }),
        both,
        json!({ "raw": deep }),
    ]
}

fn sampling() -> Value {
    let content = json!({ "type": "text", "text": "Hello" });
    json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 100 })
}

fn form() -> Value {
    let properties = json!({ "name": { "type": "string" } });
    json!({ "message": "Who are you?", "requestedSchema": { "type": "object", "properties": properties } })
}

fn progress(token: &Value) -> Vec<Value> {
    let one = |token: &Value, params: Value| {
        let mut params = params;
        params["progressToken"] = token.clone();
        note("notifications/progress", params)
    };
    let mut all = vec![one(&json!("no-such-token"), json!({ "progress": 1 }))];
    if !token.is_null() {
        all.push(one(token, json!({ "progress": 0.25 })));
        all.push(one(token, json!({ "progress": 0.125, "total": 0 })));
        all.extend((1..=BURST).map(|step| one(token, json!({ "progress": step }))));
    }
    all
}

fn logs() -> Vec<Value> {
    let data = [json!(null), json!(7), json!("text"), json!([1, [2]]), json!({ "a": {} }), json!("x".repeat(100_000))];
    let one = |params: Value| note("notifications/message", params);
    let mut all: Vec<Value> = data.into_iter().map(|data| one(json!({ "level": "info", "data": data }))).collect();
    all.push(one(json!({ "level": "verbose", "logger": "odd", "data": "a level that is unknown" })));
    all.extend((0..BURST).map(|n| one(json!({ "level": "debug", "logger": "burst", "data": n }))));
    all
}
