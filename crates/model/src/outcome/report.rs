//! The report of a whole run.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Compared, CostRow, Flaky, ProfileReport, RuleResult, Sdk, Sender, Served, Status, is_zero};
use crate::{error::exit, revision::Revision};

/// Whom a report is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    #[default]
    Server,
    Client,
    /// A recorded conversation, of which both sides are judged.
    Both,
    Gateway,
    AuthorizationServer,
}

impl Subject {
    /// The noun for messages.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::Both => "conversation",
            Self::Gateway => "gateway",
            Self::AuthorizationServer => "authorization server",
        }
    }

    // Reports on servers omit the subject, as they did before other subjects existed. Serde requires a reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(super) fn is_server(&self) -> bool {
        *self == Self::Server
    }
}

/// What was tested, as far as it may be shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetReport {
    /// Whether it is a server, a client, a gateway, an authorization server, or a client and a server as they were recorded.
    #[serde(default, skip_serializing_if = "Subject::is_server")]
    pub subject: Subject,
    /// As a user would type it: a command line, or a URL. No secrets.
    pub name: String,
    /// The options of `mcp-conform run` that name it. No secrets.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub options: String,
    /// The shell command that starts it; a value that may be secret is replaced by a variable. Absent over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The configuration that was read, as seen from where the run was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    pub transport: String,
    /// The SDKs that it is built on, as far as they were found or named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sdks: Vec<Sdk>,
    /// `name` and `version` as the server states them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Value>,
    /// The same of the client, where both sides were recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Value>,
    #[serde(default)]
    pub capabilities: Value,
    /// Every revision the server was seen to speak.
    pub revisions: Vec<Revision>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    pub rules: usize,
    #[schemars(with = "std::collections::BTreeMap<String, usize>")]
    pub by_status: IndexMap<Status, usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunReport {
    pub schema: u32,
    pub tool: Tool,
    pub target: TargetReport,
    /// The revisions that were tested.
    pub revisions: Vec<Revision>,
    /// Seconds since 1970 at the start, and the length of the run.
    pub started: u64,
    pub ms: u64,
    /// `should` counts as failure.
    pub strict: bool,
    /// Whether a rule that failed and then passed in a retry fails the run; absent where it does.
    #[serde(default, skip_serializing_if = "Flaky::is_usual")]
    pub flaky: Flaky,
    /// The parts of a run that it holds (`hash:1/4`); absent where it is the whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partition: Vec<String>,
    /// Why the run ended before all requests were sent, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
    pub exit_code: u8,
    pub totals: Totals,
    /// What worked of each capability of the server, by revision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub served: Vec<Served>,
    /// Known failures that now pass, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<String>,
    /// The places of these known failures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outdated_entries: Vec<OutdatedEntry>,
    /// Limits of the run, one line each: rules say nothing about what is beyond them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// One line each: what was not judged and why, how the server ended.
    pub notes: Vec<String>,
    /// The suites that took a second or more, longest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<SlowSuite>,
    pub rules: Vec<RuleResult>,
    /// What named hosts make of the server. The verdict does not depend on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfileReport>,
    /// Whether a rule of a profile that fails also fails the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fail_on_profile: bool,
    /// The first messages of the run, each in a few words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<Moment>,
    /// The number of frames after those in `timeline`, which has no room for them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub timeline_left_out: usize,
    /// The generated calls, of each tool, prompt, template, completion and list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallCounts>,
    /// What a gateway costs, if it was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cost: Vec<CostRow>,
    /// The rules about servers that were compared, of a gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<Compared>,
    /// The graph of the resources, if they were walked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<Graph>,
}

impl RunReport {
    /// Why there are no results, if the run ended before any. The first note has the reason.
    pub fn cause(&self) -> Option<&str> {
        let has_ended = self.rules.is_empty() && !matches!(self.exit_code, 0 | 1 | 4);
        self.notes.first().filter(|_| has_ended).map(String::as_str)
    }

    /// The rules of the verdict, and then those of profiles.
    pub fn with_profiles(&self) -> impl Iterator<Item = &RuleResult> {
        self.rules.iter().chain(self.profiles.iter().flat_map(|profile| &profile.rules))
    }

    /// The rules that may fail the run: those of profiles only if that was wanted.
    pub fn counting(&self) -> impl Iterator<Item = &RuleResult> {
        self.with_profiles().filter(|rule| self.fail_on_profile || rule.evidence.is_none())
    }

    /// A run of profiles alone shows something, and a profile that fails also fails the run if that was wanted.
    pub fn settle_profiles(&mut self) {
        if self.rules.is_empty() && !self.profiles.is_empty() && self.exit_code == exit::NOTHING_EXERCISED {
            self.exit_code = exit::CONFORMING;
        }
        if self.fail_on_profile && self.exit_code == exit::CONFORMING && self.profiles.iter().any(ProfileReport::fails)
        {
            self.exit_code = exit::FAILED;
        }
    }

    /// Whether a rule fails the run because it is flaky.
    pub fn is_flaky_failure(&self, rule: &RuleResult) -> bool {
        rule.status == Status::Flaky && self.flaky == Flaky::Fail
    }
}

/// A known failure that now passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutdatedEntry {
    /// The list, as the user typed its path.
    pub file: String,
    /// From 1.
    pub line: usize,
    pub rule: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

impl OutdatedEntry {
    /// One sentence for a reader who sees the entry.
    pub fn told(&self) -> String {
        let place = self.subject.as_ref().map(|subject| format!(" for {subject}")).unwrap_or_default();
        format!("{} now passes{place}: remove this entry", self.rule)
    }
}

/// A suite, and how long its requests took. Suites run concurrently where the server permits it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowSuite {
    pub suite: String,
    pub revision: Revision,
    pub ms: u64,
}

/// The generated calls of one thing, counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallCounts {
    /// `tool`, `prompt`, `template`, `completion` or `list`.
    pub what: String,
    pub name: String,
    pub calls: usize,
    /// Calls with valid arguments, and those of them that were accepted.
    pub valid: usize,
    pub accepted: usize,
    /// Calls with invalid arguments, and those of them that were rejected.
    pub invalid: usize,
    pub rejected: usize,
    /// Calls with valid arguments that are odd.
    pub hostile: usize,
    /// Calls without a result.
    pub errors: usize,
    pub slowest_ms: u64,
    /// Keywords of the schema that a call was at the bound of, or violated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exercised: Vec<String>,
    /// The other ones: too few calls were made, or no value could be found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_exercised: Vec<String>,
    /// The number of different cases: a keyword, its place in the schema, and the kind of a value there.
    #[serde(default)]
    pub cases: usize,
    /// The cases without a call: too few calls were made, or no value could be found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_reached: Vec<String>,
}

/// A frame in a few words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moment {
    pub frame: u64,
    /// Since the run began.
    pub microseconds: u64,
    pub connection: u32,
    /// `client` or `server`.
    #[schemars(with = "String")]
    pub from: Sender,
    pub what: String,
    pub bytes: u64,
    /// The message, or the head of an HTTP request or response: shortened, with tokens masked. Absent where `what` has all
    /// of it, and after the report has no more room for texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Graph {
    /// Those of the list without a parent come first.
    pub nodes: Vec<GraphNode>,
    /// How many of them are in that list.
    pub roots: usize,
    /// The limit, if it is incomplete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphNode {
    pub uri: String,
    /// Places in `nodes`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    pub name: String,
    pub version: String,
}
