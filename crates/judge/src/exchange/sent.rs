//! What the client sent.

use serde_json::Value;

use super::Assembler;
use crate::{head::is_odd, open::Open, phase::Phase};
use conform_model::evidence::{Frame, Message, PROBE};

impl Assembler<'_> {
    /// Processes a message of the client, which may be malformed: suites send what no client would.
    pub(super) fn sent(&mut self, frame: &Frame, message: &Value) {
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
        let said = Message::of(message);
        if said.method == "initialize" && self.declared.is_null() {
            self.declared = said.params()["capabilities"].clone();
        }
        self.sent += 1;
        let is_version_2 = said.is_version_2();
        match (said.id, message.get("method").and_then(Value::as_str)) {
            (Some(id), Some(method)) if may_be_id(id) && is_version_2 => {
                self.notification_context.asked(frame, id, &said);
                let shares_id = self.shares_id(frame, id);
                let deviant = odd || shares_id || self.is_deviant(message, &by);
                if by != PROBE {
                    self.sound = !deviant && !frame.is_raw() && message.get("params").is_none_or(Value::is_object);
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
                    params: said.params().clone(),
                    expects_reply: by != PROBE && method != "subscriptions/listen",
                    by,
                    post: frame.post,
                    killed: None,
                    unread: None,
                    garbled: None,
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
                let cancelled = said.cancels();
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

    /// Whether another request with this id is open, by mistake of the client: a response may belong to either. Over HTTP,
    /// the exchange shows to which.
    fn shares_id(&mut self, frame: &Frame, id: &Value) -> bool {
        if !self.of_other_client || frame.post.is_some() {
            return false;
        }
        let same = self.open.iter_mut().filter(|open| open.id == *id);
        same.map(|open| open.deviant = true).count() > 0
    }

    fn is_deviant(&self, request: &Value, by: &str) -> bool {
        if self.phase == Phase::Closed && by != PROBE {
            return true;
        }
        let stated = request.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
        let modern = self.link.revision.filter(|revision| revision.is_modern());
        modern.is_some_and(|revision| stated.and_then(Value::as_str) != Some(revision.as_str()))
    }
}

/// Whether JSON-RPC of MCP allows this id. A server may reject other ones, and then need not repeat them.
fn may_be_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}
