//! One test for each variation of the reference server: it changes only the verdicts that it names, and each of them
//! somewhere.

use std::sync::Arc;

use conform_proof::Variations;
use libtest_mimic::{Failed, Trial as Test};
use mcp_conform::{
    revision::Revision,
    run::{
        inputs::profiles::with_suites,
        trials::{Trial, variation_trials},
    },
    suite::Suite,
};

pub fn tests() -> impl Iterator<Item = Test> {
    let suites = Arc::new(with_suites().expect("the built-in suites load"));
    let trials = variation_trials(&Revision::ALL);
    let trials: Vec<Vec<Trial>> = trials.chunk_by(|a, b| a.fault == b.fault).map(<[Trial]>::to_vec).collect();
    trials.into_iter().map(move |trials| {
        let suites = Arc::clone(&suites);
        let name = trials[0].fault.clone().unwrap_or_default();
        Test::test(format!("variation {name}"), move || prove(&trials, &suites))
    })
}

fn prove(trials: &[Trial], suites: &[Suite]) -> Result<(), Failed> {
    let mut variations = Variations::default();
    for trial in trials {
        variations.add(trial, &trial.run(suites, None));
    }
    let flaws = variations.flaws(true);
    if flaws.is_empty() { Ok(()) } else { Err(flaws.join("\n").into()) }
}
