//! One test for each fault of the reference client: the rules that name it find it, and of the rules that judge the same no
//! others do but the ones it declares. And one for each revision and transport and for each variation: no rule fails.

use std::{fs, path::Path, process::ExitCode, sync::Arc};

use libtest_mimic::{Arguments, Failed, Trial as Test};
use mcp_conform::{
    evidence::Side,
    run::{ClientTrial, client_trials, load},
    suite::Suite,
};

/// That of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Faults whose tests are ignored: gaps.
const UNPROVED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/unproved.txt");
const THREADS: usize = 4;
const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-conform");

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // The trials wait most of the time.
    arguments.test_threads.get_or_insert(THREADS);
    if cfg!(not(unix)) {
        eprintln!("skipped: clients are tested over stdio on Unix only");
        return ExitCode::SUCCESS;
    }
    let suites = Arc::new(load(&[Side::Client], &[], false).expect("the built-in suites load"));
    let listed = fs::read_to_string(UNPROVED).expect("the list is there");
    let tests = client_trials(&suites).into_iter().map(|trial| {
        let suites = Arc::clone(&suites);
        let unproved = trial.fault.or(trial.variation).is_some_and(|name| listed.lines().any(|line| line == name));
        Test::test(trial.name(), move || prove(&trial, &suites)).with_ignored_flag(unproved)
    });
    libtest_mimic::run(&arguments, tests.collect()).exit_code()
}

fn prove(trial: &ClientTrial, suites: &[Suite]) -> Result<(), Failed> {
    let flaws = trial.found(suites, None)?.flaws;
    if flaws.is_empty() { Ok(()) } else { Err(flaws.join("\n").into()) }
}
