//! Metadata of a run, besides its frames and contexts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Side;
use crate::{
    outcome::{Flaky, GivenLevel, Sdk, SlowSuite},
    revision::Revision,
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeader {
    /// The version of mcp-conform that wrote it.
    pub version: String,
    /// The side that is judged. In a recording between a client and a server, both are.
    pub judged: Side,
    /// Recorded between a client and a server that others started, by `mcp-conform record`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recorded: bool,
    pub target: Tested,
    /// Seconds since 1970.
    pub started: u64,
    pub ms: u64,
    pub scope: Scope,
    /// Number of frames that a report shows with a finding.
    pub evidence_frames: usize,
    /// Remarks on the run, one line each.
    pub notes: Vec<String>,
    /// The suites that took a second or more, longest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<SlowSuite>,
    pub end: RunEnd,
}

impl RunHeader {
    /// The header of a run by this version that has just started.
    pub fn new(judged: Side, target: Tested, started: u64, evidence_frames: usize) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            judged,
            recorded: false,
            target,
            started,
            ms: 0,
            scope: Scope::default(),
            evidence_frames,
            notes: Vec::new(),
            slowest: Vec::new(),
            end: RunEnd::default(),
        }
    }
}

/// What was tested, without secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// As a user would type it: a command line, or a URL.
    pub name: String,
    /// `stdio`, `http` or `sse`.
    pub transport: String,
    /// The options of `mcp-conform run` that select it.
    #[serde(default)]
    pub options: String,
    /// The shell command that starts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The configuration that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// The SDKs that it is built on, as far as they were found or named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sdks: Vec<Sdk>,
}

/// What was judged, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    pub strict: bool,
    #[serde(default, skip_serializing_if = "Flaky::is_usual")]
    pub flaky: Flaky,
    /// Only rules and suites with these names; if empty, all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<String>,
    /// The part of the run in this record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// The levels that the configuration gives to rules.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, GivenLevel>,
}

/// How the run ended. If all fields are empty, everything was gathered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// Why the gathering stopped early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
    /// The exit code with which the user or the system ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<u8>,
    /// The handshake that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_handshake: Option<FailedHandshake>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedHandshake {
    pub why: NotOpened,
    /// The handshake in an earlier revision succeeded.
    pub after_another: bool,
}

/// Why there was no conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotOpened {
    Unreachable { tried: String, came: String, help: String },
    NotSpoken { asked: Revision, offered: String },
}
