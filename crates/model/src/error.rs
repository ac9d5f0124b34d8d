//! Errors that stop a run, and their exit codes.
//!
//! A failed rule is not an error: an `Error` means that the program could not do its work.

use std::fmt;

use crate::revision::Revision;

const OTHER_REVISIONS: &str = "leave out --revision to test the newest that it supports, or use `--revision all`";

/// Joins several lines to one, without excerpts of files.
fn on_one_line(text: &str) -> String {
    let is_excerpt = |line: &&str| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').starts_with('|');
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_excerpt(line));
    lines.collect::<Vec<_>>().join(" ")
}

/// Exit codes of the program, documented in `--help`.
pub mod exit {
    pub const CONFORMING: u8 = 0;
    pub const FAILED: u8 = 1;
    pub const USAGE: u8 = 2;
    pub const UNREACHABLE: u8 = 3;
    pub const NOTHING_EXERCISED: u8 = 4;
    /// As shells define it.
    pub const INTERRUPTED: u8 = 130;
}

/// Mistakes in files.
#[derive(Debug)]
pub struct Mistakes {
    /// All of them, with positions and source lines.
    pub rendered: String,
    /// Each on one line, with its position.
    pub short: Vec<String>,
}

impl Mistakes {
    fn counted(&self, place: &str) -> String {
        let (count, noun) = (self.short.len(), if self.short.len() == 1 { "mistake" } else { "mistakes" });
        format!("{count} {noun} in the {place}; nothing was sent to the server")
    }
}

#[derive(Debug)]
pub enum Error {
    /// The command line or the configuration requests something impossible.
    Usage { message: String, help: Option<String> },
    /// Suites that could not be loaded.
    Suites(Mistakes),
    /// A configuration with mistakes.
    Config(Mistakes),
    /// A user's file that could not be read or written.
    File { path: String, doing: &'static str, source: std::io::Error },
    /// The server could not be started or reached, or is not an MCP server. `refused`: nothing accepts connections
    /// there, yet.
    Target { tried: String, came: String, help: String, refused: bool },
    /// A client or gateway could not be started, or never connected.
    Party { party: &'static str, tried: String, came: String, help: String },
    /// It is reachable, but does not support the requested revision.
    NotSpoken { asked: Revision, offered: String },
    /// The user or the system interrupted it.
    Interrupted,
}

impl Error {
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: None }
    }

    /// Only what happened.
    pub fn came(&self) -> String {
        match self {
            Self::Target { came, .. } | Self::Party { came, .. } => came.clone(),
            other => other.to_string(),
        }
    }

    /// On one line: what happened first, without excerpts of files.
    pub fn in_short(&self) -> String {
        match self {
            Self::Usage { message, help } => {
                let told = help.iter().map(|help| format!("help: {help}"));
                std::iter::once(on_one_line(message)).chain(told).collect::<Vec<_>>().join("; ")
            }
            Self::Suites(mistakes) => format!("{}; {}", mistakes.short.join("; "), mistakes.counted("suites")),
            Self::Config(mistakes) => format!("{}; {}", mistakes.short.join("; "), mistakes.counted("configuration")),
            Self::File { path, doing, source } => format!("failed to {doing} `{path}`: {source}"),
            Self::Target { tried, came, help, .. } | Self::Party { tried, came, help, .. } => {
                format!("{came}; tried: {tried}; help: {help}")
            }
            Self::NotSpoken { asked, offered } => {
                format!("{offered}; the server does not support revision {asked}; help: {OTHER_REVISIONS}")
            }
            Self::Interrupted => self.to_string(),
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } | Self::Suites(_) | Self::Config(_) | Self::File { .. } => exit::USAGE,
            Self::Target { .. } | Self::Party { .. } | Self::NotSpoken { .. } => exit::UNREACHABLE,
            Self::Interrupted => exit::INTERRUPTED,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Usage { message, help } => {
                write!(f, "error: {message}")?;
                help.as_ref().map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
            }
            Self::Suites(mistakes) => write!(f, "{}\n\nerror: {}", mistakes.rendered, mistakes.counted("suites")),
            Self::Config(mistakes) => write!(f, "{}\nerror: {}", mistakes.rendered, mistakes.counted("configuration")),
            Self::File { path, doing, source } => write!(f, "error: failed to {doing} `{path}`: {source}"),
            Self::Target { tried, came, help, .. } => {
                write!(f, "error: the server could not be tested\n  tried: {tried}\n  cause: {came}\n   help: {help}")
            }
            Self::Party { party, tried, came, help } => {
                write!(f, "error: the {party} could not be tested\n  tried: {tried}\n  cause: {came}\n   help: {help}")
            }
            Self::NotSpoken { asked, offered } => write!(
                f,
                "error: the server does not support revision {asked}\n  cause: {offered}\n   help: {OTHER_REVISIONS}"
            ),
            Self::Interrupted => f.write_str("interrupted: no rule was judged"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_short_what_came_is_told_first() {
        let text = str::to_owned;
        let (tried, came, help) = (text("to start a"), text("no such file"), text("check it"));
        let unreachable = Error::Target { tried, came, help, refused: false };
        assert_eq!(unreachable.in_short(), "no such file; tried: to start a; help: check it");
        let usage = Error::Usage { message: text("no token"), help: Some(text("give one")) };
        assert_eq!(usage.in_short(), "no token; help: give one");
        let toml = Error::usage("no baseline\n  |\n3 | x\n  | ^\nunknown field");
        assert_eq!(toml.in_short(), "no baseline unknown field");
    }

    #[test]
    fn in_short_mistakes_in_files_are_told_without_the_lines() {
        let mistakes = Mistakes { rendered: "any".to_owned(), short: vec!["a.yaml:7:3: no `x`".to_owned()] };
        let told = "a.yaml:7:3: no `x`; 1 mistake in the suites; nothing was sent to the server";
        assert_eq!(Error::Suites(mistakes).in_short(), told);
    }
}
