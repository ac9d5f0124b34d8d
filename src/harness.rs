//! The rules as tests of `cargo test`, for servers written in Rust.
//!
//! Three lines in `tests/conformance.rs`, with `harness = false` for that test in `Cargo.toml`:
//!
//! ```no_run
//! # macro_rules! env { ($name:literal) => { "./my-server" } }
//! fn main() -> std::process::ExitCode {
//!     mcp_conform::tests(["--", env!("CARGO_BIN_EXE_my-server")])
//! }
//! ```
//!
//! The variable has the path of the program `my-server` in the same package, which cargo builds first.

use std::{
    ffi::OsString,
    process::ExitCode,
    sync::{Arc, OnceLock},
};

use clap::Parser;
use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::{
    cli::{Cli, Command, RunArgs},
    error::{Error, exit},
    evidence::Side,
    outcome::{Level, RuleResult, RunReport, Status},
    plan::Filter,
    report,
    run::{self, Interrupts, Surroundings},
};

/// The test for everything that concerns no single rule: whether the server could be tested, and which entries of the
/// baseline are stale.
const WHOLE: &str = "run";

/// Tests a server: each rule is a test of the name `SUITE::RULE`.
///
/// The arguments are those of `mcp-conform run`, such as `--stdio`, `--baseline`, `--suite` or `--strict`. Those of the
/// process are what `cargo test -- ...` passes on. The server is started when the first test needs it, and gets only
/// the requests that the selected tests need. Rules that could not be tested, and known failures, are ignored with the
/// reason.
pub fn tests<A: Into<OsString>>(arguments: impl IntoIterator<Item = A>) -> ExitCode {
    let libtest = Arguments::from_args();
    let typed = ["mcp-conform", "run"].map(OsString::from).into_iter().chain(arguments.into_iter().map(Into::into));
    let args = match Cli::try_parse_from(typed) {
        Ok(Cli { command: Command::Run(args), .. }) => args,
        Ok(_) => return ExitCode::from(exit::USAGE),
        Err(error) => error.exit(),
    };
    match trials(&args, &libtest) {
        Ok(trials) => libtest_mimic::run(&libtest, trials).exit_code(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn trials(args: &RunArgs, libtest: &Arguments) -> Result<Vec<Trial>, Error> {
    let surroundings = Surroundings::of_process(false, 100);
    let mut args = run::with_settings(args, &surroundings);
    let names = names(&args, &surroundings)?;
    let chosen = |name: &str| !libtest.is_filtered_out(&Trial::test(name, || Ok(())));
    if !chosen(WHOLE) {
        let rules = names.iter().filter(|name| chosen(name)).filter_map(|name| name.split("::").nth(1));
        args.scope.select.filter = rules.map(str::to_owned).collect();
    }

    let run = Arc::new(Run { args, surroundings, report: OnceLock::new() });
    let whole = Arc::clone(&run);
    let mut trials = vec![Trial::test(WHOLE, move || conclusion(whole.report()))];
    for name in names {
        let run = Arc::clone(&run);
        trials.push(Trial::ignorable_test(name.clone(), move || match run.report() {
            Ok(report) => verdict(report, &name),
            Err(_) => Ok(Completion::ignored_with("the server could not be tested")),
        }));
    }
    Ok(trials)
}

/// The rules that can fail, as `SUITE::RULE`.
fn names(args: &RunArgs, surroundings: &Surroundings) -> Result<Vec<String>, Error> {
    let suites = run::load(&[Side::Server], &run::own_suites(args, surroundings)?, false)?;
    let filter = Filter::new(&args.scope.select.terms(), &suites)?;
    let mut names = Vec::new();
    for suite in &suites {
        let rules = suite.rules.iter().filter(|rule| filter.selects(suite, rule));
        let rules = rules.filter(|rule| matches!(rule.level, Level::Must | Level::Should));
        names.extend(rules.map(|rule| format!("{}::{}", suite.id, rule.id)));
    }
    Ok(names)
}

/// The run that all tests share.
struct Run {
    args: RunArgs,
    surroundings: Surroundings,
    report: OnceLock<Result<RunReport, String>>,
}

impl Run {
    fn report(&self) -> Result<&RunReport, &str> {
        let run = || {
            let tested = run::tested(&self.args, &self.surroundings, &Interrupts::listen());
            let tested = tested.map_err(|error| error.to_string())?;
            tested.failure.map_or(Ok(tested.report), |error| Err(error.to_string()))
        };
        self.report.get_or_init(run).as_ref().map_err(String::as_str)
    }
}

fn conclusion(report: Result<&RunReport, &str>) -> Result<(), Failed> {
    let report = report?;
    let is_told_by_a_rule = report.rules.iter().any(|rule| is_failure(report, rule));
    if report.exit_code == exit::CONFORMING || is_told_by_a_rule {
        return Ok(());
    }
    Err(format!("exit code {}\n{}", report.exit_code, report.notes.join("\n")).into())
}

/// The result of one rule, in all tested revisions.
fn verdict(report: &RunReport, name: &str) -> Result<Completion, Failed> {
    let results = || report.rules.iter().filter(|rule| format!("{}::{}", rule.suite, rule.id) == name);
    let failures: Vec<_> = results().filter(|rule| is_failure(report, rule)).map(report::explanation).collect();
    if !failures.is_empty() {
        return Err(failures.join("\n").into());
    }
    if results().any(|rule| matches!(rule.status, Status::Pass | Status::Warn)) {
        return Ok(Completion::Completed);
    }
    let reason = results().find_map(|rule| Some(format!("{}: {}", rule.status.word(), rule.reason.as_deref()?)));
    Ok(Completion::ignored_with(reason.unwrap_or_else(|| Status::NotExercised.word().to_owned())))
}

fn is_failure(report: &RunReport, rule: &RuleResult) -> bool {
    matches!(rule.status, Status::Fail | Status::Broken)
        || report.is_flaky_failure(rule)
        || (report.strict && rule.status == Status::Warn)
}

#[cfg(test)]
mod tests {
    use std::slice;

    use serde_json::json;

    use super::*;

    fn report(strict: bool, exit_code: u8, status: &str) -> RunReport {
        let rule = json!({
            "id": "the-rule", "suite": "the.suite", "revision": "2025-06-18", "level": "should", "status": status,
            "statement": "The server SHOULD be kind", "source": "our house rules", "checked": 1, "reason": "for a reason",
            "findings": [{ "subject": "file:///a", "message": "was rude" }],
        });
        let report = json!({
            "schema": 1, "tool": { "name": "mcp-conform", "version": "0" },
            "target": { "name": "x", "transport": "stdio", "revisions": [] },
            "revisions": ["2025-06-18"], "started": 0, "ms": 0, "strict": strict, "exit_code": exit_code,
            "totals": { "rules": 1, "by_status": {} }, "notes": ["a note"], "rules": [rule],
        });
        serde_json::from_value(report).unwrap()
    }

    fn of_rule(strict: bool, status: &str) -> String {
        match verdict(&report(strict, 0, status), "the.suite::the-rule") {
            Ok(Completion::Completed) => "passed".to_owned(),
            Ok(Completion::Ignored { reason }) => reason.unwrap_or_default(),
            Err(failed) => failed.message().unwrap_or_default().to_owned(),
        }
    }

    #[test]
    fn a_test_fails_where_the_run_would() {
        assert_eq!(of_rule(false, "pass"), "passed");
        assert_eq!(of_rule(false, "warn"), "passed");
        for (strict, status) in [(false, "fail"), (false, "broken"), (true, "warn")] {
            let said = of_rule(strict, status);
            assert!(said.contains("SHOULD be kind") && said.contains("was rude"), "{status}: {said}");
        }
    }

    #[test]
    fn what_was_not_judged_is_ignored_with_the_reason() {
        for (status, word) in
            [("not-exercised", "not exercised"), ("not-applicable", "not applicable"), ("known", "known")]
        {
            assert_eq!(of_rule(true, status), format!("{word}: for a reason"));
        }
    }

    #[test]
    fn what_no_rule_tells_fails_as_the_run() {
        assert!(conclusion(Ok(&report(false, exit::CONFORMING, "pass"))).is_ok());
        assert!(conclusion(Ok(&report(false, exit::FAILED, "fail"))).is_ok(), "the rule tells it");
        let stale = conclusion(Ok(&report(false, exit::FAILED, "pass"))).unwrap_err();
        assert_eq!(stale.message(), Some("exit code 1\na note"));
        let gone = conclusion(Err("the server could not be started")).unwrap_err();
        assert_eq!(gone.message(), Some("the server could not be started"));
    }

    #[test]
    fn a_mistake_is_told_before_anything_is_started() {
        let typed = ["mcp-conform", "run", "--reference", "--filter", "no-such-rule"];
        let Command::Run(args) = Cli::parse_from(typed).command else { panic!("a run") };
        let Err(error) = trials(&args, &Arguments::from_iter(slice::from_ref(&"test"))) else { panic!("a mistake") };
        assert!(error.to_string().contains("no-such-rule"), "{error}");
    }
}
