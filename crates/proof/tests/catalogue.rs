//! Every requirement of the catalogues has a rule with its id, or a row that says why it has none. Each bug that they
//! name has a row in `tests/bugs`: the fault that reproduces it, or the reason why no client can detect it.
//!
//! The catalogues are not part of the project. If they are missing, the comparison is skipped with a message.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use conform_proof::{Bug, bugs, gaps};
use mcp_conform::{
    evidence::Side,
    run::{built_in, load},
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Requirement {
    id: String,
    actor: String,
    #[serde(default)]
    mutants: Vec<String>,
}

#[test]
fn every_requirement_on_servers_is_accounted_for() {
    let Some(requirements) = on_servers() else { return };
    accounted_for(&requirements, &[Side::Server]);
}

/// A requirement of two catalogues is in the suites once.
#[test]
fn requirements_on_clients_are_accounted_for() {
    let Some(folder) = catalogues() else { return };
    let parts = ["authorization", "base", "features", "resources", "serving", "transports"];
    let requirements =
        parts.into_iter().flat_map(|part| read(&folder.join("client").join(part).with_extension("yaml")));
    accounted_for(&requirements.collect::<Vec<_>>(), &[Side::Server, Side::Client]);
}

#[test]
fn requirements_of_extensions_are_accounted_for() {
    let Some(folder) = catalogues() else { return };
    let parts = ["negotiation", "skills", "client-skills", "apps"];
    let requirements =
        parts.into_iter().flat_map(|part| read(&folder.join("extensions").join(part).with_extension("yaml")));
    accounted_for(&requirements.collect::<Vec<_>>(), &[Side::Server, Side::Client, Side::Gateway]);
}

#[test]
fn requirements_on_authorization_servers_are_accounted_for() {
    let Some(folder) = catalogues() else { return };
    let requirements = read(&folder.join("authorization-server/authorization-server.yaml"));
    accounted_for(&requirements, &[Side::AuthorizationServer]);
}

fn accounted_for(requirements: &[Requirement], subjects: &[Side]) {
    let suites = load(subjects, &[], false).unwrap_or_else(|error| panic!("{error}"));
    let rules = suites.iter().flat_map(|suite| suite.rules.iter().map(|rule| rule.id.as_str()));
    let untested = suites.iter().flat_map(|suite| suite.untested.iter().map(|row| row.id.as_str()));
    let known: BTreeSet<&str> = rules.chain(untested).collect();
    let ids = requirements.iter().map(|requirement| requirement.id.as_str());
    let gaps: Vec<&str> = ids.filter(|id| !known.contains(id)).collect();
    assert!(gaps.is_empty(), "neither a rule nor a reason for:\n{}", gaps.join("\n"));
}

#[test]
fn every_known_bug_is_committed_by_a_fault_or_has_a_reason() {
    let suites = built_in().unwrap_or_else(|error| panic!("{error}"));
    let gaps = gaps(&known_bugs(), &suites);
    assert!(gaps.is_empty(), "{}", gaps.join("\n"));
}

#[test]
fn every_bug_of_the_catalogues_has_one_row() {
    let Some(requirements) = on_servers() else { return };
    let mut rows: BTreeMap<(String, String), usize> = BTreeMap::new();
    for Bug { requirement, text, .. } in known_bugs() {
        *rows.entry((requirement, text)).or_default() += 1;
    }
    let mut wrong = Vec::new();
    for Requirement { id, mutants, .. } in requirements {
        for text in mutants {
            match rows.remove(&(id.clone(), text.clone())) {
                Some(1) => {}
                Some(count) => wrong.push(format!("{count} rows for {id}, `{text}`")),
                None => wrong.push(format!("no row for {id}, `{text}`")),
            }
        }
    }
    wrong.extend(rows.into_keys().map(|(id, text)| format!("no such bug in the catalogues: {id}, `{text}`")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn known_bugs() -> Vec<Bug> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/bugs");
    bugs(&folder).unwrap_or_else(|error| panic!("{error}"))
}

/// The requirements on servers, of all catalogues.
fn on_servers() -> Option<Vec<Requirement>> {
    let folder = catalogues()?;
    // Of the extensions, this one has rows in `tests/bugs`.
    let apps = read(&folder.join("extensions/apps.yaml"));
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect();
    assert_eq!(paths.len(), 19);
    let mut found = Vec::new();
    for path in paths {
        found.extend(read(&path));
    }
    found.extend(apps);
    found.retain(|requirement| requirement.actor == "server");
    Some(found)
}

fn catalogues() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/requirements");
    let there = folder.is_dir();
    if !there {
        eprintln!("skipped: the catalogues are not there");
    }
    there.then_some(folder)
}

fn read(path: &Path) -> Vec<Requirement> {
    let text = fs::read_to_string(path).unwrap();
    let all: Vec<Requirement> = serde_saphyr::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    assert!(all.len() > 10, "{} was not understood", path.display());
    all
}
