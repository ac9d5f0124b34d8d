//! Everything that a test of a gateway needs, from the options and the configuration.

use std::path::PathBuf;

use crate::{
    error::Error,
    evidence::Transport,
    run::{
        clients::{ANYWHERE, Limits},
        inputs::job::Revisions,
        process::interrupts::Interrupts,
    },
    target::{Start, Target, command_line, secret_values, secrets_in_url, shown_url},
};

pub struct GatewayJob {
    /// This program, which a gateway starts as its upstream over stdio.
    pub program: PathBuf,
    pub front: Front,
    pub back: Back,
    pub env: Vec<(String, String)>,
    pub cwd: Option<PathBuf>,
    pub revisions: Revisions,
    pub limits: Limits,
    pub strict: bool,
    pub interrupts: Interrupts,
}

/// Where our client connects.
pub enum Front {
    /// Each client starts the command and uses stdio.
    Process { command: Vec<String> },
    /// The command is started once and listens on a port.
    Port { command: Vec<String>, transport: Transport, path: String },
    /// The gateway is already running.
    Url { url: String, transport: Transport },
}

/// Where the gateway connects.
pub struct Back {
    pub transport: Transport,
    /// For HTTP.
    pub address: String,
}

impl Default for Back {
    fn default() -> Self {
        Self { transport: Transport::Http, address: ANYWHERE.to_owned() }
    }
}

/// The placeholder for the upstream in a command: a URL, or over stdio the path of a program.
pub const UPSTREAM: &str = "{upstream}";
/// The placeholder for the port of the gateway.
pub const PORT: &str = "{port}";

impl GatewayJob {
    /// As a user would type it.
    pub fn name(&self) -> String {
        match &self.front {
            Front::Process { command } | Front::Port { command, .. } => command_line(command),
            Front::Url { url, .. } => shown_url(url),
        }
    }

    pub fn transport(&self) -> Transport {
        match &self.front {
            Front::Process { .. } => Transport::Stdio,
            Front::Port { transport, .. } | Front::Url { transport, .. } => *transport,
        }
    }

    /// Values that must not appear in any record or message.
    pub fn secrets(&self) -> Vec<String> {
        let of_url = match &self.front {
            Front::Url { url, .. } => secrets_in_url(url),
            Front::Process { .. } | Front::Port { .. } => Vec::new(),
        };
        secret_values(&self.env).into_iter().chain(of_url).collect()
    }

    /// The gateway as a server, at this place.
    pub fn target(&self, start: Start) -> Target {
        Target { secrets: self.secrets(), ..Target::new(self.name(), start) }
    }

    /// Whether the command contains the right placeholders.
    pub fn check(&self) -> Result<(), Error> {
        let wrong =
            |message: &str, help: &str| Err(Error::Usage { message: message.to_owned(), help: Some(help.to_owned()) });
        let has = |command: &[String], place: &str| command.iter().any(|argument| argument.contains(place));
        match &self.front {
            Front::Process { command } | Front::Port { command, .. } if !has(command, UPSTREAM) => wrong(
                "the command does not say where the upstream is",
                "put {upstream} where the gateway expects the URL of its server, or with --back stdio its command",
            ),
            Front::Port { command, .. } if !has(command, PORT) => wrong(
                "the command does not say at which port the gateway listens",
                "put {port} where the gateway expects the number of its port",
            ),
            Front::Process { command } if has(command, PORT) => {
                wrong("{port} is only for a gateway that listens over HTTP", "add --front http, or --front sse")
            }
            _ => Ok(()),
        }
    }
}

/// The command with all placeholders filled in.
pub fn filled(command: &[String], upstream: &str, port: Option<u16>) -> Vec<String> {
    let port = port.map(|port| port.to_string()).unwrap_or_default();
    command.iter().map(|argument| argument.replace(UPSTREAM, upstream).replace(PORT, &port)).collect()
}
