//! Whether a report follows from a transcript.

use crate::outcome::{Finding, RuleResult, RunReport, Status};

/// What a report has that judging the transcript again does not give, one line each, and the failures that the report
/// accepts.
pub struct Compared {
    pub differences: Vec<String>,
    pub accepted: usize,
}

pub fn compare(told: &RunReport, judged: &RunReport) -> Compared {
    let mut differences = Vec::new();
    let about = |report: &RunReport| (report.target.name.clone(), report.started, report.revisions.clone());
    if about(told) != about(judged) {
        let of = |report: &RunReport| format!("{} at {} s", report.target.name, report.started);
        differences.push(format!("the report is of {}, the transcript of {}", of(told), of(judged)));
    }
    let mut accepted = 0;
    for rule in &told.rules {
        match judged.rules.iter().find(|again| is_same(again, rule)) {
            None => differences.push(format!("{}: {} in the report, not judged", rule.id, rule.status.word())),
            Some(again) if rule.status == Status::Known && fails(again, told.strict) => accepted += 1,
            Some(again) if again.status != rule.status => {
                let (one, other) = (rule.status.word(), again.status.word());
                differences.push(format!("{}: {one} in the report, {other} when judged again", rule.id));
            }
            Some(again) => {
                // A list of known failures removes some of them.
                let is_found = |finding: &&Finding| again.findings.iter().any(|other| other.line() == finding.line());
                let other = rule.findings.iter().find(|finding| !is_found(finding));
                differences.extend(other.map(|finding| format!("{}: not found again: {}", rule.id, finding.line())));
            }
        }
    }
    let missing = judged.rules.iter().filter(|again| !told.rules.iter().any(|rule| is_same(rule, again)));
    differences.extend(missing.map(|rule| format!("{}: {}, missing in the report", rule.id, rule.status.word())));
    let mut summed = told.clone();
    crate::assess::verdict::total(&mut summed);
    // A run that was interrupted or had no results has an exit code of its own.
    if told.exit_code <= 1 && summed.exit_code != told.exit_code {
        let (one, other) = (told.exit_code, summed.exit_code);
        differences.push(format!("exit code {one} in the report, {other} by its results"));
    }
    Compared { differences, accepted }
}

fn is_same(one: &RuleResult, other: &RuleResult) -> bool {
    one.id == other.id && one.revision == other.revision
}

fn fails(rule: &RuleResult, strict: bool) -> bool {
    rule.status == Status::Fail || (strict && rule.status == Status::Warn)
}
