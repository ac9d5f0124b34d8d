//! The transports and their properties. Code that differs by transport uses this table.

use std::str::FromStr;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::revision::Revision;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    Stdio,
    Http,
    Sse,
}

/// The properties in which transports differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Each connection is a process that the run starts, and messages are lines.
    pub process: bool,
    /// All connections reach the same server, so that one can affect others.
    pub shared: bool,
    /// Each request is its own HTTP exchange, whose stream carries the response.
    pub stream_per_request: bool,
    /// One event stream carries all responses. Its first event names the endpoint for messages.
    pub endpoint: bool,
    /// The path at which servers usually are.
    pub path: &'static str,
    /// The first revision that defines it, and the last one unless it is still defined.
    since: Option<Revision>,
    until: Option<Revision>,
}

const STDIO: Capabilities = Capabilities {
    process: true,
    shared: false,
    stream_per_request: false,
    endpoint: false,
    path: "",
    since: None,
    until: None,
};
const HTTP: Capabilities = Capabilities {
    process: false,
    shared: true,
    stream_per_request: true,
    path: "/mcp",
    since: Some(Revision::V2025_03_26),
    ..STDIO
};
const SSE: Capabilities = Capabilities {
    process: false,
    shared: true,
    endpoint: true,
    path: "/sse",
    until: Some(Revision::V2024_11_05),
    ..STDIO
};

impl Transport {
    pub const ALL: [Self; 3] = [Self::Stdio, Self::Http, Self::Sse];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }

    pub const fn capabilities(self) -> &'static Capabilities {
        match self {
            Self::Stdio => &STDIO,
            Self::Http => &HTTP,
            Self::Sse => &SSE,
        }
    }

    /// Whether a revision defines this transport.
    pub fn is_defined_in(self, revision: Revision) -> bool {
        let Capabilities { since, until, .. } = self.capabilities();
        since.is_none_or(|since| since <= revision) && until.is_none_or(|until| revision <= until)
    }

    /// Whether clients use it with a revision. Servers keep HTTP+SSE for clients of all revisions with sessions, although
    /// only the first one defines it.
    pub fn is_used_with(self, revision: Revision) -> bool {
        self.is_defined_in(revision) || (self == Self::Sse && !revision.features().stateless)
    }
}

impl std::fmt::Display for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::as_str).join(", ");
        let named = Self::ALL.into_iter().find(|transport| transport.as_str() == text);
        named.ok_or_else(|| format!("unknown transport `{text}`; use one of: {}", known()))
    }
}
