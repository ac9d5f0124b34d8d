//! Matches requests and responses in the frames: the items of `$exchanges`, `$messages` and `$asked`.
//!
//! The frames are the only source, so a transcript yields the same exchanges as its run. An exchange is passed on as
//! soon as it has a response. A second response passes it on again with `replies: 2`.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use serde_json::{Map, Value, json};

use super::{
    asked, head::is_odd, notification_context::NotificationContext, open::Open, phase::Phase, replays::Replays,
};
use crate::{
    evidence::{
        Ended, Frame, FrameKind, HttpHead, Link, Side,
        correlate::{Circumstances, Loose, Other, Request, correlate},
    },
    revision::Revision,
};

/// The sender of the requests that check whether the server still responds.
const PROBE: &str = "probe";

/// If a connection ends more than this long after a request, in microseconds, the end does not excuse the missing
/// response.
const LOST_WITHIN: u64 = 1_000_000;

/// The number of answered requests kept to detect a second response. Later ones are responses to an unknown request.
const ANSWERED_KEPT: usize = 200;

/// The open requests of the client, and a summary of the answered ones.
pub struct Assembler<'a> {
    link: &'a Link,
    open: Vec<Open>,
    answered: HashMap<String, Answered>,
    /// Ids of the answered requests, oldest first.
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
    /// Without the message itself: the frame has the only copy.
    pub messages: Vec<Value>,
    /// Requests of the server to the client, sent directly or inside a result.
    pub asked: Vec<Value>,
}

/// A response without an id: to a notification or to one of the requests open at that time. As long as one of those has
/// no response, it cannot be attributed.
struct Nameless {
    item: Value,
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
            (FrameKind::Message, Side::Server, Some(Value::Array(batch))) => {
                for (index, message) in batch.iter().enumerate() {
                    self.received(frame, message, &format!("/{index}"), &mut passed);
                }
            }
            (FrameKind::Message, Side::Server, Some(message)) => {
                self.received(frame, message, "", &mut passed);
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
                self.open.iter_mut().for_each(|open| open.expects_reply &= waited_out(open));
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
                    // An earlier, answered request may have made it exit.
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
    pub fn unclear(&mut self) -> impl Iterator<Item = Value> {
        self.nameless.drain(..).map(|mut nameless| {
            nameless.item["answers"] = json!("unclear");
            nameless.item
        })
    }

    /// Requests without a response.
    pub fn rest(self) -> Vec<Value> {
        let Self { link, open, mut heads, notification_context, .. } = self;
        open.into_iter()
            .filter(|open| !open.deviant)
            .map(|open| {
                let http = open.post.and_then(|post| heads.remove(&post));
                let mut exchange = open.describe(link);
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

    /// Processes a message of the client, which may be malformed: suites send what no client would.
    fn sent(&mut self, frame: &Frame, message: &Value) {
        if let Value::Array(batch) = message {
            self.loose.sent_array(frame.frame);
            for message in batch {
                let before = self.open.len();
                self.sent(frame, message);
                // Rules on batches judge whether a batch is accepted.
                self.open[before..].iter_mut().for_each(|open| open.expects_reply = false);
            }
            return;
        }
        let by = frame.by.clone().unwrap_or_default();
        let head = frame.post.and_then(|post| self.posted.get(&post));
        if self.endpoint.is_none() {
            self.endpoint = head.and_then(|head| head.url.clone());
        }
        let odd = head.is_some_and(|head| is_odd(head, message, self.link, self.endpoint.as_deref()));
        self.phase = self.phase.after(message, self.is_modern());
        if message["method"] == "initialize" && self.declared.is_null() {
            self.declared = message["params"]["capabilities"].clone();
        }
        self.sent += 1;
        let is_version_2 = message["jsonrpc"] == "2.0";
        match (message.get("id"), message.get("method").and_then(Value::as_str)) {
            (Some(id), Some(method)) if !id.is_null() && is_version_2 => {
                self.notification_context.asked(frame, id, method, message);
                let deviant = odd || !may_be_id(id) || self.is_deviant(message, &by);
                if by != PROBE {
                    self.sound = !deviant && by != "base.bad-input";
                    if !self.sound {
                        self.suspect = Some(frame.frame);
                    }
                }
                self.open.push(Open {
                    deviant,
                    number: self.sent,
                    frame: frame.frame,
                    at: frame.at,
                    id: id.clone(),
                    method: method.into(),
                    params: message.get("params").cloned().unwrap_or(Value::Null),
                    expects_reply: by != PROBE && method != "subscriptions/listen",
                    by,
                    post: frame.post,
                    killed: None,
                    unread: None,
                    lost: None,
                });
            }
            (None, Some("notifications/cancelled")) => {
                self.suspect = Some(frame.frame);
                if is_version_2 {
                    self.loose.sent_notification(self.sent, frame.frame);
                } else {
                    self.loose.sent_unreadable(None);
                }
                let cancelled = message.pointer("/params/requestId");
                self.notification_context.cancelled(frame.frame, cancelled.unwrap_or(&Value::Null));
                if let Some(open) = self.open.iter_mut().rfind(|open| Some(&open.id) == cancelled) {
                    open.expects_reply = false;
                }
            }
            // A server may return an error for what is no notification of JSON-RPC 2.0.
            (None, Some(method)) if is_version_2 => {
                self.loose.sent_notification(self.sent, frame.frame);
                if method != "notifications/initialized" {
                    self.suspect = Some(frame.frame);
                }
            }
            // A response to a request of the server.
            (Some(id), None) if by == "answer" => self.notification_context.settled(id),
            // Not a request, but a response may have the id that the server found in it.
            (id, _) => {
                self.sound = false;
                self.suspect = Some(frame.frame);
                self.loose.sent_unreadable(id);
            }
        }
    }

    fn is_modern(&self) -> bool {
        self.link.revision.is_some_and(Revision::is_modern)
    }

    fn is_deviant(&self, request: &Value, by: &str) -> bool {
        if self.phase == Phase::Closed && by != PROBE {
            return true;
        }
        let stated = request.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
        let modern = self.link.revision.filter(|revision| revision.is_modern());
        modern.is_some_and(|revision| stated.and_then(Value::as_str) != Some(revision.as_str()))
    }

    fn received(&mut self, frame: &Frame, message: &Value, pointer: &str, passed: &mut Passed) {
        if self.is_foreign(frame, message) {
            return;
        }
        let id = message.get("id");
        let has = |name: &str| message.get(name).is_some();
        // After a handshake of an earlier revision, a process may also use that revision.
        let legacy = self.is_modern() && self.phase == Phase::Opening && self.link.transport.capabilities().process;
        if legacy && has("method") {
            return;
        }
        let mut item =
            json!({ "message": null, "origin": { "frame": frame.frame, "pointer": pointer }, "phase": self.phase });
        item["declared"] = self.declared.clone();
        let kind = match (has("method"), id, has("error"), has("result")) {
            (true, Some(id), ..) => {
                let used_before = !self.own_ids.insert(id.to_string());
                item["id_repeated"] = json!(used_before && self.is_in_session(frame));
                passed.asked.push(self.request(frame, message, pointer));
                "request"
            }
            (true, None, ..) => {
                let elicitation = message.pointer("/params/elicitationId").map(Value::to_string);
                item["elicited"] = json!(elicitation.is_some_and(|id| self.elicitations.contains(&id)));
                "notification"
            }
            (_, _, true, _) => "error",
            (_, _, _, true) => "result",
            _ => "other",
        };
        // A JSON log line is also an object, but not a response.
        if !has("method") && (id.is_some() || kind != "other" || frame.post.is_some()) {
            let exchange = self.response(frame, id.unwrap_or(&Value::Null), message);
            let other = if exchange.is_some() { None } else { Some(self.other(message)) };
            item["answers"] = json!(self.answers(frame, other));
            // Over HTTP, the exchange shows the notification that it responds to.
            if let (Some(Other::Notification(to)), None) = (other, frame.post) {
                item["origin"]["to"] = json!(to);
            }
            let listed = message.pointer("/error/data/elicitations").and_then(Value::as_array).into_iter().flatten();
            self.elicitations
                .extend(listed.filter_map(|elicitation| elicitation.get("elicitationId")).map(Value::to_string));
            let exchange = exchange.filter(|exchange| exchange["deviant"] != true);
            passed.asked.extend(exchange.iter().flat_map(|exchange| asked::inputs(exchange, frame.frame, pointer)));
            passed.exchanges.extend(exchange);
        }
        item["kind"] = json!(kind);
        self.notification_context.describe(frame, message, &mut item);
        let is_awaited = |open: &&Open| open.expects_reply || open.by == PROBE || open.method == "subscriptions/listen";
        let awaited = self.open.iter().filter(is_awaited);
        let open: HashSet<u64> = awaited.map(|open| open.frame).collect();
        if item["answers"] == "nothing" && id.is_none_or(Value::is_null) && frame.post.is_none() && !open.is_empty() {
            item["message"] = message.clone();
            self.nameless.push(Nameless { item, open });
        } else {
            passed.messages.push(item);
        }
        // All requests that were open then have their own response.
        let clear = |nameless: &mut Nameless| nameless.open.is_empty();
        passed.messages.extend(self.nameless.extract_if(.., clear).map(|nameless| nameless.item));
    }

    fn request(&mut self, frame: &Frame, message: &Value, pointer: &str) -> Value {
        let elicitation = message.pointer("/params/elicitationId").map(Value::to_string);
        self.elicitations.extend(elicitation);
        // Only HTTP shows to which request it belongs.
        let own = self.open.iter().find(|open| frame.post.is_some() && open.post == frame.post);
        // The server may still work on a request that was just cancelled.
        let waiting = self.open.iter().filter(|open| open.by != PROBE);
        let during: Vec<_> = own.map_or_else(|| waiting.collect(), |own| vec![own]);
        let during: Vec<_> = during.iter().map(|open| open.method.as_str()).collect();
        let mut item =
            asked::item("request", message, &self.declared, &during, self.link.revision, frame.frame, pointer);
        let head = frame.post.and_then(|post| self.posted.get(&post));
        item["on_get"] = json!(head.is_some_and(opens_by_get));
        item
    }

    /// JSON over HTTP that is not JSON-RPC. A gateway may reject a request in any format, and rules on HTTP judge
    /// responses to other HTTP requests. An event stream carries only messages.
    fn is_foreign(&self, frame: &Frame, message: &Value) -> bool {
        let meant = ["jsonrpc", "method", "result"].iter().any(|name| message.get(name).is_some())
            || message.pointer("/error/code").is_some_and(Value::is_number);
        let asked = self.open.iter().any(|open| open.post == frame.post);
        !meant
            && frame.event.is_none()
            && self.link.transport.capabilities().stream_per_request
            && self.status(frame).is_some_and(|status| status >= 300 || !asked)
    }

    /// Over Streamable HTTP, each request to a server without session ids is independent.
    fn is_in_session(&self, frame: &Frame) -> bool {
        let head = frame.post.and_then(|post| self.posted.get(&post));
        !self.link.transport.capabilities().stream_per_request
            || head.is_some_and(|head| head.value("mcp-session-id").is_some())
    }

    fn status(&self, frame: &Frame) -> Option<u64> {
        self.heads.get(&frame.post?)?["status"].as_u64()
    }

    /// What a response responds to, if not to a request.
    fn other(&mut self, message: &Value) -> Other {
        let other = self.loose.take(message);
        if let Other::Array(rejected) = other {
            self.open.retain(|open| open.frame != rejected);
        }
        other
    }

    /// The `answers` field of the suite language; `None` is a request.
    fn answers(&self, frame: &Frame, other: Option<Other>) -> &'static str {
        match other {
            None => "request",
            Some(Other::UnreadableInput | Other::Array(_)) => "unreadable input",
            Some(_) if self.status(frame).is_some_and(|status| status >= 400) => "refused HTTP request",
            Some(_) => "nothing",
        }
    }

    fn response(&mut self, frame: &Frame, id: &Value, message: &Value) -> Option<Value> {
        let transport = self.link.transport;
        let circumstances = Circumstances { transport, exchange: frame.post, late: false, strange: false };
        let requests: Vec<Request> = self.open.iter().map(Open::request).collect();
        if let Some((index, _)) = correlate(message, &requests, &self.loose, circumstances) {
            let open = self.open.remove(index);
            self.nameless.iter_mut().for_each(|nameless| _ = nameless.open.remove(&open.frame));
            self.suspect = self.suspect.filter(|suspect| *suspect > open.frame);
            self.loose.responded(open.number, open.frame);
            self.notification_context.answered(open.frame, frame, &open.id, message);
            let worked_on = self.notification_context.worked_on(open.frame, &open.id);
            let http = open.post.and_then(|post| self.heads.get(&post));
            let mut more = Map::new();
            more.extend(worked_on.map(|times| ("worked_on".to_owned(), json!(times))));
            more.extend(http.map(|http| ("http".to_owned(), http.clone())));
            let mut exchange = open.describe(self.link);
            exchange.extend(more.clone());
            self.keep(open, more, id.is_null() && frame.post.is_none());
            return Some(complete(exchange, frame.frame, message, 1));
        }
        let answered = self.answered.get_mut(&id.to_string())?;
        answered.replies += u64::from(!std::mem::take(&mut answered.nameless));
        let mut exchange = answered.request.describe(self.link);
        exchange.extend(answered.more.clone());
        Some(complete(exchange, frame.frame, message, answered.replies))
    }

    fn keep(&mut self, request: Open, more: Map<String, Value>, nameless: bool) {
        let id = request.id.to_string();
        if self.answered.insert(id.clone(), Answered { request, more, replies: 1, nameless }).is_none() {
            self.answered_before.push_back(id);
        }
        if self.answered_before.len() > ANSWERED_KEPT
            && let Some(oldest) = self.answered_before.pop_front()
        {
            self.answered.remove(&oldest);
        }
    }
}

fn complete(mut exchange: Map<String, Value>, frame: u64, message: &Value, replies: u64) -> Value {
    let end = match (message.get("result"), message.get("error")) {
        (_, Some(error)) if !error.is_null() => "error",
        (Some(_), _) => "result",
        _ => "malformed",
    };
    exchange.insert("end".into(), json!(end));
    exchange.insert("replies".into(), json!(replies));
    let mut envelope = Map::new();
    for (name, value) in message.as_object().into_iter().flatten() {
        let outcome = matches!(name.as_str(), "result" | "error");
        (if outcome { &mut exchange } else { &mut envelope }).insert(name.clone(), value.clone());
    }
    exchange.insert("reply".into(), Value::Object(envelope));
    if let Some(Value::Array(frames)) = exchange.get_mut("frames") {
        frames.push(json!(frame));
    }
    Value::Object(exchange)
}

/// Whether JSON-RPC of MCP allows this id. A server may reject other ones, and then need not repeat them.
fn may_be_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

/// Whether it opens a stream that belongs to no request.
fn opens_by_get(head: &HttpHead) -> bool {
    head.method.as_deref() == Some("GET") && head.value("last-event-id").is_none()
}

/// Whether a note records the end of a connection or exchange. Notes on an exchange can also record other things.
fn is_loss(note: &Frame) -> bool {
    note.event.is_none() && note.ended.map_or(note.post.is_none(), |ended| ended != Ended::Complete)
}

fn status(head: &HttpHead) -> Value {
    json!({ "status": head.status, "headers": head.by_name() })
}
