//! The program against misbehaving servers: it ends in time, reports the problem in helpful words, judges what it can,
//! uses bounded memory and leaves nothing behind.
//!
//! Servers over stdio are this program, started as `behave NAME`; those over HTTP are threads in it. With
//! `MCP_CONFORM_TABLE=PATH` every run adds a line of measurements to that file.

mod cases;
mod early;
mod given_up;
mod good;
mod http;
mod passes;
mod run;
mod secrets;
mod stdio;

use std::{env, process::ExitCode};

use libtest_mimic::Arguments;

/// Concurrent tests, unless `--test-threads` is given. Most of a test is waiting.
const AT_ONCE: usize = 6;

fn main() -> ExitCode {
    let typed: Vec<String> = env::args().collect();
    if let [_, behave, how] = typed.as_slice()
        && behave == "behave"
    {
        match how.as_str() {
            "echoes" => secrets::echo_over_stdio(),
            _ => stdio::behave(how),
        }
    }
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let suites = [cases::all(), early::all(), given_up::all(), secrets::all(), passes::all()];
    let tests = suites.into_iter().flatten().collect();
    libtest_mimic::run(&arguments, tests).exit_code()
}
