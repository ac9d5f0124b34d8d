//! The report as `JUnit` XML: a suite is a `testsuite`, a rule a `testcase`.
//!
//! A warning counts as passed and is explained in its output, because `JUnit` has no status between passed and failed.
//! Judging takes almost no time, so only the whole run has a duration.

use std::time::Duration;

use chrono::DateTime;
use indexmap::IndexMap;
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestRerun, TestSuite};

use super::{
    human::{ended, explanation},
    tally::standing,
    text::{flow, plain},
};
use conform_model::{
    outcome::{ProfileReport, RuleResult, RunReport, Status},
    revision::Revision,
};

pub(super) fn render(report: &RunReport, all: bool) -> String {
    let mut xml = Report::new(shown(&format!("{} {}", report.tool.name, report.target.name)));
    xml.set_time(Duration::from_millis(report.ms));
    if let Some(started) = i64::try_from(report.started).ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0)) {
        xml.set_timestamp(started);
    }
    xml.add_test_suites(suites(report, all));
    written(&xml)
}

pub(super) fn written(xml: &Report) -> String {
    let mut text = xml.to_string().expect("writing to memory does not fail");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Of each suite that was judged, and of the run itself if it failed. `all`: also rules that were not judged.
pub(super) fn suites(report: &RunReport, all: bool) -> Vec<TestSuite> {
    let mut suites: IndexMap<(&str, Revision), TestSuite> = IndexMap::new();
    // Most rules apply to other servers: as skipped tests they would hide the others.
    let unjudged = [Status::NotExercised, Status::NotApplicable];
    for rule in report.rules.iter().filter(|rule| all || !unjudged.contains(&rule.status)) {
        let suite = suites.entry((&rule.suite, rule.revision)).or_insert_with(|| suite(report, rule));
        suite.add_test_case(case(report, rule));
    }
    let mut suites: Vec<TestSuite> = suites.into_values().collect();
    suites.extend(report.profiles.iter().map(|profile| of_profile(report, profile, all)));
    if let Some(why) = ended(report) {
        let mut error = TestCaseStatus::non_success(NonSuccessKind::Error);
        error.set_type("not tested").set_message(shown(&why));
        suites.push(of_the_run(report, "run", error));
    }
    if let Some(first) = report.outdated.first() {
        let all: Vec<String> = report.outdated.iter().map(|entry| shown(entry)).collect();
        let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
        failure.set_type("outdated").set_message(shown(first)).set_description(all.join("\n"));
        suites.push(of_the_run(report, "known-failures", failure));
    }
    suites
}

/// The rules of a profile. Their failures are failed tests only where they fail the run.
fn of_profile(report: &RunReport, profile: &ProfileReport, all: bool) -> TestSuite {
    // Neither --strict nor several revisions have a meaning for a profile.
    let alone =
        RunReport { strict: false, revisions: Vec::new(), rules: Vec::new(), profiles: Vec::new(), ..report.clone() };
    let mut suite = TestSuite::new(shown(&format!("profile.{}", profile.profile)));
    suite.set_time(Duration::ZERO);
    suite.add_property(Property::new("as-of", shown(&profile.as_of)));
    let judged = |rule: &&RuleResult| all || !matches!(rule.status, Status::NotExercised | Status::NotApplicable);
    for rule in profile.rules.iter().filter(judged) {
        let tolerated = rule.status == Status::Fail && !report.fail_on_profile;
        let status = if tolerated { Status::Warn } else { rule.status };
        suite.add_test_case(case(&alone, &RuleResult { status, ..rule.clone() }));
    }
    suite
}

/// Failures of the run itself, as a suite with one test.
fn of_the_run(report: &RunReport, name: &str, status: TestCaseStatus) -> TestSuite {
    let mut case = TestCase::new(name, status);
    case.set_classname(shown(&report.tool.name)).set_time(Duration::ZERO);
    let mut suite = TestSuite::new(shown(&report.tool.name));
    suite.set_time(Duration::ZERO).add_test_case(case);
    suite
}

fn suite(report: &RunReport, rule: &RuleResult) -> TestSuite {
    let mut suite = TestSuite::new(suite_name(report, rule));
    suite.set_time(Duration::ZERO);
    for (name, value) in [("revision", rule.revision.as_str()), ("transport", &report.target.transport)] {
        suite.add_property(Property::new(name, shown(value)));
    }
    suite
}

/// One for each revision, if there are several.
fn suite_name(report: &RunReport, rule: &RuleResult) -> String {
    match report.revisions.len() {
        0 | 1 => shown(&rule.suite),
        _ => shown(&format!("{} ({})", rule.suite, rule.revision)),
    }
}

fn case(report: &RunReport, rule: &RuleResult) -> TestCase {
    let reason = || rule.reason.as_deref().map_or_else(|| "unknown reason".to_owned(), |reason| shown(&flow(reason)));
    let status = match standing(report, rule) {
        Status::Flaky if !report.is_flaky_failure(rule) => {
            let mut passed = TestCaseStatus::success();
            let mut first = TestRerun::new(NonSuccessKind::Failure);
            let messages: Vec<_> = rule.findings.iter().take(1).map(|finding| shown(&finding.message)).collect();
            first.set_type("flaky").set_message(messages.concat()).set_description(explanation(rule));
            passed.add_rerun(first);
            passed
        }
        Status::Fail | Status::Flaky => {
            let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let messages: Vec<_> = rule.findings.iter().take(1).map(|finding| shown(&finding.message)).collect();
            let kind = if rule.status == Status::Flaky { "flaky" } else { rule.level.word() };
            failure.set_type(kind).set_message(messages.concat()).set_description(explanation(rule));
            failure
        }
        Status::Broken => {
            let mut error = TestCaseStatus::non_success(NonSuccessKind::Error);
            error.set_type("broken").set_message(reason()).set_description(explanation(rule));
            error
        }
        Status::NotExercised | Status::NotApplicable | Status::Known => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(reason());
            skipped
        }
        Status::Pass | Status::Warn | Status::Advice | Status::Observed => TestCaseStatus::success(),
    };
    let mut case = TestCase::new(shown(&rule.id), status);
    // JUnit readers identify a test by class and name.
    case.set_classname(suite_name(report, rule)).set_time(Duration::ZERO);
    match standing(report, rule) {
        Status::Known => _ = case.set_system_out(format!("known to fail: {}", explanation(rule))),
        Status::Warn => _ = case.set_system_out(format!("warning: {}", explanation(rule))),
        Status::Advice => _ = case.set_system_out(format!("advice: {}", explanation(rule))),
        _ => {}
    }
    case
}

/// XML cannot contain most control characters, so they are escaped.
pub(super) fn shown(text: &str) -> String {
    plain(text).into_owned()
}
