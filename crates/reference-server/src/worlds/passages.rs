//! Worlds for rules about gateways: results and errors with everything that a gateway has to forward.
//!
//! In `passages` the text of a call of `echo` selects the result, the messages around it, the requests to the client that
//! precede it, and over HTTP the form of the response or the failure in its place.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use hyper::StatusCode;
use serde_json::{Value, json};

use super::{
    odd::{self, note, request},
    responses, serving,
};
use crate::{
    faults::{Behaviour, EVERYWHERE, Heard, Memory, Met, Scene},
    http::empty,
    worlds::made::{is_modern, result},
};
use conform_model::revision::Revision;

/// Text that programs often handle wrongly: multi-byte characters, surrogate pairs, symbols, direction, line ends,
/// outer spaces.
const TEXT: &str = "  Grüße 日本 🦀👩\u{200d}👩\u{200d}👧 \u{202e}abc\u{202c} \u{2028} \u{7f} \\u0041 \"'<>&\r\n\ttab e\u{301} \u{fffd} \u{10ffff}  ";

/// The cursor of the page after the empty one, and the name of the upstream's own.
const SPACED: &str = "  lead, \"quotes\" \u{1F980} and % ";
const NEXT: &str = "next";

/// Names of `echo` that programs often change or confuse with it.
const NAMES: [&str; 2] = ["dotted.name", "Echo"];

/// Long enough for the request of another client to arrive meanwhile. Observed: a gateway in Python needs up to 30 ms.
const LATE: Duration = Duration::from_millis(600);

pub static PASSAGES: &[Behaviour] = &[
    Behaviour {
        hear: Some(hear),
        say: Some(say),
        around: Some(around),
        meet: Some(meet),
        reply: Some(|_, request, reply| responses::form(&request["message"], reply)),
        ..Behaviour::new("passages", "calls of `echo` return everything that a gateway has to pass on", EVERYWHERE)
    },
    Behaviour { delay: |_| LATE, ..Behaviour::new("delayed-responses", "each response takes 0.6 s", EVERYWHERE) },
];

/// A notification can be rejected, too.
fn meet(memory: &mut Memory, request: &Value) -> Met {
    match request.pointer("/message/params/_meta/com.example~1status").and_then(Value::as_u64) {
        Some(500) if request["message"]["method"] == "notifications/roots/list_changed" => {
            Met::Answered(empty(StatusCode::INTERNAL_SERVER_ERROR))
        }
        _ => responses::meet(memory, request),
    }
}

fn text(message: &Value) -> Option<&str> {
    let echoes = message["method"] == "tools/call" && message["params"]["name"] == "echo";
    message.pointer("/params/arguments/text").filter(|_| echoes).and_then(Value::as_str)
}

fn hear(memory: &mut Memory, message: &mut Value) -> Heard {
    match odd::hear(memory, message) {
        Heard::Message => {}
        heard => return heard,
    }
    if message["method"] == "tools/call" && NAMES.iter().any(|name| message["params"]["name"] == *name) {
        message["params"]["name"] = json!("echo");
    }
    if message["method"] == "resources/list" {
        let cursor = message["params"]["cursor"].as_str();
        if cursor == Some(first_cursor(is_modern(message))) {
            return result(message, json!({ "resources": [], "nextCursor": SPACED }));
        }
        if let Some(next) = memory.said.get(NEXT).filter(|_| cursor == Some(SPACED)) {
            message["params"]["cursor"] = next.clone();
        }
    }
    serving::hear(memory, message)
}

/// The cursor of the second page of resources, which is empty. Only since 2026-07-28 a text says that "" is a cursor.
fn first_cursor(is_modern: bool) -> &'static str {
    if is_modern { "" } else { " a%20b +/\u{e9}= " }
}

fn say(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    if message.get("method").is_some() {
        let has_meta = message["method"] != "ping" && message.get("params").is_none_or(Value::is_object);
        if has_meta {
            let own = message["params"]["_meta"].as_object().cloned().unwrap_or_default();
            message["params"]["_meta"] = meta();
            own.into_iter().for_each(|(name, value)| message["params"]["_meta"][name] = value);
        }
        match message["method"].as_str() {
            Some("sampling/createMessage") => message["params"]["metadata"] = odd_values(),
            Some("elicitation/create") => message["params"]["message"] = json!(TEXT),
            _ => {}
        }
        return true;
    }
    if message.get("result").is_none() {
        return true;
    }
    let method = scene.sent.and_then(|sent| sent["method"].as_str()).unwrap_or_default();
    if method == "tools/list"
        && let Some(tools) = message["result"]["tools"].as_array_mut()
        && tools.iter().any(|tool| tool["name"] == "echo")
    {
        let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
        tools.extend(NAMES.map(|name| json!({ "name": name, "inputSchema": schema })));
    }
    match method {
        _ if method.ends_with("/list") => decorate(&mut message["result"], scene.revision),
        "resources/read" | "prompts/get" | "completion/complete" => message["result"]["_meta"] = meta(),
        _ => {}
    }
    let argument = |name: &str| scene.sent.and_then(|sent| sent["params"]["argument"].get(name));
    if method == "completion/complete" && argument("value").is_some_and(|value| value == "many") {
        let many = (0..100).map(|number| {
            ["b", "a", "b", "", " b "].get(number).map_or_else(|| json!(format!("value {number}")), |odd| json!(odd))
        });
        message["result"]["completion"] = json!({ "values": many.collect::<Vec<_>>(), "total": 250, "hasMore": true });
    }
    let is_first = scene.sent.is_some_and(|sent| sent["params"].get("cursor").is_none());
    if method == "resources/list"
        && is_first
        && let Some(next) = message["result"].get_mut("nextCursor")
    {
        memory.said.insert(NEXT, std::mem::replace(next, first_cursor(scene.revision.is_modern()).into()));
    }
    let Some(text) = scene.sent.and_then(text) else { return true };
    match text.split_once(' ').unwrap_or((text, "")) {
        ("everything", _) => {
            let result = &mut message["result"];
            result["content"] = content(scene.revision);
            result["_meta"] = meta();
            result["com.example/own"] = json!({ "kept": [1, null, "x"] });
            if scene.revision.features().structured_output {
                result["structuredContent"] = structured();
            }
        }
        ("equal", _) => {
            let block = |text: &str| json!({ "type": "text", "text": text });
            message["result"]["content"] =
                json!([block("b"), block("a"), block("b"), block(""), block("b"), block(" b\r\n")]);
        }
        ("failure", _) => {
            message["result"]["content"] = json!([{ "type": "text", "text": TEXT }]);
            message["result"]["isError"] = json!(true);
        }
        ("error", code) => {
            let code: i64 = code.parse().unwrap_or(-32055);
            let data = json!({ "reason": TEXT, "nested": { "list": [1, { "deep": null }], "big": 9_007_199_254_740_993_u64 }, "odd": odd_values() });
            message["error"] =
                json!({ "code": code, "message": "  It went wrong: Grüße 🦀 e\u{301}\r\n%20", "data": data });
            if let Some(message) = message.as_object_mut() {
                message.shift_remove("result");
            }
        }
        ("large", bytes) => {
            let bytes = bytes.parse().unwrap_or(1 << 20);
            let text: String = "0123456789abcde\n".chars().cycle().take(bytes).collect();
            message["result"]["content"] = json!([{ "type": "text", "text": text }]);
        }
        _ => {}
    }
    true
}

fn around(memory: &mut Memory, scene: &Scene, message: &Value) -> (Vec<Value>, Vec<Value>) {
    let (mut before, after) = odd::around(memory, scene, message);
    let (asked, _) = serving::around(memory, scene, message);
    before.extend(asked);
    if message.get("result").is_none() {
        return (before, after);
    }
    match scene.sent.and_then(text) {
        Some("told") => {
            let data = json!({ "text": TEXT, "list": [1, null, { "a": true }], "odd": odd_values() });
            before.push(note(
                "notifications/message",
                json!({ "level": "warning", "logger": "Passages.log 1", "data": data }),
            ));
            let data = [json!(null), json!(0), json!(""), json!(" text "), json!(false), json!([]), json!({})];
            before.extend(data.map(|data| note("notifications/message", json!({ "level": "error", "data": data }))));
        }
        // Only after logging/setLevel may it be sent.
        Some("debug") if !scene.revision.is_modern() => {
            before.push(note("notifications/message", json!({ "level": "debug", "data": "in detail" })));
        }
        // Ids that programs often confuse, in requests that the client can respond to.
        Some("ids") if !scene.revision.is_modern() => {
            let ids = [
                json!(0),
                json!(""),
                json!("7"),
                json!(7),
                json!("a.b/c é"),
                json!(9_007_199_254_740_991_i64),
                json!(-5),
            ];
            before.extend(ids.iter().map(|id| request(id, "roots/list", Value::Null)));
        }
        _ => {}
    }
    (before, after)
}

/// Values and names that programs often drop or change, in data of a server or a user.
fn odd_values() -> Value {
    json!({
        "none": null, "no": false, "zero": 0, "nothing": "", "list": [], "object": {}, "equal": ["b", "a", "b"],
        "title": "T", "icons": [{ "src": "x" }], "size": 7, "mimeType": "text/plain", "annotations": { "priority": 0 },
        "_own": 1, "$ref": "#/a", "whole": 1.0, "part": 0.1, "large": 1_099_511_627_776_u64, "Capital": "UPPER lower",
        "decomposed": "e\u{301}", "escaped": "%2F%20+&amp;", "control": "\u{1}\u{7f}", "lines": "a\r\nb\rc\n", "long": "x".repeat(1500),
    })
}

fn meta() -> Value {
    json!({ "com.example/trace": "4bf92f3577b34da6", "com.example/nested": { "n": 1.5, "list": ["ü", null] }, "plain": true })
}

/// Optional and rare fields of list items.
fn decorate(result: &mut Value, revision: Revision) {
    result["_meta"] = meta();
    for list in ["tools", "prompts", "resources", "resourceTemplates"] {
        for item in result[list].as_array_mut().into_iter().flatten().take(2) {
            if revision.features().structured_output {
                item["_meta"] = meta();
            }
            item["description"] = json!(TEXT);
        }
    }
}

fn content(revision: Revision) -> Value {
    let bytes: Vec<u8> = (0..=255).collect();
    let data = STANDARD.encode(&bytes);
    let annotations = json!({ "audience": ["user", "assistant"], "priority": 0.25 });
    let mut all = vec![
        json!({ "type": "text", "text": TEXT, "annotations": annotations }),
        json!({ "type": "text", "text": "" }),
        json!({ "type": "image", "data": data, "mimeType": "image/png" }),
        json!({ "type": "resource", "resource": { "uri": "file:///a%20b/%C3%BC?x=%2F", "mimeType": "application/octet-stream", "blob": data } }),
        json!({ "type": "resource", "resource": { "uri": "memo:two", "text": TEXT } }),
    ];
    if revision.features().audio {
        all.push(json!({ "type": "audio", "data": data, "mimeType": "audio/wav" }));
    }
    if revision.features().structured_output {
        let link = json!({ "type": "resource_link", "uri": "file:///linked", "name": "linked", "title": "Linked",
            "description": TEXT, "mimeType": "text/plain", "size": 12, "_meta": meta() });
        all.push(link);
        all[0]["_meta"] = meta();
    }
    all.into()
}

fn structured() -> Value {
    json!({
        "whole": 9_007_199_254_740_993_u64, "small": 1e-7, "negative": -0.5, "none": null, "empty": {}, "list": [[], [null]],
        "text": TEXT, "odd": odd_values(), "": "no name", "a.b": 1, "ключ": "значение",
    })
}
