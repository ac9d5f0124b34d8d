//! Servers that support few concurrent instances, for example because they lock their data.
#![cfg(unix)]

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{PROGRAM, ran};

/// On the connection of the survey, on a second one, and on a separate one for each call.
const SUITES: [&str; 5] = ["resources.list", "base.ping", "base.ids", "base.negotiation", "base.first"];

/// The status of each rule if this many instances can run.
fn verdicts(places: usize, revision: &str) -> BTreeMap<String, Value> {
    let directory = tempfile::tempdir().unwrap();
    let script = format!(
        "for place in $(seq {places}); do \
           if mkdir {0}/$place 2>/dev/null; then {PROGRAM} serve; rmdir {0}/$place; exit; fi; \
         done; echo 'no place is left' >&2; exit 1",
        directory.path().display()
    );
    let filters = SUITES.iter().flat_map(|suite| ["--filter", suite]);
    let line = ["run", "--revision", revision, "--report", "json"].into_iter().chain(filters);
    let ran = ran(line.chain(["--", "sh", "-c", &script]));
    assert_eq!(ran.code, 0, "{places} in {revision}: {}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let rules = report["rules"].as_array().unwrap().iter();
    rules.map(|rule| (rule["id"].to_string(), rule["status"].clone())).collect()
}

#[test]
fn lanes_that_find_no_place_are_gathered_later() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let free = verdicts(20, revision);
        for places in [2, 3] {
            assert_eq!(verdicts(places, revision), free, "with {places} at once");
        }
    }
}

#[test]
fn what_needs_a_second_instance_is_not_exercised_where_there_is_none() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let (free, one) = (verdicts(20, revision), verdicts(1, revision));
        let other: Vec<_> = one.iter().filter(|(id, status)| free[*id] != **status).collect();
        assert!(!other.is_empty() && other.iter().all(|(_, status)| **status == "not-exercised"), "{other:?}");
    }
}
