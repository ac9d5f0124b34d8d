//! One test for each fault of the reference server. A rule that names it detects it wherever it can show, that is, in
//! every revision and over every transport. Each rule that names it does so in at least one place. One test for each
//! revision and transport: the faultless server passes. One test for each conversation with a real server in
//! `recorded`: its verdicts are the recorded ones. `MCP_CONFORM_BLESS=1` records them.

use std::{env, path::Path, process::ExitCode, sync::Arc};

use libtest_mimic::{Arguments, Failed, Trial as Test};
use mcp_conform::{
    evidence::Transport,
    plan::Filter,
    revision::Revision,
    run::{Matrix, Recording, Trial, built_in, trials},
    suite::Suite,
};

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let suites = Arc::new(built_in().expect("the built-in suites load"));
    let all = trials(&Revision::ALL, &Transport::ALL);
    let (faultless, faulty): (Vec<Trial>, Vec<Trial>) = all.into_iter().partition(|trial| trial.fault.is_none());

    let alone = faultless.iter().map(|trial| (trial.name(), std::slice::from_ref(trial)));
    let together = faulty.chunk_by(|a, b| a.fault == b.fault);
    let by_fault = together.map(|trials| (trials[0].fault.clone().unwrap_or_default(), trials));
    let tests = alone.chain(by_fault).map(|(name, trials)| {
        let (suites, trials) = (Arc::clone(&suites), trials.to_vec());
        Test::test(name, move || prove(&trials, &suites))
    });
    let recorded = Recording::all(Path::new("tests/recorded")).into_iter().map(|recording| {
        let suites = Arc::clone(&suites);
        Test::test(format!("recorded {}", recording.name), move || judge(&recording, &suites))
    });
    libtest_mimic::run(&arguments, tests.chain(recorded).collect()).exit_code()
}

fn judge(recording: &Recording, suites: &[Suite]) -> Result<(), Failed> {
    if env::var_os("MCP_CONFORM_BLESS").is_some() {
        return Ok(recording.record(suites)?);
    }
    let differences = recording.differences(suites, &Filter::default())?;
    let told =
        || format!("{}\nIf these verdicts are correct, MCP_CONFORM_BLESS=1 records them", differences.join("\n"));
    if differences.is_empty() { Ok(()) } else { Err(told().into()) }
}

fn prove(trials: &[Trial], suites: &[Suite]) -> Result<(), Failed> {
    let mut matrix = Matrix::default();
    for trial in trials {
        matrix.add(trial, &trial.run(suites, None));
    }
    let flaws = matrix.flaws(suites, true);
    if flaws.is_empty() { Ok(()) } else { Err(flaws.join("\n").into()) }
}
