//! What is known of a run besides its frames and scenes.

use serde::{Deserialize, Serialize};

use super::Side;
use crate::revision::Revision;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeader {
    /// The version of mcp-conform that wrote it.
    pub version: String,
    /// Which side is judged. Of what was recorded between a client and a server both are.
    pub judged: Side,
    /// Recorded between a client and a server that others started: `mcp-conform record`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recorded: bool,
    pub target: Tested,
    /// Seconds since 1970.
    pub started: u64,
    pub ms: u64,
    pub scope: Scope,
    /// Frames that a report shows beside a finding.
    pub evidence_frames: usize,
    /// What happened, one line each.
    pub notes: Vec<String>,
    pub end: RunEnd,
}

/// What was tested, without anything secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// As a user would type it: a command line, or a URL.
    pub name: String,
    /// `stdio`, `http` or `sse`.
    pub transport: String,
    /// The options of `mcp-conform run` that name it.
    #[serde(default)]
    pub options: String,
    /// What starts it, for a shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The configuration that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
}

/// What of it was to be judged, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    pub strict: bool,
    /// Only rules and suites of these names; all without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<String>,
    /// The part of the run that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
}

/// How the run ended; without any of these, because all was gathered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// Why the gathering stopped before all was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
    /// The exit code by which its user or the system ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<u8>,
    /// The handshake that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_handshake: Option<FailedHandshake>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedHandshake {
    pub why: NotOpened,
    /// In an earlier revision the handshake succeeded.
    pub after_another: bool,
}

/// Why there was no conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotOpened {
    Unreachable { tried: String, came: String, help: String },
    NotSpoken { asked: Revision, offered: String },
}
