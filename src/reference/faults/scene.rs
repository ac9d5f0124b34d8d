//! Where a fault stands when it acts: what was sent, in which revision, over what; and what it makes of it.

use std::time::Duration;

use serde_json::Value;

use crate::{reference::options::Transport, revision::Revision};

#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The request that is answered; none for a notification that nobody asked for.
    pub sent: Option<&'a Value>,
    pub revision: Revision,
    pub transport: Transport,
}

impl<'a> Scene<'a> {
    pub fn new(sent: &'a Value, revision: Revision, transport: Transport) -> Self {
        Self { sent: Some(sent), revision, transport }
    }

    /// The method of the request, or of a message that is none.
    pub fn method(&self) -> Option<&'a str> {
        self.sent?.get("method")?.as_str()
    }
}

/// What an arriving message is taken for.
pub enum Heard {
    /// What it is.
    Message,
    /// Nothing that needs an answer.
    Nothing,
    /// The end.
    Crash,
    /// The end, and what is written to stderr about it.
    Exit(&'static str),
    /// Something with this answer.
    Answered(Value),
    /// Something with this answer, which takes a while.
    AnsweredLater(Value, Duration),
}

/// One line, event or body, exactly as it goes out.
#[derive(Debug, PartialEq)]
pub struct Spoken {
    pub bytes: Vec<u8>,
    /// Another HTTP status than the healthy one.
    pub status: Option<u16>,
}

impl Spoken {
    pub fn plain(message: &Value) -> Self {
        Self::raw(message.to_string().into_bytes())
    }

    pub fn raw(bytes: Vec<u8>) -> Self {
        Self { bytes, status: None }
    }
}
