//! One message of a client: an item of `$sent`.

use serde_json::{Value, json};

use super::{
    MessageContext,
    dialogue::{Dialogue, Open, is_modern, kind},
};
use crate::evidence::Link;

/// A cancellation may cross the response for this long, in microseconds.
const CROSSING: u64 = 2_000_000;

/// The item, without the fields from lists and HTTP.
pub fn item(passing: &MessageContext, dialogue: &Dialogue, link: &Link) -> Value {
    let MessageContext { frame, message, pointer, batch } = passing;
    let kind = kind(message);
    let mut item = json!({
        "message": message,
        "kind": kind,
        "origin": { "frame": frame.frame, "pointer": pointer },
        "link": link.link,
        "transport": link.transport,
        "revision": link.revision,
        "phase": dialogue.phase,
        "modern": is_modern(message),
        "batch": batch,
        "declared": dialogue.declared,
        "offered": dialogue.offered_with(message),
        "answered_initialize": dialogue.answered_initialize,
    });
    if let Some(heard) = dialogue.heard {
        item["shown_after_ms"] = json!(frame.at.saturating_sub(heard) / 1000);
    }
    let id = message.get("id").map(Value::to_string).unwrap_or_default();
    match kind {
        "request" => {
            // A new handshake resets the ids.
            let begins = message["method"] == "initialize";
            item["id_repeated"] = json!(!begins && dialogue.ids.contains(&id));
            item["id_open"] = json!(dialogue.open.get(&id).is_some_and(Open::is_active));
            item["times"] = json!(dialogue.sent.get(&gist(message)).copied().unwrap_or_default() + 1);
            if let Some(token) = message.pointer("/params/_meta/progressToken") {
                item["token_repeated"] =
                    json!(dialogue.open.values().any(|open| open.is_active() && open.token() == Some(token)));
            }
            if message["method"] == "resources/unsubscribe" {
                item["subscribed"] = json!(dialogue.subscribed.contains(&message["params"]["uri"].to_string()));
            }
        }
        "notification" => match message["method"].as_str() {
            Some("notifications/cancelled") => item["cancels"] = json!(cancels(message, dialogue, frame.at)),
            Some("notifications/progress") => {
                let token = &message["params"]["progressToken"];
                item["reports_on"] = json!(reports_on(token, dialogue));
                let before = dialogue.progress.get(&token.to_string());
                let now = message["params"]["progress"].as_f64();
                item["grows"] = json!(before.zip(now).is_none_or(|(before, now)| now > *before));
            }
            _ => {}
        },
        _ => item["replies_to"] = json!(replies_to(&id, dialogue)),
    }
    item
}

/// A request without its id and `_meta`.
pub fn gist(request: &Value) -> String {
    let params = request["params"].as_object().into_iter().flatten().filter(|(name, _)| *name != "_meta");
    let params: Vec<String> = params.map(|(name, value)| format!("{name}={value}")).collect();
    format!("{} {}", request["method"], params.join(" "))
}

fn cancels(message: &Value, dialogue: &Dialogue, at: u64) -> &'static str {
    let id = message["params"]["requestId"].to_string();
    if let Some(open) = dialogue.open.get(&id) {
        return match open.method.as_str() {
            "initialize" => "initialize",
            "subscriptions/listen" => "subscription",
            _ => "open request",
        };
    }
    match dialogue.ended.get(&id) {
        Some(ended) if at.saturating_sub(*ended) <= CROSSING => "ending request",
        Some(_) => "ended request",
        None => "nothing",
    }
}

fn reports_on(token: &Value, dialogue: &Dialogue) -> &'static str {
    let mut asked = dialogue.asked.values().rev();
    match asked.find(|(asked, _)| asked.token() == Some(token)) {
        Some((_, false)) => "open request",
        Some((_, true)) => "ended request",
        None => "nothing",
    }
}

fn replies_to(id: &str, dialogue: &Dialogue) -> &'static str {
    match dialogue.asked.get(id) {
        Some((_, true)) => "answered request",
        Some((asked, false)) if asked.cancelled => "cancelled request",
        Some(_) => "request",
        // JSON-RPC has an error without an id for what is no message.
        None if dialogue.malformed && ["", "null"].contains(&id) => "malformed message",
        None => "nothing",
    }
}
