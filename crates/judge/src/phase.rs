//! The progress of a connection's handshake.

use serde::Serialize;
use serde_json::Value;

/// Connections of 2026-07-28 are open from the start, unless a client tries a handshake of an earlier revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// `initialize` was not sent.
    Closed,
    /// `notifications/initialized` was not sent.
    Opening,
    Open,
}

impl Phase {
    /// The phase after the client has sent this message.
    pub fn after(self, sent: &Value, modern: bool) -> Self {
        match sent["method"].as_str() {
            Some("initialize") if self == Self::Closed || modern => Self::Opening,
            Some("notifications/initialized") => Self::Open,
            _ => self,
        }
    }
}
