//! One test for each fault of the reference client: the rules that name it fail. Of the rules that judge the same
//! scenarios, no others fail except those that the fault declares. One test for each revision and transport, and for
//! each variation: no rule fails.
//!
//! The client runs inside this process, with a clock that advances when both sides wait. Some trials are repeated with
//! real processes, sockets and time.

use std::{path::Path, process::ExitCode, sync::Arc};

use libtest_mimic::{Arguments, Failed, Trial as Test};
use mcp_conform::{
    evidence::Side,
    run::{client_trials, load},
};

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-conform");

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

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    if cfg!(not(unix)) {
        eprintln!("skipped: clients are tested over stdio on Unix only");
        return ExitCode::SUCCESS;
    }
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
    libtest_mimic::run(&arguments, tests).exit_code()
}
