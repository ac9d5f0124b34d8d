//! A badge: what services such as shields.io read from a URL and draw.

use std::collections::HashMap;

use serde_json::json;

use super::human::{agreed, revisions};
use conform_model::outcome::{Level, RunReport, Status};

/// How many of the requirements that were judged are violated. A known violation is one, too.
pub(super) fn render(report: &RunReport) -> String {
    let mut judged: HashMap<&str, bool> = HashMap::new();
    for rule in report.rules.iter().filter(|rule| rule.level == Level::Must) {
        let is_violated = match rule.status {
            Status::Fail | Status::Flaky | Status::Known => true,
            Status::Pass => false,
            _ => continue,
        };
        // A rule counts once for all revisions.
        *judged.entry(&rule.id).or_default() |= is_violated;
    }
    let (all, violated) = (judged.len(), judged.values().filter(|violated| **violated).count());
    let is_whole = report.cut_short.is_none() && matches!(report.exit_code, 0 | 1);
    let (counts, color) = match (all, violated) {
        (0, _) => ("not tested".to_owned(), "lightgrey"),
        (_, 0) if is_whole => (format!("0 of {all} violated"), "brightgreen"),
        (_, 0) => (format!("0 of {all} violated, incomplete"), "yellow"),
        (..) => (format!("{violated} of {all} violated"), "red"),
    };
    let of = match agreed(report) {
        [] => String::new(),
        [one] => format!(", revision {one}"),
        several => format!(", revisions {}", revisions(several)),
    };
    let badge = json!({ "schemaVersion": 1, "label": "MCP MUST", "message": counts + &of, "color": color });
    format!("{badge:#}\n")
}
