//! How to start or reach the server under test, and the limits of a run.

mod entrusted;
pub mod inside;
mod limits;

use std::{path::PathBuf, sync::Arc};

pub use entrusted::{is_path, is_secret, secret_values, secrets_in_url, shown_url};
pub use inside::Inside;
pub use limits::{Limits, Reach, patience, time};

use conform_model::{
    outcome::Sdk,
    transport::{Capabilities, Transport},
};

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
    /// The authorization server that this program is for it, if so.
    pub issuing: Option<Arc<Issuing>>,
    /// How a user logs in at it, if it is an authorization server.
    pub login: Option<Arc<Login>>,
    /// The SDK that its author says it is built on.
    pub sdk: Option<Sdk>,
    /// A server in this process, which is tested instead of `start`.
    pub inside: Option<Arc<dyn Inside>>,
}

impl Target {
    pub fn new(name: impl Into<String>, start: Start) -> Self {
        Self {
            name: name.into(),
            start,
            secrets: Vec::new(),
            auth: None,
            tokens: Vec::new(),
            issuing: None,
            login: None,
            sdk: None,
            inside: None,
        }
    }
}

/// A bearer token. Steps and records name it by its placeholder.
#[derive(Clone, Debug)]
pub struct Token {
    pub name: String,
    pub value: String,
}

/// How all placeholders begin.
pub const PLACEHOLDER: &str = "mcp-conform-token-";

impl Token {
    pub fn stand_in(&self) -> String {
        format!("{PLACEHOLDER}{}", self.name)
    }
}

/// How to obtain bearer tokens.
#[derive(Clone, Debug, Default)]
pub struct Auth {
    /// For the whole run.
    pub own: Option<Source>,
    /// Tokens that this program signs itself.
    pub issuer: Option<Issuer>,
    /// Other tokens, which only test how the server handles them.
    pub others: Vec<(String, Source)>,
}

/// What a server expects of tokens whose issuer can be set there.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// Where this program listens as authorization server: a host and a port.
    pub address: String,
    /// The audience of right tokens; the URL of the server unless it is set.
    pub audience: Option<String>,
    pub scopes: Vec<String>,
}

/// What an authorization server says for the length of a run.
#[derive(Debug)]
pub struct Issuing {
    pub address: String,
    /// Documents by their paths.
    pub documents: Vec<(String, serde_json::Value)>,
    /// The result of introspection, by token. Others are not active.
    pub claims: Vec<(String, serde_json::Value)>,
}

/// How a user logs in at an authorization server. Without fields and command, nothing but buttons is needed.
#[derive(Clone, Debug, Default)]
pub struct Login {
    /// Values for the inputs of forms, by name.
    pub fields: Vec<(String, String)>,
    /// The button to press if a form has several: its name, value, id or text.
    pub submit: Option<String>,
    /// The button that denies the client its authorization.
    pub deny: Option<String>,
    /// A command that logs in and prints the last URL.
    pub command: Vec<String>,
    pub cwd: Option<PathBuf>,
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
    /// Over stdio.
    Program(Program),
    /// A server that is running.
    Url { transport: Transport, url: String, headers: Vec<(String, String)> },
}

/// A program with its arguments, the variables that are added to its environment, and its working directory.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub argv: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: Option<PathBuf>,
}

/// A command as a user would type it.
pub fn command_line(argv: &[String]) -> String {
    shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| argv.join(" "))
}

impl Start {
    /// `target`: a program without arguments, or a URL.
    pub fn over(transport: Transport, target: String, headers: Vec<(String, String)>) -> Self {
        if transport.capabilities().process {
            Self::Program(Program { argv: vec![target], ..Program::default() })
        } else {
            Self::Url { transport, url: target, headers }
        }
    }

    pub const fn transport(&self) -> Transport {
        match self {
            Self::Program(_) => Transport::Stdio,
            Self::Url { transport, .. } => *transport,
        }
    }

    pub const fn capabilities(&self) -> &'static Capabilities {
        self.transport().capabilities()
    }

    pub const fn program(&self) -> Option<&Program> {
        match self {
            Self::Program(program) => Some(program),
            Self::Url { .. } => None,
        }
    }

    pub const fn program_mut(&mut self) -> Option<&mut Program> {
        match self {
            Self::Program(program) => Some(program),
            Self::Url { .. } => None,
        }
    }

    pub fn url(&self) -> Option<&str> {
        match self {
            Self::Program(_) => None,
            Self::Url { url, .. } => Some(url),
        }
    }

    /// The headers that the user set; none for a program.
    pub fn headers(&self) -> &[(String, String)] {
        match self {
            Self::Program(_) => &[],
            Self::Url { headers, .. } => headers,
        }
    }

    pub const fn headers_mut(&mut self) -> Option<&mut Vec<(String, String)>> {
        match self {
            Self::Program(_) => None,
            Self::Url { headers, .. } => Some(headers),
        }
    }
}
