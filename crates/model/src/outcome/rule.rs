//! The result of one rule, with its findings.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{HostEvidence, Level, Needs, SdkDefect, Sender, Status, Subject, Unexercised, World, is_zero};
use crate::revision::Revision;

/// One violation of a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What it is about, as the server's author would name it: a URI, a method, a field.
    pub subject: String,
    /// Whether that name is new in each run, as that of a task is.
    #[serde(skip)]
    pub renamed_each_run: bool,
    /// One sentence: what was received and what was expected.
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
    /// The number of findings that differ from this one only in their place.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub alike: usize,
    /// About a client or gateway: what it was started with when it did this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<World>,
    /// The part of an SDK in it, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sdk: Option<Box<SdkDefect>>,
    /// A command that shows it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
    /// What shows it without this program, in a shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_hand: Option<String>,
    /// For a generated call: a suite with it, to paste into a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yaml: Option<String>,
}

impl Finding {
    /// What it is about, if it has a name, and the message.
    pub fn line(&self) -> String {
        if self.subject.is_empty() { self.message.clone() } else { format!("{}: {}", self.subject, self.message) }
    }
}

/// A frame as a report shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShownFrame {
    pub frame: u64,
    /// `client` or `server`; where a gateway is tested, `client`, `gateway` or `upstream`. If a finding is about several
    /// clients, `client 1`, and `to client 1` for what the gateway sent to it.
    #[schemars(with = "String")]
    pub from: Sender,
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
    /// Of a rule about a named host: how it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<HostEvidence>,
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
    /// Some subjects that pass, for verbose output.
    #[serde(skip)]
    pub held: Vec<Held>,
    /// Why it was not judged, or what broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it takes to exercise it, if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<Needs>,
    /// What a `may` rule saw.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<Observation>,
    /// Rules whose findings have the same cause and are folded under this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

impl RuleResult {
    /// Gives it a status that needs no reason.
    pub fn set_judged(&mut self, status: Status) {
        (self.status, self.reason, self.needs) = (status, None, None);
    }

    pub fn set_unexercised(&mut self, Unexercised { needs, text }: Unexercised) {
        (self.status, self.reason, self.needs) = (Status::NotExercised, Some(text), Some(needs));
    }

    /// Whether all findings certainly come from the SDK and not from the author's code.
    pub fn is_in_sdk(&self) -> bool {
        let is_certain = |finding: &Finding| finding.sdk.as_ref().is_some_and(|defect| defect.is_certain());
        !self.findings.is_empty() && self.findings.iter().all(is_certain)
    }

    /// What SDKs do in these findings.
    pub fn part_of_sdk(&self) -> Option<String> {
        let mut told: Vec<String> =
            self.findings.iter().filter_map(|finding| Some(finding.sdk.as_ref()?.told())).collect();
        told.dedup();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// How to fix it: as the rule says, or where that is not up to the author, as the SDK permits.
    pub fn fix(&self) -> Option<&str> {
        if self.is_in_sdk() { self.findings[0].sdk.as_ref()?.workaround.as_deref() } else { self.hint.as_deref() }
    }

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

/// The value at a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    pub what: String,
    pub value: Value,
}

/// A value in the report is present, even if it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
