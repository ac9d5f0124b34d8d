//! How to start or reach the server under test, and the limits of a run.

mod entrusted;
pub mod inside;
mod limits;

use std::{path::PathBuf, sync::Arc};

pub use entrusted::{is_path, is_secret, secret_values, secrets_in_url, shown_url};
pub use inside::Inside;
pub use limits::{Limits, Reach, patience, time};

/// A server to test.
#[derive(Clone, Debug)]
pub struct Target {
    /// The display name: a command line or URL, without secrets.
    pub name: String,
    pub start: Start,
    /// Values that must not appear in any record or message, besides those of headers.
    pub secrets: Vec<String>,
    /// The source of its bearer tokens.
    pub auth: Option<Box<Auth>>,
    /// The obtained tokens, by name; `own` is the one for the whole run.
    pub tokens: Vec<Token>,
    /// A server in this process, which is tested instead of `start`.
    pub inside: Option<Arc<dyn Inside>>,
}

impl Target {
    pub fn new(name: impl Into<String>, start: Start) -> Self {
        Self { name: name.into(), start, secrets: Vec::new(), auth: None, tokens: Vec::new(), inside: None }
    }
}

/// A bearer token. Steps and records name it by its placeholder.
#[derive(Clone, Debug)]
pub struct Token {
    pub name: String,
    pub value: String,
}

impl Token {
    pub fn stand_in(&self) -> String {
        format!("mcp-conform-token-{}", self.name)
    }
}

/// How to obtain bearer tokens.
#[derive(Clone, Debug, Default)]
pub struct Auth {
    /// For the whole run.
    pub own: Option<Source>,
    /// Other tokens, which only test how the server handles them.
    pub others: Vec<(String, Source)>,
}

#[derive(Clone, Debug)]
pub enum Source {
    Token(String),
    /// A command that prints the token.
    Command {
        argv: Vec<String>,
        cwd: Option<PathBuf>,
    },
    Client(Box<Client>),
}

/// An OAuth client that obtains tokens with its client credentials.
#[derive(Clone, Debug)]
pub struct Client {
    pub id: String,
    pub secret: String,
    pub scopes: Vec<String>,
    /// The token endpoint; found in the metadata unless it is set.
    pub token_endpoint: Option<String>,
}

#[derive(Clone, Debug)]
pub enum Start {
    Stdio { argv: Vec<String>, env: Vec<(String, String)>, cwd: Option<PathBuf> },
    Http { url: String, headers: Vec<(String, String)> },
    Sse { url: String, headers: Vec<(String, String)> },
}

impl Start {
    /// The name of the transport in reports.
    pub const fn transport(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Http { .. } => "http",
            Self::Sse { .. } => "sse",
        }
    }
}
