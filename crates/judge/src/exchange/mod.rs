//! Matches requests and responses in the frames: the items of `$exchanges`, `$messages` and `$asked`.
//!
//! The frames are the only source, so a transcript yields the same exchanges as its run. An exchange is passed on as
//! soon as it has a response. A second response passes it on again with `replies: 2`.

mod received;
mod sent;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    asked::Asked,
    notification_context::{NotificationContext, Relation},
    open::Open,
    phase::Phase,
    replays::Replays,
};
use conform_model::{
    evidence::{Ended, Frame, FrameKind, HttpHead, Kind, Link, Message, PROBE, Side, correlate::Loose},
    revision::Revision,
};

/// If a connection ends more than this long after a request, in microseconds, the end does not excuse the missing
/// response.
const LOST_WITHIN: u64 = 1_000_000;

/// The number of completed requests kept to detect a second response. Later ones are responses to an unknown request.
const ANSWERED_KEPT: usize = 200;

/// The open requests of the client, and a summary of the completed ones.
pub struct Assembler<'a> {
    link: &'a Link,
    /// Another client sent the requests, which may have made mistakes.
    pub of_other_client: bool,
    open: Vec<Open>,
    answered: HashMap<String, Answered>,
    /// Ids of the completed requests, oldest first.
    answered_before: VecDeque<String>,
    heads: HashMap<u64, Value>,
    /// The heads of HTTP requests.
    posted: HashMap<u64, HttpHead>,
    /// The endpoint that received the first message.
    endpoint: Option<String>,
    /// Messages of the client other than requests.
    loose: Loose,
    /// Whether the last message, except probes, was valid: then the server has no reason to exit.
    sound: bool,
    /// The last frame that was not a well-formed request, if no later message got a response. It may have made the
    /// server exit, as may any open request.
    suspect: Option<u64>,
    /// The number of messages sent.
    sent: u64,
    /// Responses without an id over stdio while requests were open.
    nameless: Vec<Nameless>,
    own_ids: HashSet<String>,
    notification_context: NotificationContext,
    phase: Phase,
    replays: Replays,
    /// What the client declared in the handshake.
    declared: Value,
    /// Ids of the elicitations that this client received.
    elicitations: HashSet<String>,
}

/// The items that a frame yields.
#[derive(Default)]
pub struct Passed {
    pub exchanges: Vec<Value>,
    pub messages: Vec<MessageItem>,
    /// Requests of the server to the client, sent directly or inside a result.
    pub asked: Vec<Asked>,
}

/// The place of a message in the frames.
#[derive(Clone, Debug, Serialize)]
pub struct Origin {
    pub frame: u64,
    pub pointer: String,
    /// The frame that it responds to or relates to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
}

/// An item of `$messages`.
#[derive(Debug, Serialize)]
pub struct MessageItem {
    /// Only if it is passed on later: else the frame has the only copy.
    pub message: Option<Value>,
    pub origin: Origin,
    phase: Phase,
    declared: Value,
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_repeated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elicited: Option<bool>,
    /// What a response responds to.
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<&'static str>,
    #[serde(flatten)]
    relation: Relation,
}

/// A response without an id: to a notification or to one of the requests open at that time. As long as one of those has
/// no response, it cannot be attributed.
struct Nameless {
    item: MessageItem,
    /// The frames of these requests.
    open: HashSet<u64>,
}

struct Answered {
    request: Open,
    /// Additional fields of the exchange.
    more: Map<String, Value>,
    replies: u64,
    /// The response had no id, and may belong to another request.
    nameless: bool,
}

impl<'a> Assembler<'a> {
    pub fn new(link: &'a Link) -> Self {
        let modern = link.revision.is_some_and(Revision::is_modern);
        Self {
            link,
            of_other_client: false,
            open: Vec::new(),
            answered: HashMap::new(),
            answered_before: VecDeque::new(),
            heads: HashMap::new(),
            posted: HashMap::new(),
            endpoint: None,
            loose: Loose::default(),
            sound: false,
            suspect: None,
            sent: 0,
            nameless: Vec::new(),
            own_ids: HashSet::new(),
            notification_context: NotificationContext::new(link),
            replays: Replays::default(),
            phase: if modern { Phase::Open } else { Phase::Closed },
            declared: Value::Null,
            elicitations: HashSet::new(),
        }
    }

    /// The server's messages in this frame, and the exchanges that they complete.
    pub fn take(&mut self, frame: &Frame) -> Passed {
        let mut passed = Passed::default();
        if self.replays.hold(frame) {
            return passed;
        }
        match (frame.kind, frame.from, &frame.message) {
            (FrameKind::HttpRequest, _, _) => {
                if let (Some(post), Some(head)) = (frame.post, &frame.http) {
                    self.posted.insert(post, head.clone());
                }
            }
            (FrameKind::HttpResponse, _, _) => {
                if let (Some(post), Some(head)) = (frame.post, &frame.http) {
                    self.heads.insert(post, status(head));
                }
            }
            (FrameKind::Message, Side::Client, Some(message)) => self.sent(frame, message),
            (FrameKind::Junk, Side::Client, _) => {
                let text = frame.text.as_deref().unwrap_or_default();
                text.split('\n').for_each(|line| self.sent(frame, &serde_json::from_str(line).unwrap_or(Value::Null)));
            }
            (FrameKind::Message, Side::Server, Some(message)) => {
                for (pointer, message) in Message::all(message) {
                    self.received(frame, &message, pointer, &mut passed);
                }
            }
            (FrameKind::CutShort, ..) if frame.by.is_some() => {
                let asked_again = |open: &&mut Open| Some(&open.by) == frame.by.as_ref();
                self.open.iter_mut().filter(asked_again).for_each(|open| open.expects_reply = false);
            }
            (FrameKind::CutShort, _, limits) => {
                let patience = limits.as_ref().and_then(|limits| limits["patience_ms"].as_u64());
                let patience = patience.map_or(u64::MAX, |ms| ms.saturating_mul(1000));
                let waited_out =
                    |open: &Open| open.method != "initialize" && frame.at.saturating_sub(open.at) >= patience;
                // The others may have waited for the first, even if it was cancelled.
                let mut is_first = true;
                for open in self.open.iter_mut().filter(|open| open.method != "subscriptions/listen") {
                    open.expects_reply &= std::mem::take(&mut is_first) && waited_out(open);
                }
            }
            (FrameKind::Junk, Side::Server, _) if frame.post.is_none() && frame.is_garbled_message() => {
                if let Some(open) = self.open.iter_mut().find(|open| open.garbled.is_none()) {
                    open.garbled = Some(frame.frame);
                }
            }
            // The unread message may respond to any of them.
            (FrameKind::Unread, Side::Server, _) => {
                let open = self.open.iter_mut().filter(|open| open.post == frame.post);
                for open in open {
                    open.expects_reply = false;
                    open.unread.clone_from(&frame.why);
                }
            }
            // The server exited or the HTTP exchange ended, so no response can arrive any more.
            (FrameKind::Note, ..) if is_loss(frame) => {
                let died = frame.ended == Some(Ended::Unasked);
                let over = died || frame.ended == Some(Ended::Unsent);
                let lost = self.open.iter_mut().filter(|open| frame.post.is_none() || open.post == frame.post);
                for open in lost {
                    open.lost = Some(frame.frame);
                    // An earlier, completed request may have made it exit.
                    let asked = open.expects_reply || (self.sound && open.by == PROBE);
                    // A server may reject a handshake by exiting.
                    if died && self.suspect.is_none() && asked && open.method != "initialize" {
                        open.killed.clone_from(&frame.text);
                    }
                    open.expects_reply &= !over && frame.at.saturating_sub(open.at) > LOST_WITHIN;
                }
            }
            _ => {}
        }
        passed
    }

    /// Requests whose connection ended after this frame.
    pub fn lost_behind(&mut self, frame: u64) -> impl Iterator<Item = &mut Open> {
        self.open.iter_mut().filter(move |open| open.lost.is_some_and(|lost| lost > frame))
    }

    /// The requests that were open when the server exited, by the frame that records its exit.
    pub fn killed(&mut self) -> BTreeMap<u64, Vec<&mut Open>> {
        let mut killed = BTreeMap::new();
        for open in self.open.iter_mut().filter(|open| open.killed.is_some()) {
            let end: &mut Vec<_> = killed.entry(open.lost.unwrap_or_default()).or_default();
            end.push(open);
        }
        killed
    }

    /// Responses that could not be attributed to a request.
    pub fn unclear(&mut self) -> impl Iterator<Item = MessageItem> {
        self.nameless.drain(..).map(|nameless| MessageItem { answers: Some("unclear"), ..nameless.item })
    }

    /// Requests without a response.
    pub fn rest(self) -> Vec<Value> {
        let Self { link, open, mut heads, notification_context, .. } = self;
        open.into_iter()
            .filter(|open| !open.deviant)
            .map(|open| {
                let http = open.post.and_then(|post| heads.remove(&post));
                let mut exchange = open.describe(link);
                if let (Some(garbled), Some(Value::Array(frames))) = (open.garbled, exchange.get_mut("frames")) {
                    frames.push(json!(garbled));
                }
                exchange.insert("end".into(), json!(if open.unread.is_some() { "unread" } else { "none" }));
                exchange.extend(open.unread.map(|why| ("why".to_owned(), json!(why))));
                exchange.insert("replies".into(), json!(0));
                let worked_on = notification_context.worked_on(open.frame, &open.id);
                exchange.extend(worked_on.map(|times| ("worked_on".to_owned(), json!(times))));
                exchange.extend(http.map(|http| ("http".to_owned(), http)));
                Value::Object(exchange)
            })
            .collect()
    }

    fn is_modern(&self) -> bool {
        self.link.revision.is_some_and(Revision::is_modern)
    }
}

/// Whether a note records the end of a connection or exchange. Notes on an exchange can also record other things.
fn is_loss(note: &Frame) -> bool {
    note.event.is_none() && note.ended.map_or(note.post.is_none(), |ended| ended != Ended::Complete)
}

fn status(head: &HttpHead) -> Value {
    json!({ "status": head.status, "headers": head.by_name() })
}
