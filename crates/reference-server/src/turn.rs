//! The result of handling one message, for any transport.

use std::time::Duration;

use serde_json::Value;

use crate::session::Change;

#[derive(Debug, Default)]
pub struct Turn {
    pub out: Vec<Outgoing>,
    /// A request whose remaining messages are no longer wanted.
    pub cancelled: Option<Value>,
    /// Changes that every session is notified of, before `out` is sent.
    pub changes: Vec<Change>,
    /// Responses to earlier requests.
    pub settled: Vec<Outgoing>,
    /// Messages after the response; they belong to no request.
    pub later: Vec<Outgoing>,
    /// The request stays open: it is a subscription, or the client has to respond first.
    pub open: bool,
    /// A response of the client let this request continue.
    pub resumed: Option<Value>,
    /// The process exits as after a crash, with this message.
    pub crash: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub struct Outgoing {
    pub after: Duration,
    /// The request that this belongs to, if any.
    pub id: Option<Value>,
    /// It is the response, not a notification.
    pub answer: bool,
    /// For HTTP.
    pub status: u16,
    pub bytes: Vec<u8>,
}

impl Turn {
    pub fn crash(why: &'static str) -> Self {
        Self { crash: Some(why), ..Self::default() }
    }

    /// Whether the messages are sent over some time, not immediately.
    pub fn takes_time(&self) -> bool {
        self.out.iter().any(|out| !out.after.is_zero())
    }
}
