//! The result of one rule, with its findings.

use indexmap::{IndexMap, IndexSet};
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

    /// What SDKs do in these findings, each defect once, and in how many of them if not in all.
    pub fn part_of_sdk(&self) -> Vec<String> {
        let mut counts: IndexMap<String, usize> = IndexMap::new();
        for defect in self.findings.iter().filter_map(|finding| finding.sdk.as_ref()) {
            *counts.entry(defect.told()).or_default() += 1;
        }
        let all = self.findings.len();
        let told = counts.into_iter();
        told.map(|(told, count)| if count < all { format!("{count} of {all} findings: {told}") } else { told })
            .collect()
    }

    /// How to fix it: what the SDK permits for findings that certainly come from it, and what the rule says for the others.
    pub fn fixes(&self) -> Vec<Fix> {
        let defects: Vec<&SdkDefect> = self.findings.iter().filter_map(|finding| finding.sdk.as_deref()).collect();
        let certain = defects.iter().filter(|defect| defect.is_certain());
        let workarounds: IndexSet<String> = certain.map(|defect| defect.way_out()).collect();
        let mut fixes: Vec<Fix> = workarounds.into_iter().map(|text| Fix { text, is_code: true }).collect();
        if let Some(hint) = self.hint.as_deref().filter(|_| !self.is_in_sdk()) {
            let whose = match defects.len() {
                0 => "",
                all if all == self.findings.len() => "If it is your code: ",
                _ => "For the other findings: ",
            };
            fixes.push(Fix { text: format!("{whose}{}", hint.trim()), is_code: false });
        }
        fixes
    }

    /// The level that the configuration gives the rule, as a line of a report.
    pub fn given_level(&self) -> Option<String> {
        Some(format!("{}, set in the configuration: {}", self.level.word(), self.level_reason.as_ref()?))
    }
}

/// One way to fix the findings of a rule, or some of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub text: String,
    /// Its lines after the first are code, which keeps its indentation.
    pub is_code: bool,
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// One finding for each: `None` is the author's, otherwise the version of the SDK, if known, and its workaround.
    fn rule(findings: &[Option<(Option<&str>, &str)>]) -> RuleResult {
        let defect = |(version, workaround): &(Option<&str>, &str)| json!({ "package": "mcp", "version": version, "defect": "exits", "workaround": workaround });
        let finding = |of: &Option<_>| json!({ "subject": "", "message": "", "sdk": of.as_ref().map(defect) });
        let findings: Vec<Value> = findings.iter().map(finding).collect();
        let rule = json!({
            "id": "a", "suite": "s", "revision": "2025-11-25", "level": "must", "status": "fail", "statement": "",
            "source": "", "hint": "Catch it.", "checked": 1, "findings": findings,
        });
        serde_json::from_value(rule).expect("a rule")
    }

    fn fixes(findings: &[Option<(Option<&str>, &str)>]) -> Vec<String> {
        rule(findings).fixes().into_iter().map(|fix| fix.text).collect()
    }

    #[test]
    fn the_fix_of_the_rule_is_only_for_findings_that_are_not_certainly_of_the_sdk() {
        let (one, two) = (Some((Some("1.0"), "Update to 1.2.")), Some((Some("1.0"), "Update to 1.3.")));
        let probable = Some((None, "Update to 1.2."));
        assert_eq!(fixes(&[None]), ["Catch it."]);
        assert_eq!(fixes(&[one, two, one]), ["Update to 1.2.", "Update to 1.3."]);
        assert_eq!(fixes(&[one, None]), ["Update to 1.2.", "For the other findings: Catch it."]);
        assert_eq!(fixes(&[probable]), ["If it is your code: Catch it."]);
        assert_eq!(fixes(&[one, probable]), ["Update to 1.2.", "If it is your code: Catch it."]);
        assert_eq!(rule(&[one, one]).part_of_sdk(), ["not your code: mcp exits (1.0 here)"]);
        assert!(rule(&[one, None]).part_of_sdk()[0].starts_with("1 of 2 findings: not your code: "));
    }
}
