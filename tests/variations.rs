//! One test for each variation of the reference server: it changes no verdict but those that it names.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use libtest_mimic::{Arguments, Failed, Trial as Test};
use mcp_conform::{
    run::{Trial, VARIED, Variations, built_in, variation_trials},
    suite::Suite,
};

/// Tests at once, unless `--test-threads` says otherwise. Most of a trial is waiting.
const AT_ONCE: usize = 8;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let suites = Arc::new(built_in().expect("the built-in suites load"));
    let tests = variation_trials(&VARIED).into_iter().map(|trial| {
        let suites = Arc::clone(&suites);
        Test::test(trial.name(), move || prove(&trial, &suites))
    });
    libtest_mimic::run(&arguments, tests.collect()).exit_code()
}

fn prove(trial: &Trial, suites: &[Suite]) -> Result<(), Failed> {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_mcp-conform"));
    let mut variations = Variations::default();
    variations.add(trial, &trial.run(suites, &program));
    let flaws = variations.flaws();
    if flaws.is_empty() { Ok(()) } else { Err(flaws.join("\n").into()) }
}
