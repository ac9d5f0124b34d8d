//! Every requirement of the catalogues is accounted for: a rule with its id, or a row that says why there is none.
//!
//! The catalogues are not part of the project. Where they are missing the comparison is skipped, and says so.

use std::{collections::BTreeSet, fs, path::PathBuf};

use mcp_conform::run::built_in;

/// Catalogues that are covered completely.
const COMPLETE: [&str; 7] =
    ["resources", "pagination", "completion", "annotations", "sep-2093", "sep-prefix", "dialect-versioned"];

#[test]
fn every_requirement_on_servers_is_accounted_for() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/requirements");
    if !folder.is_dir() {
        eprintln!("skipped: the catalogues are not there");
        return;
    }
    let suites = built_in().unwrap_or_else(|error| panic!("{error}"));
    let rules = suites.iter().flat_map(|suite| suite.rules.iter().map(|rule| rule.id.as_str()));
    let untested = suites.iter().flat_map(|suite| suite.untested.iter().map(|row| row.id.as_str()));
    let known: BTreeSet<&str> = rules.chain(untested).collect();
    let mut gaps = Vec::new();
    for name in COMPLETE {
        let text = fs::read_to_string(folder.join(format!("{name}.yaml"))).unwrap();
        let wanted = on_servers(&text);
        assert!(wanted.len() > 10, "{name} was not understood");
        gaps.extend(wanted.into_iter().filter(|id| !known.contains(id)).map(|id| format!("{name}: {id}")));
    }
    assert!(gaps.is_empty(), "neither a rule nor a reason for:\n{}", gaps.join("\n"));
}

/// Ids of the entries whose actor is the server.
fn on_servers(catalogue: &str) -> Vec<&str> {
    let entries = catalogue.split("\n- id: ").skip(1);
    let on_server = |entry: &&str| entry.lines().any(|line| line.trim() == "actor: server");
    entries.filter(on_server).filter_map(|entry| entry.lines().next()).map(str::trim).collect()
}
