//! The report as TAP 14: a test point for each rule, with a YAML block for details.
//!
//! A warning is `ok`, because TAP has no status between passed and failed; its block says that it is a warning.

use std::fmt::Write as _;

use serde_json::Value;

use super::{
    human::{ended, explanation, meaning},
    tally::standing,
    text::{flow, plain},
};
use conform_model::outcome::{RuleResult, RunReport, Status};

pub(super) fn render(report: &RunReport) -> String {
    let bail_out = ended(report).map(|why| format!("Bail out! {}\n", description(&why))).unwrap_or_default();
    if report.counting().next().is_none() && !bail_out.is_empty() {
        return format!("TAP version 14\n{bail_out}");
    }
    let rules = report.counting().count();
    let points = rules + report.outdated.len();
    let mut tap = format!("TAP version 14\n1..{points}\n");
    for (index, rule) in report.counting().enumerate() {
        // Writing to a string does not fail.
        let _ = point(&mut tap, index + 1, report, rule);
    }
    for (number, entry) in (rules + 1..).zip(&report.outdated) {
        let _ = writeln!(tap, "not ok {number} - {}", description(entry));
    }
    let _ = writeln!(tap, "# {}", description(&meaning(report)));
    tap + &bail_out
}

fn point(tap: &mut String, number: usize, report: &RunReport, rule: &RuleResult) -> std::fmt::Result {
    let status = standing(report, rule);
    let fails = matches!(status, Status::Fail | Status::Broken | Status::Known) || report.is_flaky_failure(rule);
    let ok = if fails { "not ok" } else { "ok" };
    write!(tap, "{ok} {number} - {}", description(&rule.id))?;
    if report.revisions.len() > 1 {
        write!(tap, " ({})", rule.revision)?;
    }
    if matches!(status, Status::NotExercised | Status::NotApplicable) {
        let reason = rule.reason.as_deref().unwrap_or_default();
        return writeln!(tap, " # SKIP {}", description(reason));
    }
    if status == Status::Known {
        // TODO marks a test point that is expected to fail.
        write!(tap, " # TODO {}", description(rule.reason.as_deref().unwrap_or_default()))?;
    }
    tap.push('\n');
    if matches!(status, Status::Fail | Status::Flaky | Status::Known | Status::Broken | Status::Warn | Status::Advice) {
        let severity = serde_json::to_value(status).unwrap_or_default();
        let messages: Vec<String> = rule.findings.iter().map(|finding| plain(&finding.line()).into()).collect();
        writeln!(tap, "  ---")?;
        for (name, value) in [
            ("severity", severity),
            ("suite", plain(&rule.suite).into()),
            ("level", rule.level.word().into()),
            ("messages", messages.into()),
            ("explanation", explanation(rule).into()),
        ] {
            // JSON is valid YAML, and on one line it cannot end the block.
            writeln!(tap, "  {name}: {}", Value::to_string(&value))?;
        }
        writeln!(tap, "  ...")?;
    }
    Ok(())
}

/// Text on one line, without a TAP directive.
fn description(text: &str) -> String {
    plain(&flow(text)).replace('\\', "\\\\").replace('#', "\\#")
}
