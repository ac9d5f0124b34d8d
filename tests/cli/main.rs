//! The program as users see it: commands in, output and exit code out.

mod auth_server;
mod authorization;
mod baseline;
mod bundle;
mod by_hand;
mod clients;
mod commands;
mod configured;
mod docs;
mod evidence;
mod examples;
mod exit_codes;
mod far;
mod flaky;
mod generate;
mod huge;
mod instances;
mod leftovers;
mod limits;
mod matrix;
mod partition;
mod permission;
mod probes;
mod profiles;
#[cfg(target_os = "linux")]
mod progress;
mod readme;
mod recipes;
mod replay;
mod reports;
mod samples;
mod server;
mod starts;
mod stopping;
mod stumbles;
mod unreachable;
mod usage;
mod watch;

use std::{path::Path, thread, time::Duration};

use assert_cmd::Command;
use regex::Regex;
use serde_json::Value;
use similar::TextDiff;

/// The result of one command.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-conform");

/// Runs the program in the directory of the crate, independent of the surrounding terminal.
fn ran<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Ran {
    let mut command = Command::new(PROGRAM);
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    let output = command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args)
        .timeout(Duration::from_secs(120))
        .output()
        .expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran {
        code: output.status.code().expect("it ended by itself"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Runs a command line that needs no quotes.
fn typed(line: &str) -> Ran {
    ran(line.split_whitespace())
}

/// A run with a JSON report, and its exit code.
fn report(line: &str) -> (Value, i32) {
    let Ran { code, stdout, stderr } = typed(&format!("{line} --report json"));
    let report = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{line}: no report: {stdout}{stderr}"));
    (report, code)
}

/// Proves all of them, a few at a time: what they do is mostly waiting.
fn at_once<T: Sync>(all: &[T], prove: impl Fn(&T) + Sync) {
    thread::scope(|scope| {
        for part in all.chunks(all.len().div_ceil(5)) {
            scope.spawn(|| part.iter().for_each(&prove));
        }
    });
}

/// Compares texts except for the duration of a run.
/// The text without what differs between runs: times, and the numbers of concurrent requests.
fn lasting(text: &str) -> String {
    let times = Regex::new(r"\d+ ms|\d+\.\d s").expect("a pattern");
    let numbers = Regex::new(r#"#\d+ +|"id":\d+"#).expect("a pattern");
    numbers.replace_all(&times.replace_all(text.trim_end(), "N ms"), "N ").into_owned()
}

fn assert_shown(shown: &str, expected: &str) {
    let (shown, expected) = (lasting(shown), lasting(expected));
    let diff = TextDiff::from_lines(&expected, &shown);
    assert!(shown == expected, "- expected  + shown\n{}", diff.unified_diff());
}

fn path(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}
