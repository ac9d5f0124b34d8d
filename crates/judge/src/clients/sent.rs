//! One message of a client: an item of `$sent`.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    MessageContext,
    dialogue::{Dialogue, Open, is_modern},
    tasks::About,
};
use crate::phase::Phase;
use conform_model::{
    evidence::{Kind, Link, Transport},
    revision::Revision,
};

/// What a cancellation cancels that names no request.
const NOTHING: &str = "nothing";

/// A cancellation may cross the response for this long, in microseconds.
const CROSSING: u64 = 2_000_000;

#[derive(Serialize)]
pub struct Item<'a> {
    message: &'a Value,
    kind: Kind,
    origin: Value,
    link: u32,
    transport: Transport,
    revision: Option<Revision>,
    phase: Phase,
    modern: bool,
    batch: bool,
    declared: &'a Value,
    offered: Value,
    answered_initialize: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    shown_after_ms: Option<u64>,
    #[serde(flatten)]
    more: More,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_required: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<About>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_of_task: Option<bool>,
}

/// What one kind of message alone has.
#[derive(Serialize)]
#[serde(untagged)]
enum More {
    Request {
        id_repeated: bool,
        id_open: bool,
        times: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        token_repeated: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        subscribed: Option<bool>,
    },
    Cancellation {
        cancels: &'static str,
    },
    Progress {
        reports_on: &'static str,
        grows: bool,
    },
    Notification {},
    Response {
        replies_to: &'static str,
    },
}

/// The item, without the fields from lists, HTTP and tasks.
pub fn item<'a>(passing: &MessageContext<'a>, dialogue: &'a Dialogue, link: &Link) -> Item<'a> {
    let MessageContext { frame, message, kind, related, batch } = *passing;
    Item {
        message,
        kind,
        origin: json!({ "frame": frame.frame, "pointer": related.pointer }),
        link: link.link,
        transport: link.transport,
        revision: link.revision,
        phase: dialogue.phase,
        modern: is_modern(message),
        batch,
        declared: &dialogue.declared,
        offered: dialogue.offered_with(message),
        answered_initialize: dialogue.answered_initialize,
        shown_after_ms: dialogue.heard.map(|heard| frame.at.saturating_sub(heard) / 1000),
        more: More::of(passing, dialogue),
        list: None,
        input_required: None,
        http: None,
        task: None,
        token_of_task: None,
    }
}

impl Item<'_> {
    pub fn cancels_nothing(&self) -> bool {
        matches!(self.more, More::Cancellation { cancels: NOTHING })
    }
}

impl More {
    fn of(passing: &MessageContext, dialogue: &Dialogue) -> Self {
        let MessageContext { frame, kind, related, .. } = passing;
        let message = &related.message;
        let id = message.id.map(Value::to_string).unwrap_or_default();
        match (kind, message.method) {
            (Kind::Request, method) => {
                let before = related.asked.as_ref().and_then(|before| dialogue.open.get(&before.place));
                let has = |token: &Value, open: &Open| open.is_active() && open.token() == Some(token);
                let repeats = |token| dialogue.open.values().any(|open| has(token, open));
                let is_subscribed = || dialogue.subscribed.contains(&message.params()["uri"].to_string());
                Self::Request {
                    // A new handshake resets the ids.
                    id_repeated: method != "initialize" && dialogue.ids.contains(&id),
                    id_open: before.is_some_and(Open::is_active),
                    times: dialogue.sent.get(&gist(message.whole)).copied().unwrap_or_default() + 1,
                    token_repeated: message.token().map(repeats),
                    subscribed: (method == "resources/unsubscribe").then(is_subscribed),
                }
            }
            (Kind::Notification, "notifications/cancelled") => {
                Self::Cancellation { cancels: cancels(passing, dialogue, frame.at) }
            }
            (Kind::Notification, "notifications/progress") => {
                let token = &message.params()["progressToken"];
                let before = dialogue.progress.get(&token.to_string());
                let now = message.params()["progress"].as_f64();
                let grows = before.zip(now).is_none_or(|(before, now)| now > *before);
                Self::Progress { reports_on: reports_on(token, dialogue), grows }
            }
            (Kind::Notification, _) => Self::Notification {},
            _ => Self::Response { replies_to: replies_to(passing, &id, dialogue) },
        }
    }
}

/// A request without its id and `_meta`.
pub fn gist(request: &Value) -> String {
    let params = request["params"].as_object().into_iter().flatten().filter(|(name, _)| *name != "_meta");
    let params: Vec<String> = params.map(|(name, value)| format!("{name}={value}")).collect();
    format!("{} {}", request["method"], params.join(" "))
}

fn cancels(passing: &MessageContext, dialogue: &Dialogue, at: u64) -> &'static str {
    let Some(request) = passing.related.asked.as_ref().map(|asked| asked.place) else { return NOTHING };
    if let Some(open) = dialogue.open.get(&request) {
        return match open.method.as_str() {
            "initialize" => "initialize",
            "subscriptions/listen" => "subscription",
            _ => "open request",
        };
    }
    match dialogue.ended.get(&request) {
        Some(ended) if at.saturating_sub(*ended) <= CROSSING => "ending request",
        Some(_) => "ended request",
        None => NOTHING,
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

fn replies_to(passing: &MessageContext, id: &str, dialogue: &Dialogue) -> &'static str {
    match passing.related.responds_to().and_then(|asked| dialogue.asked.get(&asked.place)) {
        Some((_, true)) => "answered request",
        Some((asked, false)) if asked.cancelled => "cancelled request",
        Some(_) => "request",
        // JSON-RPC has an error without an id for what is no message.
        None if dialogue.malformed && ["", "null"].contains(&id) => "malformed message",
        None => "nothing",
    }
}
