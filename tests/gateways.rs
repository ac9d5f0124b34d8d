//! One test for each fault of the reference gateway: the rules that name it fail, and no others except those that it
//! declares. One test for each pair of transports: no rule has a finding.

use std::{path::Path, process::ExitCode, sync::Arc};

use libtest_mimic::{Arguments, Failed, Trial as Test};
use mcp_conform::{
    evidence::Side,
    run::{GatewayTrial, gateway_trials, load},
    suite::Suite,
};

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const THREADS: usize = 12;
const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-conform");

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // The trials wait most of the time.
    arguments.test_threads.get_or_insert(THREADS);
    if cfg!(not(unix)) {
        eprintln!("skipped: gateways are tested over stdio on Unix only");
        return ExitCode::SUCCESS;
    }
    let suites = Arc::new(load(&[Side::Gateway], &[], false).expect("the built-in suites load"));
    let tests = gateway_trials(&suites).into_iter().map(|trial| {
        let suites = Arc::clone(&suites);
        Test::test(trial.name(), move || prove(&trial, &suites))
    });
    libtest_mimic::run(&arguments, tests.collect()).exit_code()
}

fn prove(trial: &GatewayTrial, suites: &[Suite]) -> Result<(), Failed> {
    let flaws = trial.flaws(suites, Path::new(PROGRAM))?;
    if flaws.is_empty() { Ok(()) } else { Err(flaws.join("\n").into()) }
}
