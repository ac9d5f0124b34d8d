//! Proves the rules with the faults of the reference programs, and that conforming ones pass.
//!
//! Each fault of the reference server is tried in the oldest revision where it shows, over the first transport, and in the
//! newest, over the last. `proof mutants` tries each in each revision over each transport, and checks that they
//! violate no rules besides those that they declare.

mod clients;
mod gateways;
mod sdks;
mod servers;
mod variations;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial as Test, run};

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The reference client and gateway as processes.
const PROGRAM: &str = env!("CARGO_BIN_EXE_proof");

/// How many trials of gateways run at once: they wait most of the time.
const GATEWAYS: usize = 12;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let busy: Vec<Test> = servers::tests().chain(variations::tests()).chain(sdks::tests()).collect();
    let failed = run(&arguments, busy).has_failed();
    if cfg!(not(unix)) {
        eprintln!("skipped: clients and gateways are tested over stdio on Unix only");
        return ExitCode::from(u8::from(failed));
    }
    let failed = run(&arguments, clients::tests()).has_failed() | failed;
    let waiting = Arguments { test_threads: arguments.test_threads.or(Some(GATEWAYS)), ..arguments };
    ExitCode::from(u8::from(run(&waiting, gateways::tests()).has_failed() | failed))
}
