//! What follows from one message, ready for any transport to carry.

use std::time::Duration;

use serde_json::Value;

use crate::reference::session::Change;

#[derive(Debug, Default)]
pub struct Turn {
    pub out: Vec<Outgoing>,
    /// A request whose remaining messages are not wanted any more.
    pub cancelled: Option<Value>,
    /// To be announced to every session, before `out` is sent.
    pub changes: Vec<Change>,
    /// Earlier requests are answered, too.
    pub settled: Vec<Outgoing>,
    /// What follows behind the answer; it belongs to no request any more.
    pub later: Vec<Outgoing>,
    /// The request stays open: it is a subscription, or the client has to answer something first.
    pub open: bool,
    /// An answer of the client let this request go on.
    pub resumed: Option<Value>,
    /// The process ends, as after a crash, and what it says about it.
    pub crash: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub struct Outgoing {
    pub after: Duration,
    /// The request that this is about, if any.
    pub id: Option<Value>,
    /// The answer itself and not a notification beside it.
    pub answer: bool,
    /// For HTTP.
    pub status: u16,
    pub bytes: Vec<u8>,
}

impl Turn {
    pub fn crash(why: &'static str) -> Self {
        Self { crash: Some(why), ..Self::default() }
    }

    /// The messages go out over some time, not at once.
    pub fn takes_time(&self) -> bool {
        self.out.iter().any(|out| !out.after.is_zero())
    }
}
