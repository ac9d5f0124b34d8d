//! What the server sent, and which request it responds to.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{ANSWERED_KEPT, Answered, Assembler, MessageItem, Nameless, Origin, Passed};
use crate::{
    asked::{self, Asked},
    notification_context::Relation,
    open::Open,
    phase::Phase,
};
use conform_model::evidence::{
    Frame, HttpHead, Kind, Message, PROBE,
    correlate::{Circumstances, Other, Request, correlate},
};

impl Assembler<'_> {
    pub(super) fn received(&mut self, frame: &Frame, message: &Message, pointer: String, passed: &mut Passed) {
        if self.is_foreign(frame, message.whole) {
            return;
        }
        // After a handshake of an earlier revision, a process may also use that revision.
        let legacy = self.is_modern() && self.phase == Phase::Opening && self.link.transport.capabilities().process;
        if legacy && !message.is_response() {
            return;
        }
        let elicitation = message.whole.pointer("/params/elicitationId").map(Value::to_string);
        let mut item = MessageItem {
            message: None,
            origin: Origin { frame: frame.frame, pointer, to: None },
            phase: self.phase,
            declared: self.declared.clone(),
            kind: message.kind,
            id_repeated: None,
            elicited: None,
            answers: None,
            relation: Relation::default(),
        };
        match (message.kind, message.id) {
            (Kind::Request, Some(id)) => {
                let used_before = !self.own_ids.insert(id.to_string());
                item.id_repeated = Some(used_before && self.is_in_session(frame));
                passed.asked.push(self.request(frame, message.whole, &item.origin));
                self.elicitations.extend(elicitation);
            }
            (Kind::Notification, _) => {
                item.elicited = Some(elicitation.is_some_and(|id| self.elicitations.contains(&id)));
            }
            // A JSON log line is also an object, but not a response.
            (Kind::Other, None) if frame.post.is_none() => {}
            _ => self.responded(frame, message, &mut item, passed),
        }
        item.relation = self.notification_context.relation(frame, message);
        item.origin.to = item.relation.to.or(item.origin.to);
        let is_awaited = |open: &&Open| open.expects_reply || open.by == PROBE || open.method == "subscriptions/listen";
        let awaited = self.open.iter().filter(is_awaited);
        let open: HashSet<u64> = awaited.map(|open| open.frame).collect();
        let has_id = message.id.is_some_and(|id| !id.is_null());
        if item.answers == Some("nothing") && !has_id && frame.post.is_none() && !open.is_empty() {
            item.message = Some(message.whole.clone());
            self.nameless.push(Nameless { item, open });
        } else {
            passed.messages.push(item);
        }
        // All requests that were open then have their own response.
        let clear = |nameless: &mut Nameless| nameless.open.is_empty();
        passed.messages.extend(self.nameless.extract_if(.., clear).map(|nameless| nameless.item));
    }

    fn responded(&mut self, frame: &Frame, message: &Message, item: &mut MessageItem, passed: &mut Passed) {
        let exchange = self.response(frame, message);
        let other = if exchange.is_some() { None } else { Some(self.other(message.whole)) };
        item.answers = Some(self.answers(frame, other));
        // Over HTTP, the exchange shows the notification that it responds to.
        if let (Some(Other::Notification(to)), None) = (other, frame.post) {
            item.origin.to = Some(to);
        }
        let listed = message.whole.pointer("/error/data/elicitations").and_then(Value::as_array).into_iter().flatten();
        self.elicitations
            .extend(listed.filter_map(|elicitation| elicitation.get("elicitationId")).map(Value::to_string));
        let exchange = exchange.filter(|exchange| exchange["deviant"] != true);
        passed.asked.extend(exchange.iter().flat_map(|exchange| asked::inputs(exchange, message, &item.origin)));
        passed.exchanges.extend(exchange);
    }

    fn request(&mut self, frame: &Frame, message: &Value, origin: &Origin) -> Asked {
        // Only HTTP shows to which request it belongs.
        let own = self.open.iter().find(|open| frame.post.is_some() && open.post == frame.post);
        // The server may still work on a request that was just cancelled.
        let waiting = self.open.iter().filter(|open| open.by != PROBE);
        let during: Vec<_> = own.map_or_else(|| waiting.collect(), |own| vec![own]);
        let methods = during.iter().map(|open| open.method.clone()).collect();
        let mut asked = Asked::of(message, &self.declared, methods, self.link.revision, origin.clone());
        if let [alone] = during.as_slice() {
            asked.origin.to = Some(alone.frame);
        }
        let head = frame.post.and_then(|post| self.posted.get(&post));
        asked.on_get = Some(head.is_some_and(opens_by_get));
        asked
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

    fn response(&mut self, frame: &Frame, response: &Message) -> Option<Value> {
        let (id, message) = (response.id.unwrap_or(&Value::Null), response.whole);
        let transport = self.link.transport;
        let circumstances = Circumstances { transport, exchange: frame.post, late: false, strange: false };
        let requests: Vec<Request> = self.open.iter().map(Open::request).collect();
        if let Some((index, _)) = correlate(message, &requests, &self.loose, circumstances) {
            let open = self.open.remove(index);
            self.nameless.iter_mut().for_each(|nameless| _ = nameless.open.remove(&open.frame));
            self.suspect = self.suspect.filter(|suspect| *suspect > open.frame);
            self.loose.responded(open.number, open.frame);
            self.notification_context.answered(open.frame, frame, &open.id, response);
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
/// Whether it opens a stream that belongs to no request.
fn opens_by_get(head: &HttpHead) -> bool {
    head.method.as_deref() == Some("GET") && head.value("last-event-id").is_none()
}
