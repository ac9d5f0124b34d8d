//! The sender of a message that a report shows.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A report has its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Sender {
    Client,
    Server,
    Gateway,
    /// The server behind a gateway.
    Upstream,
    /// One of several clients in front of a gateway.
    ClientOf(usize),
    /// The gateway, to one of several clients.
    ToClient(usize),
}

impl Sender {
    pub const fn is_client(self) -> bool {
        matches!(self, Self::Client | Self::ClientOf(_))
    }
}

impl fmt::Display for Sender {
    fn fmt(&self, words: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client => words.pad("client"),
            Self::Server => words.pad("server"),
            Self::Gateway => words.pad("gateway"),
            Self::Upstream => words.pad("upstream"),
            Self::ClientOf(number) => words.pad(&format!("client {number}")),
            Self::ToClient(number) => words.pad(&format!("to client {number}")),
        }
    }
}

impl From<Sender> for String {
    fn from(sender: Sender) -> Self {
        sender.to_string()
    }
}

impl TryFrom<String> for Sender {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let unnumbered = [Self::Client, Self::Server, Self::Gateway, Self::Upstream];
        let number = |text: &str| text.strip_prefix("client ")?.parse().ok();
        let known = unnumbered.into_iter().find(|sender| sender.to_string() == text);
        let known = known.or_else(|| number(&text).map(Self::ClientOf));
        let known = known.or_else(|| text.strip_prefix("to ").and_then(number).map(Self::ToClient));
        known.ok_or_else(|| format!("unknown sender `{text}`"))
    }
}
