//! The HTTP context of a frame: the request that it responds to, and the head of the response.

use std::collections::HashMap;

use serde_json::{Value, json};

use conform_model::evidence::{Frame, FrameKind, Side};

/// Every HTTP exchange so far, by its number.
#[derive(Default)]
pub struct Posts(HashMap<u64, Post>);

#[derive(Default)]
struct Post {
    request: Value,
    response: Value,
    events: u64,
}

impl Posts {
    /// Adds to a server's frame in an HTTP response: `request` with its `method`, sender and content, `response` with
    /// `status` and `media` type, and to an event its number in the stream as `nth`.
    pub fn describe(&mut self, frame: &Frame, item: &mut Value) {
        let Some(number) = frame.post else { return };
        let post = self.0.entry(number).or_default();
        if frame.from == Side::Client {
            match (frame.kind, &frame.http) {
                (FrameKind::HttpRequest, Some(head)) => {
                    post.request = json!({ "method": head.method, "by": frame.by, "carries": "nothing" });
                }
                _ => post.request["carries"] = json!(carried(frame.message.as_ref())),
            }
            return;
        }
        if let (FrameKind::HttpResponse, Some(head)) = (frame.kind, &frame.http) {
            post.response = json!({ "status": head.status, "media": head.media_type() });
        }
        if frame.event.is_some() {
            post.events += 1;
            item["nth"] = json!(post.events);
        }
        item["request"] = post.request.clone();
        item["response"] = post.response.clone();
    }
}

/// What the client sent, if it was well-formed.
fn carried(message: Option<&Value>) -> &'static str {
    let Some(Value::Object(members)) = message.filter(|message| message["jsonrpc"] == "2.0") else {
        return if message.is_some_and(Value::is_array) { "batch" } else { "other" };
    };
    let named = members.get("method").is_some_and(Value::is_string);
    let identified = members.get("id").is_some_and(|id| id.is_string() || id.is_number());
    let answers = members.contains_key("result") || members.contains_key("error");
    match (named, identified, members.contains_key("id")) {
        (true, true, _) => "request",
        (true, _, false) => "notification",
        (false, true, _) if answers && !members.contains_key("method") => "response",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_told_by_its_members() {
        for (message, kind) in [
            (json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }), "request"),
            (json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }), "notification"),
            (json!({ "jsonrpc": "2.0", "id": "a", "result": {} }), "response"),
            (json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }), "other"),
            (json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" }), "other"),
            (json!([]), "batch"),
        ] {
            assert_eq!(carried(Some(&message)), kind, "{message}");
        }
        assert_eq!(carried(None), "other");
    }
}
