//! What stops a run, and the exit code it means.
//!
//! A rule that fails is not in here: an `Error` says that the program could not do its work.

use std::fmt;

use anstream::adapter::strip_str;

use crate::revision::Revision;

/// What this program says on stderr, on one line: what came first, and no excerpts of files.
pub fn in_short(said: &str) -> String {
    const UNTESTED: &str = "error: the server could not be tested";
    const LEADS: [&str; 4] = ["error: ", "tried: ", "cause: ", "help: "];
    let is_excerpt = |line: &&str| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').starts_with('|');
    let plain = strip_str(said).to_string();
    let mut parts: Vec<String> = Vec::new();
    let lines = plain.lines().map(|line| line.trim().trim_start_matches("= "));
    for line in lines.filter(|line| !line.is_empty() && !is_excerpt(line)) {
        match parts.last_mut() {
            Some(part) if !LEADS.iter().any(|lead| line.starts_with(lead)) => *part += &format!(" {line}"),
            _ => parts.push(line.to_owned()),
        }
    }
    let came = parts.iter().position(|part| part.starts_with("cause: ")).map(|at| parts.remove(at));
    parts.retain(|part| part != UNTESTED);
    let parts: Vec<&str> = came.iter().chain(&parts).map(|part| without_lead(part)).collect();
    parts.join("; ")
}

fn without_lead(part: &str) -> &str {
    ["error: ", "cause: "].iter().find_map(|lead| part.strip_prefix(lead)).unwrap_or(part)
}

/// Exit codes of the program, documented in `--help`.
pub mod exit {
    pub const CONFORMING: u8 = 0;
    pub const FAILED: u8 = 1;
    pub const USAGE: u8 = 2;
    pub const UNREACHABLE: u8 = 3;
    pub const NOTHING_EXERCISED: u8 = 4;
    /// As shells have it.
    pub const INTERRUPTED: u8 = 130;
}

#[derive(Debug)]
pub enum Error {
    /// The command line or the configuration asks for something that cannot be.
    Usage { message: String, help: Option<String> },
    /// Suites that do not load; already rendered, with places and carets.
    Suites { rendered: String, count: usize },
    /// A configuration with mistakes; already rendered, with places and carets.
    Config { rendered: String, count: usize },
    /// A file of the user that cannot be read or written.
    File { path: String, doing: &'static str, source: std::io::Error },
    /// The server could not be started or reached, or does not speak the protocol.
    Target { tried: String, came: String, help: String },
    /// It is reachable, but not in the revision asked for.
    NotSpoken { asked: Revision, offered: String },
    /// Its user, or the system, wants no more of it.
    Interrupted,
}

impl Error {
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: None }
    }

    /// What happened, alone.
    pub fn came(&self) -> String {
        match self {
            Self::Target { came, .. } => came.clone(),
            other => other.to_string(),
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } | Self::Suites { .. } | Self::Config { .. } | Self::File { .. } => exit::USAGE,
            Self::Target { .. } | Self::NotSpoken { .. } => exit::UNREACHABLE,
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
            Self::Suites { rendered, count } => {
                let noun = if *count == 1 { "mistake" } else { "mistakes" };
                write!(f, "{rendered}\n\nerror: {count} {noun} in the suites; nothing was sent to the server")
            }
            Self::Config { rendered, count } => {
                let noun = if *count == 1 { "mistake" } else { "mistakes" };
                write!(f, "{rendered}\nerror: {count} {noun} in the configuration; nothing was sent to the server")
            }
            Self::File { path, doing, source } => write!(f, "error: failed to {doing} `{path}`: {source}"),
            Self::Target { tried, came, help } => {
                write!(f, "error: the server could not be tested\n  tried: {tried}\n  cause: {came}\n   help: {help}")
            }
            Self::NotSpoken { asked, offered } => write!(
                f,
                "error: the server does not support revision {asked}\n  cause: {offered}\n   help: leave out --revision \
                 to test the newest that it supports, or use `--revision all`"
            ),
            Self::Interrupted => f.write_str("interrupted: no rule was judged"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::in_short;

    #[test]
    fn the_cause_comes_first() {
        let said =
            "error: the server could not be tested\n  tried: to start a\n  cause: no such file\n   help: check it\n";
        assert_eq!(in_short(said), "no such file; tried: to start a; help: check it");
        assert_eq!(in_short("error: no token\n  help: give one\n"), "no token; help: give one");
        assert_eq!(in_short("  cause: nothing"), "nothing");
        assert_eq!(in_short(""), "");
    }

    #[test]
    fn mistakes_in_files_are_told_without_the_lines() {
        let said = "\u{1b}[1m\u{1b}[91merror\u{1b}[0m: no `x`\n --> a.yaml:7:3\n  |\n7 | x: 1\n  |   ^\n\n\
                    error: 1 mistake in the suites; nothing was sent to the server";
        assert_eq!(in_short(said), "no `x` --> a.yaml:7:3; 1 mistake in the suites; nothing was sent to the server");
    }
}
