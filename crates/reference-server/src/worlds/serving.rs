//! Worlds for rules about roots, sampling and elicitation.
//!
//! In `requests-of-all-kinds` the text of a call of `echo` selects the server's request to the client. Up to 2025-11-25
//! it is a separate request, since then it is part of the result.

use serde_json::{Map, Value, json};

use super::odd::{note, request};
use crate::faults::{Behaviour, EVERYWHERE, Heard, Memory, Met, Scene};

const VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

pub static SERVING: &[Behaviour] = &[Behaviour {
    hear: Some(hear),
    around: Some(around),
    meet: Some(|memory, request| {
        memory.said.insert(HOST, request["headers"]["host"].clone());
        Met::Served
    }),
    ..Behaviour::new(
        "requests-of-all-kinds",
        "calls of `echo` cause the requests to the client that their text names",
        EVERYWHERE,
    )
}];

/// Over HTTP: where the client reaches the server.
const HOST: &str = "host";

/// A request with its id, its method and its params.
type Wanted = (String, &'static str, Value);

/// Since 2026-07-28 a call has to be repeated with the input.
pub fn hear(memory: &mut Memory, message: &mut Value) -> Heard {
    if text(message) == Some("page required") {
        let page = json!({ "mode": "url", "message": "Please visit", "url": "https://example.com/", "elicitationId": "page-1" });
        let error = json!({ "code": -32042, "message": "A page is required", "data": { "elicitations": [page] } });
        return Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
    }
    let Some(text) = text(message).map(str::to_owned).filter(|_| message.pointer(VERSION).is_some()) else {
        return Heard::Message;
    };
    let Some(params) = message["params"].as_object_mut() else { return Heard::Message };
    let retried = params.shift_remove("inputResponses").is_some();
    if params.shift_remove("requestState").is_some() || retried {
        return Heard::Message;
    }
    let wanted = if text == "task methods" { Vec::new() } else { wanted(memory, &text) };
    if wanted.is_empty() {
        return Heard::Message;
    }
    let asked: Map<String, Value> = wanted
        .into_iter()
        .filter(|(_, method, _)| *method != "ping")
        .map(|(key, method, params)| (key, json!({ "method": method, "params": params })))
        .collect();
    let result = json!({ "resultType": "input_required", "inputRequests": asked, "requestState": text });
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

pub fn around(memory: &mut Memory, scene: &Scene, message: &Value) -> (Vec<Value>, Vec<Value>) {
    let Some(text) = scene.sent.and_then(text).filter(|_| !scene.revision.is_modern()) else {
        return (Vec::new(), Vec::new());
    };
    if message.get("result").is_none() {
        return (Vec::new(), Vec::new());
    }
    let mut before = Vec::new();
    if text == "complete" {
        let complete = || note("notifications/elicitation/complete", json!({ "elicitationId": "no-such-page" }));
        before.extend([complete(), complete()]);
    }
    for (id, method, mut params) in wanted(memory, text) {
        if text == "sampling text" {
            params["_meta"] = json!({ "progressToken": "sampling-progress" });
        }
        before.push(request(&json!(id), method, params));
        if text == "cancelled" {
            before.push(note("notifications/cancelled", json!({ "requestId": id, "reason": "no longer needed" })));
        }
    }
    (before, Vec::new())
}

fn text(message: &Value) -> Option<&str> {
    let echoes = message["method"] == "tools/call" && message["params"]["name"] == "echo";
    message.pointer("/params/arguments/text").filter(|_| echoes).and_then(Value::as_str)
}

fn wanted(memory: &Memory, text: &str) -> Vec<Wanted> {
    let one = |method: &'static str, params: Value| vec![(text.to_owned(), method, params)];
    if text == "page here" {
        // A page at the address of the server shows who loads it.
        let host = memory.said.get(HOST).and_then(Value::as_str);
        return host.map(|host| one("elicitation/create", visit(&format!("http://{host}/visit")))).unwrap_or_default();
    }
    if text == "task methods" {
        let cursor = json!({ "taskId": "no-such-task" });
        return vec![
            ("task list".to_owned(), "tasks/list", json!({})),
            ("task cancel".to_owned(), "tasks/cancel", cursor),
        ];
    }
    if text == "roots" {
        return one("roots/list", json!({}));
    }
    if text == "concurrent" {
        let form = form("", &json!({ "name": { "type": "string" } }));
        return vec![
            ("concurrent form".to_owned(), "elicitation/create", form),
            ("concurrent ping".to_owned(), "ping", json!({})),
            ("concurrent roots".to_owned(), "roots/list", json!({})),
        ];
    }
    if text == "cancelled" {
        return one("elicitation/create", form("", &json!({ "name": { "type": "string" } })));
    }
    if let Some(kind) = text.strip_prefix("sampling ") {
        return sampling(kind).map(|params| one("sampling/createMessage", params)).unwrap_or_default();
    }
    if let Some(mode) = text.strip_prefix("mode ") {
        return one("elicitation/create", moded(mode));
    }
    if let Some(kind) = text.strip_prefix("form ") {
        return fields(kind).map(|fields| one("elicitation/create", form(kind, &fields))).unwrap_or_default();
    }
    Vec::new()
}

fn sampling(kind: &str) -> Option<Value> {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let said = |role: &str, content: Value| json!({ "role": role, "content": content });
    let hello = said("user", text("Hello"));
    let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let used = |id: &str| json!({ "type": "tool_use", "id": id, "name": "look", "input": {} });
    let found = |id: &str| json!({ "type": "tool_result", "toolUseId": id, "content": [text("found")] });
    let mut params = json!({ "messages": [hello.clone()], "maxTokens": 100 });
    let tools = json!([
        { "name": "look", "inputSchema": { "type": "object", "properties": { "at": { "type": "string" } }, "required": ["at"] } },
        { "name": "listen", "inputSchema": { "type": "object" } },
    ]);
    let history = |messages: Vec<Value>| json!([vec![hello.clone()], messages].concat());
    match kind {
        "text" => {}
        "task" => params["task"] = json!({ "ttl": 60000 }),
        "image" => {
            params["messages"] =
                json!([said("user", json!({ "type": "image", "data": pixel, "mimeType": "image/png" }))]);
        }
        "both roles" => {
            params["messages"] = history(vec![said("assistant", text("Yes?")), said("user", text("Go on"))]);
        }
        "blocks" => params["messages"] = json!([said("user", json!([text("One"), text("Two")]))]),
        "context" => params["includeContext"] = json!("thisServer"),
        "parameters" => {
            params["systemPrompt"] = json!("Be brief.");
            params["temperature"] = json!(0.5);
            params["stopSequences"] = json!(["."]);
            params["metadata"] = json!({ "a": 1 });
            params["modelPreferences"] = json!({ "hints": [{ "name": "reference" }], "costPriority": 1 });
        }
        "max tokens" => params["maxTokens"] = json!(5),
        "tools" => params["tools"] = tools,
        "tools none" => (params["tools"], params["toolChoice"]) = (tools, json!({ "mode": "none" })),
        "tools required" => (params["tools"], params["toolChoice"]) = (tools, json!({ "mode": "required" })),
        "tool choice" => params["toolChoice"] = json!({ "mode": "auto" }),
        "result missing" => {
            let unanswered = said("assistant", json!([used("a")]));
            params["messages"] = history(vec![unanswered, said("user", text("And now?"))]);
            params["tools"] = tools;
        }
        "result mixed" => {
            let mixed = said("user", json!([found("a"), text("And now?")]));
            params["messages"] = history(vec![said("assistant", json!([used("a")])), mixed]);
            params["tools"] = tools;
        }
        "results parallel" => {
            let both = said("user", json!([found("b"), found("a")]));
            params["messages"] = history(vec![said("assistant", json!([used("a"), used("b")])), both]);
            params["tools"] = tools;
        }
        _ => return None,
    }
    Some(params)
}

fn visit(url: &str) -> Value {
    json!({ "mode": "url", "message": "Please visit", "url": url, "elicitationId": "visit-1" })
}

fn moded(mode: &str) -> Value {
    let mut params = form("", &json!({ "name": { "type": "string" } }));
    match mode {
        "missing" => {}
        "url" => params = visit("https://example.com/visit"),
        "url odd id" => {
            let id = "{\"not\": \"a uuid\"} 01";
            params = json!({ "mode": "url", "message": "Please visit", "url": "https://example.com/visit", "elicitationId": id });
        }
        mode => params["mode"] = json!(mode),
    }
    params
}

/// The fields of a form.
fn fields(kind: &str) -> Option<Value> {
    Some(match kind {
        "all" => json!({
            "text": { "type": "string", "minLength": 2, "maxLength": 5 },
            "mail": { "type": "string", "format": "email" },
            "day": { "type": "string", "format": "date" },
            "whole": { "type": "integer", "minimum": 3, "maximum": 4 },
            "part": { "type": "number", "minimum": 0.5 },
            "sure": { "type": "boolean" },
            "size": { "type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Medium"] },
        }),
        "choices" => json!({
            "titled": { "type": "string", "oneOf": [{ "const": "a", "title": "First" }, { "const": "b", "title": "Second" }] },
            "several": { "type": "array", "items": { "enum": ["x", "y", "z"] }, "minItems": 1, "maxItems": 2 },
        }),
        "defaults" => json!({
            "text": { "type": "string", "default": "as it is" },
            "number": { "type": "integer", "default": 0 },
            "flag": { "type": "boolean", "default": false },
            "choice": { "type": "string", "enum": ["s", "m"], "default": "m" },
        }),
        "optional" => {
            json!({ "needed": { "type": "string" }, "number": { "type": "number" }, "text": { "type": "string" } })
        }
        // Values that programs often take for missing.
        "falsy" => json!({
            "number": { "type": "integer" },
            "flag": { "type": "boolean", "default": false },
            "text": { "type": "string", "maxLength": 0 },
        }),
        "empty" => json!({}),
        "forbidden" => json!({ "inner": { "type": "object", "properties": { "a": { "$ref": "#/a" } } }, "odd": {} }),
        "keywords" => json!({ "code": { "type": "string", "pattern": ".*", "x-order": 1, "examples": ["Ada"] } }),
        _ => return None,
    })
}

fn form(kind: &str, properties: &Value) -> Value {
    let required: Vec<&str> = match kind {
        "all" => vec!["text", "mail", "day", "whole", "part", "sure", "size"],
        "choices" => vec!["titled", "several"],
        "falsy" => vec!["number", "flag", "text"],
        "optional" => vec!["needed"],
        _ => Vec::new(),
    };
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "message": "Please fill in", "requestedSchema": schema })
}
