//! Worlds for rules about gateways: results and errors with everything that a gateway has to forward.
//!
//! In `passages` the text of a call of `echo` selects the result.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::odd::note;
use crate::faults::{Behaviour, EVERYWHERE, Memory, Scene};
use conform_model::revision::Revision;

/// Text that programs often handle wrongly: multi-byte characters, surrogate pairs, symbols, direction, line ends,
/// outer spaces.
const TEXT: &str = "  Grüße 日本 🦀👩\u{200d}👩\u{200d}👧 \u{202e}abc\u{202c} \u{2028} \u{7f} \\u0041 \"'<>&\r\n\ttab e\u{301} \u{fffd} \u{10ffff}  ";

/// Long enough for the request of another client to arrive meanwhile. Observed: a gateway in Python needs up to 30 ms.
const LATE: Duration = Duration::from_millis(600);

pub static PASSAGES: &[Behaviour] = &[
    Behaviour {
        say: Some(say),
        around: Some(around),
        ..Behaviour::new("passages", "calls of `echo` return everything that a gateway has to pass on", EVERYWHERE)
    },
    Behaviour { delay: |_| LATE, ..Behaviour::new("delayed-responses", "each response takes 0.6 s", EVERYWHERE) },
];

fn text(message: &Value) -> Option<&str> {
    let echoes = message["method"] == "tools/call" && message["params"]["name"] == "echo";
    message.pointer("/params/arguments/text").filter(|_| echoes).and_then(Value::as_str)
}

fn say(_: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    if message.get("result").is_none() {
        return true;
    }
    let method = scene.sent.and_then(|sent| sent["method"].as_str()).unwrap_or_default();
    if method.ends_with("/list") {
        decorate(&mut message["result"], scene.revision);
        return true;
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
        ("failure", _) => {
            message["result"]["content"] = json!([{ "type": "text", "text": TEXT }]);
            message["result"]["isError"] = json!(true);
        }
        ("error", code) => {
            let code: i64 = code.parse().unwrap_or(-32055);
            let data = json!({ "reason": TEXT, "nested": { "list": [1, { "deep": null }], "big": 9_007_199_254_740_993_u64 } });
            message["error"] = json!({ "code": code, "message": "It went wrong: Grüße 🦀", "data": data });
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

fn around(_: &mut Memory, scene: &Scene, message: &Value) -> (Vec<Value>, Vec<Value>) {
    let told = scene.sent.and_then(text) == Some("told") && message.get("result").is_some();
    if !told {
        return (Vec::new(), Vec::new());
    }
    let data = json!({ "text": TEXT, "list": [1, null, { "a": true }] });
    let logged = json!({ "level": "warning", "logger": "passages.log", "data": data, "_meta": meta() });
    (vec![note("notifications/message", logged)], Vec::new())
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
        "text": TEXT, "": "no name", "a.b": 1, "ключ": "значение",
    })
}
