//! Worlds of 2026-07-28: results that require input, in rounds of every kind, and subscriptions that end.

use serde_json::{Value, json};

use crate::{
    faults::{Behaviour, EVERYWHERE, Heard, Memory, Scene},
    session::SUBSCRIPTION_ID,
    worlds::{
        made::{error, method, result, said, uri},
        odd::note,
    },
};
use conform_model::revision::Revision;

/// A state that does not survive trimming, decoding, case changes or parsing.
const STATE: &str = " {\"a\": 1,  \"B\": \"%41+\\u00e9\"} ";

pub static ROUNDS: &[Behaviour] = &[
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(rounds),
        ..Behaviour::new("rounds", "calls and reads require input in rounds of every kind", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(listened),
        around: Some(ended),
        say: Some(|_, scene, message| wanted(scene, message) != Some("memo://never")),
        ..Behaviour::new("subscriptions-end", "subscriptions end at once, are rejected, or begin oddly", EVERYWHERE)
    },
];

/// A result that requires the roots of the client, a state, or both.
pub fn required(message: &Value, asks: bool, state: Option<&str>) -> Heard {
    let mut required = json!({ "resultType": "input_required" });
    if asks {
        required["inputRequests"] = json!({ "Where To/ü": { "method": "roots/list", "params": {} } });
    }
    if let Some(state) = state {
        required["requestState"] = json!(state);
    }
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "result": required }))
}

fn done(message: &Value, text: &str) -> Heard {
    result(message, json!({ "content": [{ "type": "text", "text": text }] }))
}

fn rounds(memory: &mut Memory, message: &mut Value) -> Heard {
    let params = &message["params"];
    let (state, has_input) = (params["requestState"].as_str(), params.get("inputResponses").is_some());
    if method(message) == "resources/read" && uri(message).starts_with("round://") {
        if !has_input {
            return required(message, true, (uri(message) == "round://read").then_some(STATE));
        }
        memory.reads += 1;
        let text = format!("version {}", memory.reads);
        let contents = json!([{ "uri": uri(message), "text": text }]);
        return result(message, json!({ "contents": contents, "ttlMs": 60_000, "cacheScope": "private" }));
    }
    if method(message) == "prompts/list" {
        return required(message, true, Some(STATE));
    }
    if method(message) == "tools/call" && message["params"]["name"] == "ask-oddly" {
        let asked = json!({ "odd": { "method": "com.example/ask", "params": {} } });
        let required = json!({ "resultType": "input_required", "inputRequests": asked });
        return Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "result": required }));
    }
    match said(message) {
        "state only" if state.is_none() => required(message, false, Some(STATE)),
        "no state" if !has_input => required(message, true, None),
        "two states" => match state {
            None => required(message, true, Some("first of two")),
            Some("first of two") => required(message, true, Some("second of two")),
            Some("second of two") => done(message, "second of two"),
            Some(_) => error(message, -32602, "Unknown state"),
        },
        "last without state" => match (state, has_input) {
            (None, false) => required(message, true, Some("only one")),
            (Some("only one"), _) if memory.keys.insert("only one".to_owned()) => required(message, true, None),
            (None, true) => done(message, "last without state"),
            _ => error(message, -32602, "Unknown state"),
        },
        "endless" => required(message, false, Some("again")),
        "neither" => required(message, false, None),
        _ => Heard::Message,
    }
}

/// What becomes of a subscription depends on its filter.
fn listened(_: &mut Memory, message: &mut Value) -> Heard {
    let filter = &message["params"]["notifications"];
    if method(message) != "subscriptions/listen" {
        return Heard::Message;
    }
    if filter["toolsListChanged"] == true {
        let result = json!({ "resultType": "complete", "_meta": { SUBSCRIPTION_ID: message["id"] } });
        return Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
    }
    if filter["promptsListChanged"] == true {
        return error(message, -32601, "Method not found");
    }
    Heard::Message
}

/// The resource whose updates a subscription, of which this is the acknowledgement, wants.
fn wanted<'a>(scene: &Scene<'a>, message: &Value) -> Option<&'a str> {
    let acknowledges = message["method"] == "notifications/subscriptions/acknowledged";
    scene.sent.filter(|_| acknowledges)?.pointer("/params/notifications/resourceSubscriptions/0")?.as_str()
}

/// A notification before the acknowledgement. Over stdio, notifications of other subscriptions and of none, and the
/// cancellation by which the server ends a subscription.
fn ended(_: &mut Memory, scene: &Scene, message: &Value) -> (Vec<Value>, Vec<Value>) {
    let id = &message["params"]["_meta"][SUBSCRIPTION_ID];
    let changed = |meta: Value| note("notifications/resources/list_changed", json!({ "_meta": meta }));
    let on_stdio = scene.transport.capabilities().process;
    match wanted(scene, message) {
        Some("memo://early") => (vec![changed(json!({ SUBSCRIPTION_ID: id }))], Vec::new()),
        Some("memo://strays") if on_stdio => {
            let strays =
                [json!({}), json!({ SUBSCRIPTION_ID: "never-requested" }), json!({ SUBSCRIPTION_ID: 987_654 })];
            (Vec::new(), strays.into_iter().map(changed).collect())
        }
        None if on_stdio && message["params"]["notifications"]["resourcesListChanged"] == true => {
            let cancelled = json!({ "requestId": id, "reason": "The server stops." });
            (Vec::new(), vec![note("notifications/cancelled", cancelled)])
        }
        _ => (Vec::new(), Vec::new()),
    }
}
