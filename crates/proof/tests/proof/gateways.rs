//! One test for each fault of the reference gateway: the rules that name it fail, and no others except those that it
//! declares. One test for each pair of transports: no rule has a finding.

use std::{path::Path, sync::Arc};

use conform_proof::{GatewayTrial, gateway_trials};
use libtest_mimic::{Failed, Trial as Test};
use mcp_conform::{evidence::Side, run::load, suite::Suite};

use crate::PROGRAM;

pub fn tests() -> Vec<Test> {
    let suites = Arc::new(load(&[Side::Gateway], &[], false).expect("the built-in suites load"));
    gateway_trials(&suites)
        .into_iter()
        .map(|trial| {
            let suites = Arc::clone(&suites);
            Test::test(trial.name(), move || prove(&trial, &suites))
        })
        .collect()
}

fn prove(trial: &GatewayTrial, suites: &[Suite]) -> Result<(), Failed> {
    let flaws = trial.flaws(suites, Path::new(PROGRAM))?;
    if flaws.is_empty() { Ok(()) } else { Err(flaws.join("\n").into()) }
}
