//! From single results to the report: totals, and the overall result.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use indexmap::IndexMap;

use conform_model::{
    error::exit,
    outcome::{Flaky, REPORT_SCHEMA, RuleResult, RunReport, Status, TargetReport, Tool, Totals},
};

pub fn sum_up(
    target: TargetReport,
    rules: Vec<RuleResult>,
    notes: Vec<String>,
    cut_short: Option<String>,
    (strict, flaky): (bool, Flaky),
) -> RunReport {
    let mut report = RunReport {
        schema: REPORT_SCHEMA,
        tool: Tool { name: conform_model::PROGRAM.into(), version: conform_model::VERSION.into() },
        revisions: target.revisions.clone(),
        target,
        started: 0,
        ms: 0,
        strict,
        flaky,
        partition: Vec::new(),
        limits: Vec::new(),
        cut_short,
        exit_code: exit::CONFORMING,
        totals: Totals::default(),
        served: Vec::new(),
        outdated: Vec::new(),
        outdated_entries: Vec::new(),
        notes: counted(notes),
        rules,
        profiles: Vec::new(),
        fail_on_profile: false,
        timeline: Vec::new(),
        slowest: Vec::new(),
        timeline_left_out: 0,
        calls: Vec::new(),
        cost: Vec::new(),
        compared: None,
        graph: None,
    };
    total(&mut report);
    report
}

/// The report of a run that ended before any result. Its only note is the reason.
pub fn nothing(target: TargetReport, why: String, strict: bool, exit_code: u8) -> RunReport {
    RunReport { exit_code, ..sum_up(target, Vec::new(), vec![why], None, (strict, Flaky::default())) }
}

/// Same as [`nothing`], for a run that took this long and ends now.
pub fn without_results(target: TargetReport, why: String, took: Duration, strict: bool, exit_code: u8) -> RunReport {
    let began = SystemTime::now().checked_sub(took).and_then(|began| began.duration_since(UNIX_EPOCH).ok());
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    RunReport { started: began.unwrap_or_default().as_secs(), ms, ..nothing(target, why, strict, exit_code) }
}

/// Merges repeated notes.
fn counted(notes: Vec<String>) -> Vec<String> {
    let mut counts = IndexMap::new();
    for note in notes {
        *counts.entry(note).or_insert(0_usize) += 1;
    }
    let told = |(note, count)| if count == 1 { note } else { format!("{note} ({count} times)") };
    counts.into_iter().map(told).collect()
}

/// Counts the results again, and sets the overall result.
pub fn total(report: &mut RunReport) {
    let mut by_status = IndexMap::new();
    for rule in &report.rules {
        *by_status.entry(rule.status).or_insert(0) += 1;
    }
    by_status.sort_keys();
    report.exit_code = match exit_code(&by_status, report) {
        exit::FAILED => exit::FAILED,
        _ if report.cut_short.is_some() => exit::UNREACHABLE,
        exit::CONFORMING if !report.outdated.is_empty() => exit::FAILED,
        code => code,
    };
    report.totals = Totals { rules: report.rules.len(), by_status };
}

fn exit_code(totals: &IndexMap<Status, usize>, report: &RunReport) -> u8 {
    let count = |status| totals.get(&status).copied().unwrap_or(0);
    let judged = [Status::Pass, Status::Flaky, Status::Known, Status::Warn, Status::Advice, Status::Observed]
        .map(count)
        .iter()
        .sum::<usize>();
    match () {
        () if count(Status::Fail) > 0 || (report.strict && count(Status::Warn) > 0) => exit::FAILED,
        () if count(Status::Flaky) > 0 && report.flaky == Flaky::Fail => exit::FAILED,
        () if count(Status::Broken) > 0 => exit::UNREACHABLE,
        () if judged == 0 => exit::NOTHING_EXERCISED,
        () => exit::CONFORMING,
    }
}
