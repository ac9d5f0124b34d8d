//! Every requirement of the catalogues is accounted for: a rule with its id, or a row that says why there is none.
//!
//! The catalogues are not part of the project. Where they are missing the comparison is skipped, and says so.

use std::{collections::BTreeSet, fs, path::PathBuf};

use mcp_conform::run::built_in;

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
    let mut catalogues = 0;
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = fs::read_to_string(&path).unwrap();
            let wanted = on_servers(&text);
            assert!(wanted.len() > 10, "{} was not understood", path.display());
            let missing = wanted.into_iter().filter(|id| !known.contains(id));
            gaps.extend(missing.map(|id| format!("{}: {id}", path.display())));
            catalogues += 1;
        }
    }
    assert_eq!(catalogues, 19);
    assert!(gaps.is_empty(), "neither a rule nor a reason for:\n{}", gaps.join("\n"));
}

/// Ids of the entries whose actor is the server.
fn on_servers(catalogue: &str) -> Vec<&str> {
    let entries = catalogue.split("\n- id: ").skip(1);
    let on_server = |entry: &&str| entry.lines().any(|line| line.trim() == "actor: server");
    entries.filter(on_server).filter_map(|entry| entry.lines().next()).map(str::trim).collect()
}
