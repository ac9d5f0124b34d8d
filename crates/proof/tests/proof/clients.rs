//! One test for each fault of the reference client: the rules that name it fail. Of the rules that judge the same
//! scenarios, no others fail except those that the fault declares. One test for each revision and transport, and for
//! each variation: no rule fails.
//!
//! The client runs inside this process, with a clock that advances when both sides wait. Some trials are repeated with
//! real processes, sockets and time.

use std::{path::Path, sync::Arc};

use conform_proof::client_trials;
use libtest_mimic::{Failed, Trial as Test};
use mcp_conform::{evidence::Side, run::load};

use crate::PROGRAM;

/// Trials for the largest differences between a process and its simulation: exit, signals, pipes, and connections.
const REAL: [&str; 8] = [
    "stderr-must-be-utf8",
    "stderr-never-read",
    "terminates-right-after-stdin",
    "kills-at-once",
    "restart-without-handshake",
    "session-not-restarted",
    "retry-ignored",
    "idle-stream-closed",
];

pub fn tests() -> Vec<Test> {
    let suites = Arc::new(load(&[Side::Client], &[], false).expect("the built-in suites load"));
    let mut tests = Vec::new();
    for trial in client_trials(&suites) {
        let real = trial.fault.is_some_and(|fault| REAL.contains(&fault)).then_some(Path::new(PROGRAM));
        for program in [None].into_iter().chain(real.map(Some)) {
            let (trial, suites) = (trial.clone(), Arc::clone(&suites));
            let name = trial.name() + if program.is_some() { " (real)" } else { "" };
            tests.push(Test::test(name, move || {
                let flaws = trial.found(&suites, program)?.flaws;
                if flaws.is_empty() { Ok(()) } else { Err(Failed::from(flaws.join("\n"))) }
            }));
        }
    }
    tests
}
