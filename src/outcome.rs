//! The result of judging, for reports: verdicts as plain data.
//!
//! The serialized form of [`RunReport`] is the JSON report, a public and versioned format: `reports/README.md`.

mod cost;
pub mod excerpt;
mod masked;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub use cost::{CostRow, Times};
pub use masked::masked;

use crate::revision::Revision;

/// Incremented when a reader of the JSON report would have to change.
pub const REPORT_SCHEMA: u32 = 1;

/// How strong a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Must,
    Should,
    /// A quality point that no text states: shown, never fails.
    Advice,
    /// What a server is free to do: only observed.
    May,
}

impl Level {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Advice => "advice",
            Self::May => "may",
        }
    }

    /// The status of a rule at this level that fails.
    pub const fn of_failure(self) -> Status {
        match self {
            Self::Must => Status::Fail,
            Self::Should => Status::Warn,
            Self::Advice => Status::Advice,
            Self::May => Status::Observed,
        }
    }

    /// The keyword in the title of a rule at this level.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::Advice => "Consider",
            Self::May => "MAY",
        }
    }

    /// The title of a rule as a sentence. A suite can also give the verb alone: `reply once` is "The server MUST reply once".
    pub fn sentence(self, title: &str) -> String {
        let keyword = self.keyword();
        if title.contains(keyword) {
            return title.to_owned();
        }
        match (self, title.strip_prefix("not ")) {
            (Self::Advice, _) => format!("{keyword}: {title}"),
            // A sentence of its own.
            _ if title.starts_with(char::is_uppercase) => format!("{keyword}: {title}"),
            (_, Some(rest)) => format!("The server {keyword} NOT {rest}"),
            (_, None) => format!("The server {keyword} {title}"),
        }
    }
}

/// The level that a configuration gives to a rule in place of its own, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenLevel {
    pub level: Level,
    pub reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Fail,
    /// It fails, as the list of known failures says.
    Known,
    /// The rule could not be judged because the server or the harness broke down underneath it.
    Broken,
    Warn,
    Advice,
    Pass,
    Observed,
    /// It applies, but nothing in this run showed it.
    NotExercised,
    /// It does not apply to this revision, transport or server.
    NotApplicable,
}

impl Status {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Known => "known",
            Self::Broken => "broken",
            Self::Warn => "warn",
            Self::Advice => "advice",
            Self::Pass => "pass",
            Self::Observed => "observed",
            Self::NotExercised => "not exercised",
            Self::NotApplicable => "not applicable",
        }
    }
}

/// One place where a rule does not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What it is about, as the server's author would name it: a URI, a method, a field.
    pub subject: String,
    /// One sentence: what came, against what was expected.
    pub message: String,
    /// The fields at fault, for a diff: absent where there is nothing structured to show.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub expected: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub received: Option<Value>,
    /// JSON Pointer into the last of `frames`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Numbers of the frames that show it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<u64>,
    /// Those frames, shortened, so that the report stands alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<ShownFrame>,
    /// Findings that are equal to this one but for their place, counted instead of repeated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub alike: usize,
    /// A command that shows it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
    /// What shows it without this program, in a shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_hand: Option<String>,
    /// Of a generated call: a suite with it, to be pasted into a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yaml: Option<String>,
}

/// A frame as a report shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShownFrame {
    pub frame: u64,
    /// `client` or `server`; where a gateway is tested, `client`, `gateway` or `upstream`.
    pub from: String,
    /// One line, cut in the middle where it was long.
    pub text: String,
    /// All headers of an HTTP request or response, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleResult {
    pub id: String,
    pub suite: String,
    /// The side that it judges: the server or the client.
    #[serde(default, skip_serializing_if = "Subject::is_server")]
    pub subject: Subject,
    pub revision: Revision,
    pub level: Level,
    /// Why the configuration gives the rule this level in place of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level_reason: Option<String>,
    pub status: Status,
    pub statement: String,
    pub source: String,
    /// The reason, if the specification does not state the rule explicitly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// How many subjects were judged.
    pub checked: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Further findings, which are only counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub further: usize,
    /// Some of what holds, for who wants to show it.
    #[serde(skip)]
    pub held: Vec<Held>,
    /// Why it was not judged, or what broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What a `may` rule saw.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<Observation>,
    /// Rules whose findings have the same cause and are folded under this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

impl RuleResult {
    /// The level that the configuration gives the rule, as a line of a report.
    pub fn given_level(&self) -> Option<String> {
        Some(format!("{}, set in the configuration: {}", self.level.word(), self.level_reason.as_ref()?))
    }
}

/// One item for which a rule passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub subject: String,
    /// Frame numbers, as in a finding.
    pub frames: Vec<u64>,
}

/// What stood at a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    pub what: String,
    pub value: Value,
}

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
}

impl Subject {
    /// The noun for messages.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::Both => "conversation",
            Self::Gateway => "gateway",
        }
    }

    // Reports on servers omit the subject, as they did before other subjects existed. Serde requires a reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_server(&self) -> bool {
        *self == Self::Server
    }
}

/// What was tested, as far as it may be shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetReport {
    /// Whether it is a server, a client, a gateway, or a client and a server as they were recorded.
    #[serde(default, skip_serializing_if = "Subject::is_server")]
    pub subject: Subject,
    /// As a user would type it: a command line, or a URL. No secrets.
    pub name: String,
    /// The options of `mcp-conform run` that name it. No secrets.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub options: String,
    /// What starts it, for a shell; a value that may be secret stands as a variable. Absent over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The configuration that was read, as seen from where the run was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    pub transport: String,
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
    /// The parts of a run that it holds (`hash:1/4`); absent where it is the whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partition: Vec<String>,
    /// Why the run ended before all was asked, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
    pub exit_code: u8,
    pub totals: Totals,
    /// Entries of the list of known failures that nothing fails for any more, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<String>,
    /// Limits that kept something from being looked at, one line each: rules say nothing about what lies beyond.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// One line each: what was not judged and why, how the server ended.
    pub notes: Vec<String>,
    pub rules: Vec<RuleResult>,
    /// What went over the wire, in short, and from the beginning as far as it is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<Moment>,
    /// Frames that came after those in `timeline`, which has no room for them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub timeline_left_out: usize,
    /// The generated calls, of each tool, prompt, template, completion and list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallCounts>,
    /// What a gateway costs, if it was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cost: Vec<CostRow>,
    /// How the resources hang together, where they were walked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<Graph>,
}

impl RunReport {
    /// Why there are no results, where the run ended before there were any: then it is the first note.
    pub fn cause(&self) -> Option<&str> {
        let has_ended = self.rules.is_empty() && !matches!(self.exit_code, 0 | 1 | 4);
        self.notes.first().filter(|_| has_ended).map(String::as_str)
    }
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
}

/// A frame in a few words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moment {
    pub frame: u64,
    /// Since the run began.
    pub microseconds: u64,
    pub connection: u32,
    /// `client` or `server`.
    pub from: String,
    pub what: String,
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Graph {
    /// Those that a list without a parent has, first.
    pub nodes: Vec<GraphNode>,
    /// How many of them are in that list.
    pub roots: usize,
    /// Why it is not all there.
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

/// A value that is written is there, even where it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

// Called by serde, which passes a reference.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
