//! One test for each variation of the reference server: it changes only the verdicts that it names, and each of them
//! somewhere.

use std::{process::ExitCode, sync::Arc};

use libtest_mimic::{Arguments, Failed, Trial as Test};
use mcp_conform::{
    revision::Revision,
    run::{Trial, Variations, built_in, variation_trials},
    suite::Suite,
};

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let suites = Arc::new(built_in().expect("the built-in suites load"));
    let trials = variation_trials(&Revision::ALL);
    let tests = trials.chunk_by(|a, b| a.fault == b.fault).map(|trials| {
        let (suites, trials) = (Arc::clone(&suites), trials.to_vec());
        Test::test(trials[0].fault.clone().unwrap_or_default(), move || prove(&trials, &suites))
    });
    libtest_mimic::run(&arguments, tests.collect()).exit_code()
}

fn prove(trials: &[Trial], suites: &[Suite]) -> Result<(), Failed> {
    let mut variations = Variations::default();
    for trial in trials {
        variations.add(trial, &trial.run(suites, None));
    }
    let flaws = variations.flaws(true);
    if flaws.is_empty() { Ok(()) } else { Err(flaws.join("\n").into()) }
}
