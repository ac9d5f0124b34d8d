//! What a named host makes of a server, next to the verdict and never part of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RuleResult, Status, Totals, is_zero};

/// What the user of a host loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// All tools of the server.
    Server,
    /// The tool.
    Tool,
    /// An argument of the tool.
    Argument,
    /// Text that the model does not see.
    Text,
    /// A constraint on arguments that the model does not see.
    Constraint,
}

impl Loss {
    pub const ALL: [(&'static str, Self); 5] = [
        ("server", Self::Server),
        ("tool", Self::Tool),
        ("argument", Self::Argument),
        ("text", Self::Text),
        ("constraint", Self::Constraint),
    ];

    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, loss)| *loss == self).map_or("", |(word, _)| word)
    }

    /// What is lost, as part of a sentence.
    pub const fn told(self) -> &'static str {
        match self {
            Self::Server => "all tools of the server",
            Self::Tool => "the tool",
            Self::Argument => "an argument",
            Self::Text => "text",
            Self::Constraint => "a constraint",
        }
    }
}

/// How it is known what a host does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostEvidence {
    pub lost: Loss,
    /// Pages, `repository#number`, or `repository@commit:path`.
    pub sources: Vec<String>,
    /// The date of the newest of them.
    pub seen: String,
    /// Such as `source` or `several threads with the host's error`.
    pub certainty: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_version: Option<String>,
    /// The part of a tool that the fix changes: `name`, `title`, `hints`, `description`, `input-schema`, `output-schema`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// How that is written with the SDK of the server, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_sdk: Option<InSdk>,
}

/// How a part of a tool is written with an SDK.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InSdk {
    pub sdk: String,
    pub code: String,
}

/// The results of one profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileReport {
    pub profile: String,
    /// The date of the snapshot.
    pub as_of: String,
    pub host: String,
    /// The profile that it extends, with its date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// The age of the snapshot when the server was tested, in days.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub age_days: usize,
    pub totals: Totals,
    /// How many tools the server lists.
    pub tools: usize,
    /// The tools that a rule rejects, drops or changes, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub affected: Vec<AffectedTool>,
    pub rules: Vec<RuleResult>,
}

/// What a host takes of a server, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Taken {
    Nothing,
    SomeTools,
    /// All tools, some of them with a change or a warning.
    Changed,
    Everything,
}

/// One tool, or the server as a whole, and a rule that it violates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AffectedTool {
    /// The name of the tool; empty for what is about the server or all of its tools.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    pub rule: String,
    pub lost: Loss,
    /// Whether the host rejects, drops or loses something; otherwise it cuts or ignores something.
    pub fails: bool,
}

fn tools_are(number: usize, of: usize) -> String {
    format!("{of} tools {}", if number == 1 { "is" } else { "are" })
}

/// A snapshot older than this is noted.
pub const OLD_DAYS: usize = 180;

impl ProfileReport {
    /// The name with the date: `vscode@2026-11-29`.
    pub fn dated(&self) -> String {
        format!("{}@{}", self.profile, self.as_of)
    }

    fn losing(&self) -> impl Iterator<Item = &AffectedTool> {
        self.affected.iter().filter(|one| one.fails && matches!(one.lost, Loss::Server | Loss::Tool))
    }

    /// How many tools are rejected for something of their own.
    pub fn rejected(&self) -> usize {
        let mut tools: Vec<&str> = self.losing().map(|one| one.tool.as_str()).filter(|tool| !tool.is_empty()).collect();
        tools.sort_unstable();
        tools.dedup();
        tools.len()
    }

    /// Whether the host loses the whole server.
    pub fn loses_server(&self) -> bool {
        self.losing().any(|one| one.lost == Loss::Server)
    }

    /// How many tools the host does not offer.
    pub fn lost(&self) -> usize {
        if self.loses_server() { self.tools } else { self.rejected() }
    }

    pub fn fails(&self) -> bool {
        self.count(Status::Fail) > 0
    }

    pub fn taken(&self) -> Taken {
        match self.rejected() {
            _ if self.loses_server() => Taken::Nothing,
            0 if self.fails() || self.count(Status::Warn) > 0 => Taken::Changed,
            0 => Taken::Everything,
            _ => Taken::SomeTools,
        }
    }

    pub fn count(&self, status: Status) -> usize {
        self.totals.by_status.get(&status).copied().unwrap_or(0)
    }

    /// What the host makes of the tools, in a few words.
    pub fn told(&self) -> String {
        let tools = self.tools;
        let (rejected, lost) = (self.rejected(), self.lost());
        match (rejected, lost) {
            (_, 0) if self.fails() && self.losing().count() == 0 => "no tool is lost, but parts are".to_owned(),
            (_, 0) if self.loses_server() => "the server is lost".to_owned(),
            (_, 0) => "no tool is lost".to_owned(),
            (0, lost) => format!("{lost} of {} lost", tools_are(lost, tools)),
            (rejected, lost) if rejected == lost => format!("{rejected} of {} lost", tools_are(lost, tools)),
            (rejected, lost) => format!("{rejected} of {} rejected, {lost} are lost", tools_are(rejected, tools)),
        }
    }
}
