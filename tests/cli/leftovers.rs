//! No process that a run started outlives it.
#![cfg(target_os = "linux")]

use std::{fs, path::Path};

use crate::{PROGRAM, ran};

/// Whether a process runs. A zombie does not.
fn runs(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

fn nothing_is_left(directory: &Path, server: &str, expected: i32) {
    let ids = directory.join("ids");
    let script = format!("echo $$ >>{ids}; sleep 1000 & echo $! >>{ids}; {server}", ids = ids.display());
    let ran = ran(["run", "--timeout", "1", "--filter", "base.lifecycle", "--", "sh", "-c", &script]);
    assert_eq!(ran.code, expected, "{}{}", ran.stdout, ran.stderr);
    let started = fs::read_to_string(ids).unwrap();
    assert!(started.lines().count() >= 2, "{started}");
    let left: Vec<_> = started.lines().filter(|id| runs(id)).collect();
    assert!(left.is_empty(), "of {started:?} these still run: {left:?}");
}

#[test]
fn after_a_run() {
    nothing_is_left(tempfile::tempdir().unwrap().path(), &format!("exec {PROGRAM} serve"), 0);
}

#[test]
fn after_a_server_that_never_answered() {
    nothing_is_left(tempfile::tempdir().unwrap().path(), "while read line; do :; done", 3);
}

#[test]
fn after_a_server_that_will_not_go() {
    nothing_is_left(tempfile::tempdir().unwrap().path(), "trap '' TERM; while :; do sleep 1; done", 3);
}
