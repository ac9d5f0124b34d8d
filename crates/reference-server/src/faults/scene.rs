//! The context of a fault: the request, its revision and transport; and what the fault does with a message.

use std::time::Duration;

use serde_json::Value;

use crate::options::Transport;
use conform_model::revision::Revision;

#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The request of the response; `None` for a notification without a request.
    pub sent: Option<&'a Value>,
    pub revision: Revision,
    pub transport: Transport,
}

impl<'a> Scene<'a> {
    pub fn new(sent: &'a Value, revision: Revision, transport: Transport) -> Self {
        Self { sent: Some(sent), revision, transport }
    }

    /// The method of the request, or of a message without one.
    pub fn method(&self) -> Option<&'a str> {
        self.sent?.get("method")?.as_str()
    }
}

/// How a received message is handled.
pub enum Heard {
    /// As usual.
    Message,
    /// It is ignored.
    Nothing,
    /// The server crashes.
    Crash,
    /// The server exits, and writes this to stderr.
    Exit(&'static str),
    /// It gets this response.
    Answered(Value),
    /// It gets this response, after a delay.
    AnsweredLater(Value, Duration),
}

/// One line, event or body, exactly as it is sent.
#[derive(Debug, PartialEq)]
pub struct Spoken {
    pub bytes: Vec<u8>,
    /// Replaces the HTTP status.
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
