//! What a report says of a rule after its findings, besides the source.

use crate::human::{seen, with_sdk};
use conform_model::outcome::{Fix, RuleResult};

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
    let text = |label, text: String| Remark { label, text: text.trim().to_owned(), is_code: false };
    let of_sdk = rule.part_of_sdk().into_iter().map(move |told| text("sdk", told));
    let seen = rule.evidence.as_ref().map(|evidence| text("seen", seen(evidence, true)));
    let fixes = rule.fixes().into_iter().map(|Fix { text, is_code }| Remark { label: "fix", text, is_code });
    let rest = [
        ("with", rule.evidence.as_ref().and_then(with_sdk)),
        ("why", rule.derived.clone()),
        ("level", rule.given_level()),
        ("also", also),
    ];
    let rest = rest.into_iter().filter_map(move |(label, said)| Some(text(label, said?)));
    of_sdk.chain(seen).chain(fixes).chain(rest)
}
