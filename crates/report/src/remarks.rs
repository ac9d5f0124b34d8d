//! What a report says of a rule after its findings, besides the source.

use crate::human::{seen, with_sdk};
use conform_model::outcome::RuleResult;

pub struct Remark {
    pub label: &'static str,
    pub text: String,
    /// Its lines are code, which keeps its indentation.
    pub is_code: bool,
}

/// In the order in which they are shown.
pub fn remarks(rule: &RuleResult) -> impl Iterator<Item = Remark> {
    let also = (!rule.also.is_empty())
        .then(|| format!("{} (not judged in these messages until this is fixed)", rule.also.join(", ")));
    let said = [
        ("sdk", rule.part_of_sdk()),
        ("seen", rule.evidence.as_ref().map(|evidence| seen(evidence, true))),
        ("fix", rule.fix().map(str::to_owned)),
        ("with", rule.evidence.as_ref().and_then(with_sdk)),
        ("why", rule.derived.clone()),
        ("level", rule.given_level()),
        ("also", also),
    ];
    let is_workaround = rule.is_in_sdk();
    said.into_iter().filter_map(move |(label, text)| {
        Some(Remark { label, text: text?.trim().to_owned(), is_code: label == "fix" && is_workaround })
    })
}
