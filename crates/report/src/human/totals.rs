//! The last lines: notes, the totals on one line, and the meaning of the exit code.

use indexmap::{IndexMap, IndexSet};

use super::page::{CYAN, FAINT, GREEN, MAGENTA, Page, RED, STRONG, TEXT, YELLOW, span};
use super::profiles;
use crate::{
    served,
    tally::{Tally, nothing_to_test, standing},
    text::plain,
};
use conform_model::outcome::{Compared, Level, ProfileReport, RuleResult, RunReport, Status, Subject};

pub fn notes(page: &mut Page, report: &RunReport) {
    page.gap();
    if !report.partition.is_empty() {
        let parts = report.partition.join(", ");
        page.hang(0, &[span(FAINT, "part  ")], TEXT, &plain(&format!("{parts} of the run")));
    }
    // What fails the run has its place in the recap.
    for note in report.notes.iter().filter(|note| !report.outdated.contains(note)) {
        page.hang(0, &[span(FAINT, "note  ")], TEXT, &plain(note));
    }
}

pub fn totals(page: &mut Page, report: &RunReport) {
    let tally = Tally::of(report);
    page.gap();
    let counts = [
        (Status::Fail, RED.bold(), "failed"),
        (Status::Flaky, YELLOW.bold(), "flaky"),
        (Status::Known, YELLOW, "known to fail"),
        (Status::Broken, MAGENTA.bold(), "broken"),
        (Status::Warn, YELLOW, if tally.count(Status::Warn) == 1 { "warning" } else { "warnings" }),
        (Status::Advice, CYAN, "advice"),
        (Status::Pass, GREEN, "passed"),
        (Status::NotExercised, TEXT, "not exercised"),
        (Status::NotApplicable, FAINT, "not applicable"),
    ];
    let nothing = nothing_to_test(report);
    let counts = counts.into_iter().map(|(status, ink, word)| (status, ink, tally.count(status), word));
    let parts = counts.filter(|(_, _, count, _)| *count > 0).map(|(status, ink, count, word)| match status {
        Status::NotExercised if nothing == count => (ink, format!("{count} {word} (nothing to test)")),
        Status::NotExercised if nothing > 0 => (ink, format!("{count} {word} ({nothing} had nothing to test)")),
        _ => (ink, format!("{count} {word}")),
    });
    let over =
        Some(report.revisions.len()).filter(|number| *number > 1).map(|number| (TEXT, format!("{number} revisions")));
    page.parts(over.into_iter().chain(parts).chain([(FAINT, duration(report.ms))]));
    let ink = if report.exit_code == 0 { GREEN } else { RED };
    let meaning = meaning(report);
    page.hang(0, &[span(ink.bold(), format!("exit {}", report.exit_code)), span(TEXT, "  ")], STRONG, &meaning);
    if !report.profiles.is_empty() {
        page.hang(0, &[span(FAINT, "profiles  ")], TEXT, &profiles::summed(report));
    }
}

const WRITE_BASELINE: &str = "--write-baseline known.toml accepts all current failures";

/// How a pipeline goes on with a server whose failures are not fixed yet.
pub fn accepting(page: &mut Page, report: &RunReport) {
    if report.exit_code != 1 || report.target.subject != Subject::Server || !report.outdated.is_empty() {
        return;
    }
    let any = |of: fn(&RunReport, &RuleResult) -> bool| report.rules.iter().any(|rule| of(report, rule));
    let ways = [
        (in_sdk(report) > 0, "--accept sdk accepts what its SDK does"),
        (any(RunReport::is_flaky_failure), "--flaky pass accepts what passes in a retry"),
        (any(|report, rule| standing(report, rule) == Status::Fail), WRITE_BASELINE),
    ];
    let ways: Vec<&str> = ways.into_iter().filter_map(|(applies, way)| applies.then_some(way)).collect();
    page.hang(0, &[span(FAINT, "accept  ")], FAINT, &ways.join("; "));
}

/// The meaning of the exit code, and a declared list that never works: most rules were not tested then.
pub fn meaning(report: &RunReport) -> String {
    let cut_short = report.cut_short.as_deref().filter(|_| report.exit_code == 1);
    let incomplete = cut_short.map(|why| format!(" The run is incomplete: {why}."));
    let unseen = report.compared.and_then(Compared::warning).filter(|_| report.exit_code <= 1);
    let unseen = unseen.map(|unseen| format!(" {unseen}."));
    let fails_by_profile = report.fail_on_profile
        && report.exit_code == 1
        && report.outdated.is_empty()
        && !report.rules.iter().any(|rule| matches!(standing(report, rule), Status::Fail | Status::Flaky));
    if fails_by_profile && report.profiles.iter().any(ProfileReport::fails) {
        let verdict = meaning(&RunReport { exit_code: 0, profiles: Vec::new(), ..report.clone() });
        return format!("{verdict} A profile fails the run (--fail-on profile).");
    }
    if report.exit_code == 0 && report.rules.is_empty() && !report.profiles.is_empty() {
        return "Only rules of profiles were selected, which are no verdict on the server.".to_owned();
    }
    let verdict = verdict(report) + &unseen.unwrap_or_default() + &incomplete.unwrap_or_default();
    let Some(failing) = served::failing(report).filter(|_| report.exit_code <= 1) else { return verdict };
    let (joint, no) = if report.exit_code == 0 { (", but", "no") } else { (".", "No") };
    format!("{}{joint} {no} {failing}.", verdict.trim_end_matches('.'))
}

fn verdict(report: &RunReport) -> String {
    // A rule counts once, even if it fails in several revisions.
    let failed: IndexMap<_, _> = report
        .rules
        .iter()
        .filter(|rule| standing(report, rule) == Status::Fail)
        .map(|rule| (&rule.id, rule.level))
        .collect();
    let counted = failed.values().filter(|level| **level != Level::Must).count();
    let noun = report.target.subject.noun();
    if report.target.subject == Subject::Both && report.exit_code == 1 && counted == 0 && !failed.is_empty() {
        return [Subject::Server, Subject::Client].map(|side| side_of(report, side)).join(" ");
    }
    let flaky = Tally::of(report).count(Status::Flaky);
    let are_flaky = if flaky == 1 { "1 rule is flaky".to_owned() } else { format!("{flaky} rules are flaky") };
    match (report.exit_code, failed.len()) {
        (0, 0) if flaky > 0 => format!("The {noun} conforms, but {are_flaky}."),
        (1, 0) if flaky > 0 && report.outdated.is_empty() => {
            format!("The {noun} does not always conform: {are_flaky}.")
        }
        (0, 0) if report.rules.iter().any(|rule| rule.status == Status::Known) => "All failures are known.".to_owned(),
        (0, 0) => match Tally::of(report).count(Status::Warn) {
            0 => format!("The {noun} conforms to all rules that were checked."),
            1 => format!("The {noun} conforms, with 1 warning."),
            number => format!("The {noun} conforms, with {number} warnings."),
        },
        (1, 0) => "No rule failed, but the list of known failures is outdated.".to_owned(),
        (1, number) => {
            let fails = if number == 1 { "rule fails" } else { "rules fail" };
            let strict = match (number, counted) {
                (_, 0) => String::new(),
                (1, _) => ", a SHOULD (strict)".to_owned(),
                _ => format!(", {counted} of them SHOULD (strict)"),
            };
            let sdk = match in_sdk(report) {
                0 => String::new(),
                some if some == number => ", in its SDK".to_owned(),
                some => format!(", {some} of them in its SDK"),
            };
            let once = if report.revisions.len() > 1 { ", counted once for all revisions" } else { "" };
            let flaky = if flaky > 0 { format!("; {are_flaky}") } else { String::new() };
            format!("The {noun} does not conform: {number} {fails}{sdk}{strict}{once}{flaky}.")
        }
        (2, _) => "Invalid command line, configuration or suite.".to_owned(),
        (3, _) if report.cause().is_some() => format!("The {noun} could not be tested."),
        (3, _) => match &report.cut_short {
            Some(why) => format!("The run is incomplete: {why}."),
            None => broken(report),
        },
        (4, _) => "No rule could be checked.".to_owned(),
        (_, 0) => "The run was interrupted; no rule had failed.".to_owned(),
        (_, number) => {
            let fails = if number == 1 { "rule had failed" } else { "rules had failed" };
            format!("The run was interrupted; {number} {fails}.")
        }
    }
}

/// The number of failing rules whose findings all come from the SDK.
fn in_sdk(report: &RunReport) -> usize {
    let failed = report.rules.iter().filter(|rule| standing(report, rule) == Status::Fail);
    let mut whose: IndexMap<&str, bool> = IndexMap::new();
    for rule in failed {
        *whose.entry(&rule.id).or_insert(true) &= rule.is_in_sdk();
    }
    whose.values().filter(|in_sdk| **in_sdk).count()
}

/// The result of the rules about one of both sides.
fn side_of(report: &RunReport, side: Subject) -> String {
    let failed = report.rules.iter().filter(|rule| rule.subject == side && standing(report, rule) == Status::Fail);
    let failed: IndexSet<_> = failed.map(|rule| &rule.id).collect();
    let noun = side.noun();
    match failed.len() {
        0 => format!("The {noun} conforms to all rules that were checked."),
        1 => format!("The {noun} does not conform: 1 rule fails."),
        number => format!("The {noun} does not conform: {number} rules fail."),
    }
}

/// Why rules are broken, if the reason is the same for all of them.
fn broken(report: &RunReport) -> String {
    let mut reasons =
        report.rules.iter().filter(|rule| rule.status == Status::Broken).map(|rule| rule.reason.as_deref());
    match reasons.next().flatten() {
        Some(reason) if reasons.all(|other| other == Some(reason)) => {
            format!("Some rules could not be judged: {reason}.")
        }
        _ => "Some rules could not be judged; see the broken rules.".to_owned(),
    }
}

/// The note for a run that ended early, shown with the results or in place of them.
pub fn ended(report: &RunReport) -> Option<String> {
    let early = || {
        report.cut_short.as_ref().map(|_| meaning(report)).filter(|_| report.exit_code == 3 || report.exit_code > 128)
    };
    report.cause().map(|cause| format!("{}: {cause}", meaning(report).trim_end_matches('.'))).or_else(early)
}

pub fn duration(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms / 1000 % 60),
    }
}
