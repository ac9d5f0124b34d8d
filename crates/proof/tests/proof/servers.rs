//! One test for each fault of the reference server. A rule that names it detects it wherever it can show, that is, in
//! every revision and over every transport. Each rule that names it does so in at least one place. One test for each
//! revision and transport: the faultless server passes. One test for each conversation with a real server in
//! `recorded`: its verdicts are the recorded ones. `MCP_CONFORM_BLESS=1` records them.

use std::{env, path::Path, sync::Arc};

use conform_proof::{Matrix, Recording};
use libtest_mimic::{Failed, Trial as Test};
use mcp_conform::{
    evidence::Side,
    plan::Filter,
    run::{
        inputs::profiles::with_suites,
        load,
        trials::{Trial, few_trials},
    },
    suite::Suite,
};

pub fn tests() -> impl Iterator<Item = Test> {
    let suites = Arc::new(with_suites().expect("the built-in suites load"));
    let (faultless, faulty): (Vec<Trial>, Vec<Trial>) =
        few_trials().into_iter().partition(|trial| trial.fault.is_none());

    let alone = faultless.into_iter().map(|trial| (trial.name(), vec![trial]));
    let together = faulty.chunk_by(|a, b| a.fault == b.fault);
    let by_fault = together.map(|trials| (trials[0].fault.clone().unwrap_or_default(), trials.to_vec()));
    let proofs: Vec<(String, Vec<Trial>)> = alone.chain(by_fault).collect();
    let recorded = Recording::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recorded"));
    let sides = [Side::Server, Side::AuthorizationServer];
    let for_recorded = Arc::new(load(&sides, &[], false).expect("the built-in suites load"));
    let tests = proofs.into_iter().map(move |(name, trials)| {
        let suites = Arc::clone(&suites);
        Test::test(name, move || prove(&trials, &suites))
    });
    tests.chain(recorded.into_iter().map(move |recording| {
        let suites = Arc::clone(&for_recorded);
        Test::test(format!("recorded {}", recording.name), move || judge(&recording, &suites))
    }))
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
    let flaws = matrix.flaws(suites, false);
    if flaws.is_empty() { Ok(()) } else { Err(flaws.join("\n").into()) }
}
