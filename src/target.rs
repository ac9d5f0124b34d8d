//! How to start or reach the server under test, and the limits that hold for it.

mod entrusted;
pub mod inside;
mod limits;

use std::{path::PathBuf, sync::Arc};

pub use entrusted::{is_path, is_secret, shown_url};
pub use inside::Inside;
pub use limits::{Limits, Reach, patience, time};

/// A server to test.
#[derive(Clone, Debug)]
pub struct Target {
    /// As it may be shown: a command line or URL, without secrets.
    pub name: String,
    pub start: Start,
    /// Values that no record and no message may show, besides those of headers.
    pub secrets: Vec<String>,
    /// Where its bearer tokens come from.
    pub auth: Option<Box<Auth>>,
    /// Those that were obtained, by name; `own` is the one that the whole run uses.
    pub tokens: Vec<Token>,
    /// The server that is tested in place of what `start` names.
    pub inside: Option<Arc<dyn Inside>>,
}

impl Target {
    pub fn new(name: impl Into<String>, start: Start) -> Self {
        Self { name: name.into(), start, secrets: Vec::new(), auth: None, tokens: Vec::new(), inside: None }
    }
}

/// A bearer token. What is sent on purpose, and all that is recorded, names it by its stand-in.
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

/// How bearer tokens are come by.
#[derive(Clone, Debug, Default)]
pub struct Auth {
    /// For the whole run.
    pub own: Option<Source>,
    /// Others, which only show what the server makes of them.
    pub others: Vec<(String, Source)>,
}

#[derive(Clone, Debug)]
pub enum Source {
    Token(String),
    /// A command that prints it.
    Command {
        argv: Vec<String>,
        cwd: Option<PathBuf>,
    },
    Client(Box<Client>),
}

/// An OAuth client that is granted tokens by its own credentials.
#[derive(Clone, Debug)]
pub struct Client {
    pub id: String,
    pub secret: String,
    pub scopes: Vec<String>,
    /// Where tokens are granted; found by the metadata unless it is given.
    pub token_endpoint: Option<String>,
}

#[derive(Clone, Debug)]
pub enum Start {
    Stdio { argv: Vec<String>, env: Vec<(String, String)>, cwd: Option<PathBuf> },
    Http { url: String, headers: Vec<(String, String)> },
    Sse { url: String, headers: Vec<(String, String)> },
}

impl Start {
    /// As reports name it.
    pub const fn transport(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Http { .. } => "http",
            Self::Sse { .. } => "sse",
        }
    }
}
