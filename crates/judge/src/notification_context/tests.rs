//! Messages on a connection with one shared stream.

use serde_json::{Value, json};

use super::NotificationContext;
use conform_model::{
    evidence::{Frame, Link, Message, Transport},
    revision::Revision,
};

/// A connection, and the number of the last frame on it.
struct Conversation(NotificationContext, u64);

impl Conversation {
    fn over_stdio(revision: Revision) -> Self {
        Self(NotificationContext::new(&Link { revision: Some(revision), ..Link::new(1, Transport::Stdio) }), 0)
    }

    fn frame(&mut self) -> Frame {
        self.1 += 1;
        let frame = json!({ "frame": self.1, "at": self.1, "link": 1, "from": "server", "kind": "message" });
        serde_json::from_value(frame).expect("a frame")
    }

    /// Sends a request, and returns the number of its frame.
    fn ask(&mut self, id: &Value, method: &str, params: &Value) -> u64 {
        let frame = self.frame();
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.0.asked(&frame, id, &Message::of(&request));
        frame.frame
    }

    fn answer(&mut self, request: u64, id: &Value) {
        let answer = self.frame();
        self.0.answered(request, &answer, id, &Message::of(&json!({ "result": {} })));
    }

    fn cancel(&mut self, id: &Value) {
        let frame = self.frame().frame;
        self.0.cancelled(frame, id);
    }

    fn hear(&mut self, method: &str, params: &Value) -> Value {
        let (frame, message) = (self.frame(), json!({ "method": method, "params": params }));
        json!(self.0.relation(&frame, &Message::of(&message)))
    }
}

const TAG: &str = "io.modelcontextprotocol/subscriptionId";

#[test]
fn progress_is_told_from_what_comes_too_late() {
    let mut talk = Conversation::over_stdio(Revision::V2025_06_18);
    let progress = |talk: &mut Conversation, token: Value, progress: f64| {
        let heard = talk.hear("notifications/progress", &json!({ "progressToken": token, "progress": progress }));
        (heard["reports_on"].as_str().unwrap_or_default().to_owned(), heard["grows"].as_bool())
    };
    let said = |about: &str, grows| (about.to_owned(), grows);
    let asked = talk.ask(&json!(1), "tools/call", &json!({ "_meta": { "progressToken": 0 } }));
    assert_eq!(progress(&mut talk, json!(0), 0.5), said("running request", Some(true)));
    assert_eq!(progress(&mut talk, json!(0), 0.5), said("running request", Some(false)));
    assert_eq!(progress(&mut talk, json!("0"), 1.0), said("nothing", None), "0 and \"0\" are two tokens");
    talk.answer(asked, &json!(1));
    assert_eq!(progress(&mut talk, json!(0), 1.0), said("completed request", Some(true)));

    let cancelled = talk.ask(&json!(2), "tools/call", &json!({ "_meta": { "progressToken": "a" } }));
    talk.cancel(&json!(2));
    assert_eq!(progress(&mut talk, json!("a"), 1.0), said("cancelled request", Some(true)));
    assert_eq!(talk.0.worked_on(cancelled, &json!(2)), Some(0), "it may have crossed with the cancellation");
    let beside = talk.ask(&json!(3), "ping", &Value::Null);
    talk.answer(beside, &json!(3));
    progress(&mut talk, json!("a"), 2.0);
    assert_eq!(talk.0.worked_on(cancelled, &json!(2)), Some(1));
    assert_eq!(talk.0.worked_on(beside, &json!(3)), None);
}

#[test]
fn logs_heed_the_level_of_the_session_or_of_the_request() {
    let mut talk = Conversation::over_stdio(Revision::V2025_06_18);
    let log = |talk: &mut Conversation, level: &str| talk.hear("notifications/message", &json!({ "level": level }));
    assert_eq!(log(&mut talk, "debug"), json!({ "level_set": false }));
    talk.ask(&json!("odd"), "ping", &Value::Null);
    let set = talk.ask(&json!(1), "logging/setLevel", &json!({ "level": "error" }));
    assert_eq!(log(&mut talk, "debug").get("wanted"), None, "nobody knows yet");
    talk.answer(set, &json!(1));
    assert_eq!(log(&mut talk, "warning")["wanted"], false, "whatever is never answered for its form");
    assert_eq!(log(&mut talk, "error")["wanted"], true);

    let mut talk = Conversation::over_stdio(Revision::V2026_07_28);
    let quiet = talk.ask(&json!(1), "tools/list", &json!({}));
    assert_eq!(log(&mut talk, "info").get("logs"), None, "it may be about the start");
    talk.answer(quiet, &json!(1));
    assert_eq!(log(&mut talk, "info")["logs"], "nothing that asked for logs");
    let loud = json!({ "_meta": { "io.modelcontextprotocol/logLevel": "error" } });
    let asked = talk.ask(&json!(2), "tools/call", &loud);
    assert_eq!(log(&mut talk, "info"), json!({ "on": "request", "logs": "running request", "wanted": false }));
    talk.answer(asked, &json!(2));
    assert_eq!(log(&mut talk, "error")["logs"], "answered request");
}

#[test]
fn subscriptions_get_what_they_asked_for_and_nothing_else() {
    let mut talk = Conversation::over_stdio(Revision::V2026_07_28);
    let filter = json!({ "notifications": { "toolsListChanged": true, "resourceSubscriptions": ["file:///a"] } });
    talk.ask(&json!(7), "subscriptions/listen", &filter);
    let tagged = |tag: Value| json!({ "_meta": { TAG: tag } });
    let early = talk.hear("notifications/tools/list_changed", &tagged(json!(7)));
    assert_eq!((&early["tag"], &early["acknowledged"]), (&json!("subscription"), &json!(false)));
    talk.hear("notifications/subscriptions/acknowledged", &tagged(json!(7)));
    let prompts = talk.hear("notifications/prompts/list_changed", &tagged(json!(7)));
    assert_eq!((&prompts["acknowledged"], &prompts["wanted"]), (&json!(true), &json!(false)));
    let updated = |talk: &mut Conversation, uri: &str| {
        talk.hear("notifications/resources/updated", &json!({ "uri": uri, "_meta": { TAG: 7 } }))["wanted"].clone()
    };
    assert_eq!(updated(&mut talk, "file:///a/b"), true);
    assert_eq!(updated(&mut talk, "file:///ab"), false);
    assert_eq!(talk.hear("notifications/tools/list_changed", &tagged(json!("7")))["tag"], "nothing");
    assert_eq!(talk.hear("notifications/cancelled", &json!({ "requestId": 7 }))["cancels"], "subscription");
    assert_eq!(talk.hear("notifications/cancelled", &json!({ "requestId": 8 }))["cancels"], "nothing");
}

#[test]
fn an_acknowledgement_under_the_id_of_another_subscription_is_told() {
    let mut talk = Conversation::over_stdio(Revision::V2026_07_28);
    let acknowledged = |talk: &mut Conversation, id: u64| {
        talk.hear("notifications/subscriptions/acknowledged", &json!({ "_meta": { TAG: id } }))["tag"].clone()
    };
    talk.ask(&json!(1), "subscriptions/listen", &json!({ "notifications": {} }));
    assert_eq!(acknowledged(&mut talk, 1), "subscription");
    assert_eq!(acknowledged(&mut talk, 1), "subscription", "no other one waits");
    talk.ask(&json!(2), "subscriptions/listen", &json!({ "notifications": {} }));
    assert_eq!(acknowledged(&mut talk, 1), "another subscription");
    assert_eq!(acknowledged(&mut talk, 1), "subscription", "that one was meant before");
}

#[test]
fn updates_belong_to_who_subscribed() {
    let mut talk = Conversation::over_stdio(Revision::V2025_11_25);
    let updated = |talk: &mut Conversation, uri: &str| {
        talk.hear("notifications/resources/updated", &json!({ "uri": uri }))["subscribed"].clone()
    };
    assert_eq!(updated(&mut talk, "file:///a"), false);
    talk.ask(&json!(1), "resources/subscribe", &json!({ "uri": "file:///a/" }));
    assert_eq!(updated(&mut talk, "file:///a"), true);
    assert_eq!(updated(&mut talk, "file:///a/b"), true);
    assert_eq!(updated(&mut talk, "file:///ab"), false);
}

#[test]
fn an_update_that_comes_long_after_the_end_of_its_subscription_is_told() {
    let mut talk = Conversation::over_stdio(Revision::V2025_11_25);
    let uri = json!({ "uri": "file:///a" });
    let late = |talk: &mut Conversation, microseconds: u64| {
        talk.1 += microseconds;
        talk.hear("notifications/resources/updated", &uri)["unsubscribed"].clone()
    };
    talk.ask(&json!(1), "resources/subscribe", &uri);
    talk.ask(&json!(2), "resources/subscribe", &uri);
    for id in [3, 4] {
        assert_eq!(late(&mut talk, 0), false);
        let end = talk.ask(&json!(id), "resources/unsubscribe", &uri);
        talk.answer(end, &json!(id));
        assert_eq!(late(&mut talk, 50_000), false, "it was not read on");
    }
    let beside = talk.ask(&json!(5), "ping", &Value::Null);
    assert_eq!(late(&mut talk, 0), false);
    talk.answer(beside, &json!(5));
    assert_eq!(late(&mut talk, 0), true);
    talk.ask(&json!(6), "resources/subscribe", &uri);
    assert_eq!(late(&mut talk, 50_000), false);
}
