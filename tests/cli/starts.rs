//! The number of starts of a server over stdio.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

use super::{PROGRAM, ran};

/// The connections of a run against this shell command.
fn connections(script: &str, more: &str) -> BTreeSet<u64> {
    let directory = tempfile::tempdir().unwrap();
    let transcript = directory.path().join("run.jsonl");
    let run = ["run", "--transcript", transcript.to_str().unwrap(), "--stdio", &format!("sh -c '{script}'")];
    let ran = ran(run.into_iter().chain(more.split(' ')));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let told = fs::read_to_string(&transcript).unwrap();
    let lines = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter_map(|line| line["frame"]["link"].as_u64()).collect()
}

/// Longer than the usual timeout of the first message.
#[cfg(target_os = "linux")]
#[test]
fn a_start_is_no_silence() {
    assert_eq!(connections(&format!("sleep 2; exec {PROGRAM} serve"), "--filter base.errors").len(), 1);
}

/// One for the survey, one to test whether the server supports two, one for each handshake.
#[test]
fn a_handshake_that_is_refused_is_followed_by_another_on_the_same_process() {
    let serve = format!("exec {PROGRAM} serve");
    let legacy = "--revision 2025-11-25 --filter base.negotiation";
    assert_eq!(connections(&serve, legacy).len(), 4);
}

/// A filter may leave out the rule that tells which request made a process exit.
#[cfg(unix)]
#[test]
fn a_server_that_exits_at_a_list_does_not_conform_to_the_rest() {
    let passes_on =
        "while read -r line; do case \"$line\" in *tools/list*) exit;; esac; printf \"%s\\n\" \"$line\"; done";
    let script = format!("{passes_on} | {PROGRAM} serve");
    let ran = ran(["run", "--filter", "tools.calls", "--", "sh", "-c", &script]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let told = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("did not survive the first requests, such as tools/list: exited with status 0"), "{told}");
}
