//! Which module may import which. Three missing imports matter most. `suite` cannot use `wire`, so a suite means the
//! same on every transport. `judge` cannot use `session`, so it cannot send requests to the server. `report` cannot use
//! `suite`, so a format is a function of the report.

use std::{fs, path::Path};

/// Each module with the modules that it may import.
const ALLOWED: &[(&str, &[&str])] = &[
    ("error", &["revision"]),
    ("embedded", &[]),
    ("revision", &[]),
    ("transport", &["revision"]),
    ("outcome", &["revision"]),
    ("partition", &[]),
    ("evidence", &["revision", "transport", "outcome"]),
    ("target", &["transport"]),
    ("suite", &["embedded", "revision", "outcome", "evidence"]),
    ("wire", &["error", "evidence", "target"]),
    ("tap", &["evidence", "revision", "target", "wire"]),
    ("plan", &["error", "revision", "outcome", "evidence", "partition", "suite"]),
    ("judge", &["revision", "outcome", "evidence", "suite", "plan"]),
    ("assess", &["error", "revision", "outcome", "evidence", "suite", "plan", "judge"]),
    ("report", &["revision", "outcome"]),
    ("session", &["error", "revision", "evidence", "target", "wire"]),
    ("gather", &["evidence", "target", "wire", "suite", "plan", "session"]),
    ("generate", &["revision", "outcome", "evidence", "wire", "suite", "plan", "judge", "session", "gather"]),
    ("config", &["error", "outcome", "evidence", "suite", "target"]),
    ("cli", &["report", "partition", "transport", "target"]),
    ("reference/server", &["embedded", "transport", "revision"]),
    ("reference/client", &["embedded", "transport", "revision"]),
    ("reference/gateway", &["evidence", "revision", "session", "target", "wire"]),
];

/// The folders of `run`, each of which imports only from those before it.
const FOLDERS_OF_RUN: &[&str] =
    &["process", "inputs", "conducting", "clients", "recording", "foreign", "gateways", "results", "commands"];

#[test]
fn modules_import_only_what_lies_below_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (module, allowed) in ALLOWED {
        let mut files = Vec::new();
        let (file, directory) = (source.join(format!("{module}.rs")), source.join(module));
        if file.exists() {
            files.push(file);
        }
        collect(&directory, &mut files);
        assert!(!files.is_empty(), "there is no module `{module}`");
        let mut unused = allowed.to_vec();
        for path in files {
            let text = fs::read_to_string(&path).unwrap();
            for imported in imports(&text) {
                unused.retain(|name| *name != imported);
                if imported != *module && !allowed.contains(&imported.as_str()) {
                    wrong.push(format!("{} imports {imported}", path.display()));
                }
            }
        }
        wrong.extend(unused.iter().map(|name| format!("{module} does not import {name}, which it may")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn collect(directory: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The paths after `crate::` in a file, including those in `use` groups.
fn paths(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        if !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            read_path(&text[at + "crate::".len()..], "", &mut found);
        }
    }
    found
}

/// Reads one path or group; returns the rest of the text.
fn read_path<'a>(text: &'a str, before: &str, found: &mut Vec<String>) -> &'a str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let Some(mut rest) = text.strip_prefix('{') else {
        let name = &text[..text.find(|c| !is_name(c)).unwrap_or(text.len())];
        let path = if before.is_empty() { name.to_owned() } else { format!("{before}::{name}") };
        let rest = &text[name.len()..];
        if let Some(rest) = rest.strip_prefix("::") {
            return read_path(rest, &path, found);
        }
        found.push(path);
        return rest;
    };
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if let Some(rest) = rest.strip_prefix('}') {
            return rest;
        }
        let after = read_path(rest, before, found);
        if after.len() == rest.len() {
            return after;
        }
        rest = after;
    }
}

/// Modules of the crate that a file imports. The modules of `reference` count as modules of their own.
fn imports(text: &str) -> Vec<String> {
    let first = |path: String| {
        let mut names = path.split("::");
        match (names.next().unwrap_or_default(), names.next()) {
            ("reference", Some(which)) => format!("reference/{which}"),
            (first, _) => first.to_owned(),
        }
    };
    paths(text).into_iter().map(first).filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase())).collect()
}

/// The maximum number of `super` in an import of a file.
fn climbs(text: &str) -> usize {
    let uses = text.lines().filter_map(|line| line.strip_prefix("use "));
    uses.map(|path| path.matches("super::").count()).max().unwrap_or_default()
}

#[test]
fn folders_of_run_import_only_what_lies_below_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/run");
    let mut wrong = Vec::new();
    for (at, folder) in FOLDERS_OF_RUN.iter().enumerate() {
        let mut files = Vec::new();
        collect(&source.join(folder), &mut files);
        assert!(!files.is_empty(), "there is no folder `{folder}`");
        for path in files {
            let text = fs::read_to_string(&path).unwrap();
            for named in paths(&text).iter().filter_map(|path| path.strip_prefix("run::")) {
                let module = named.split("::").next().unwrap_or_default();
                if !FOLDERS_OF_RUN[..=at].contains(&module) {
                    wrong.push(format!("{} imports run::{named}", path.display()));
                }
            }
            let depth = path.strip_prefix(&source).unwrap().components().count() - 1;
            if climbs(&text) > depth - usize::from(path.ends_with("mod.rs")) {
                wrong.push(format!("{} imports from outside of `{folder}` by `super`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let folders = fs::read_dir(source).unwrap().flatten().filter(|entry| entry.path().is_dir()).count();
    assert_eq!(folders, FOLDERS_OF_RUN.len(), "a folder of src/run has no place in FOLDERS_OF_RUN");
}

#[test]
fn groups_are_read_too() {
    let text = "use crate::{evidence::{Frame, Link}, suite::Path};\nuse crate::revision::Revision;";
    assert_eq!(imports(text), ["evidence", "evidence", "suite", "revision"]);
    let group = "use crate::{run::{inputs::job::Job, process::{Surroundings, console}}, suite::Suite};";
    assert_eq!(
        paths(group),
        ["run::inputs::job::Job", "run::process::Surroundings", "run::process::console", "suite::Suite"]
    );
}

/// Comparisons of a revision or a transport by name: a new revision or transport would silently make them wrong.
fn comparisons(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let flat: Vec<&str> = code.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
    let mut found = Vec::new();
    for line in flat {
        for name in ["Revision::V", "Transport::Stdio", "Transport::Http", "Transport::Sse"] {
            for (at, _) in line.match_indices(name) {
                let before = line[..at].trim_end_matches("Some(").trim_end_matches("Self::").trim_end();
                let rest = line[at + name.len()..].trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
                let rest = rest.trim_start_matches(')').trim_start();
                let compares = |text: &str, ends: bool| {
                    let is = |sign: &&str| if ends { text.ends_with(*sign) } else { text.starts_with(*sign) };
                    ["==", "!=", "<=", ">=", " <", " >", "|"].iter().any(is)
                };
                if compares(before, true)
                    || compares(rest, false)
                    || rest.starts_with("=>")
                    || line.contains("matches!")
                {
                    found.push(line.to_owned());
                }
            }
        }
    }
    found
}

#[test]
fn revisions_and_transports_are_compared_in_their_tables_only() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&source, &mut files);
    let tables = ["src/revision/", "src/transport.rs", "/tests/", "tests.rs"];
    files.retain(|path| !tables.iter().any(|table| path.display().to_string().replace('\\', "/").contains(table)));
    let found = files.iter().flat_map(|path| {
        let lines = comparisons(&fs::read_to_string(path).unwrap());
        lines.into_iter().map(|line| format!("{}: {line}", path.display()))
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "ask `features` or `capabilities` instead:\n{}", found.join("\n"));
}

#[test]
fn comparisons_are_seen() {
    let seen = |line: &str| !comparisons(line).is_empty();
    assert!(seen("if revision >= Revision::V2025_06_18 {") && seen("revision == Some(Revision::V2025_06_18)"));
    assert!(seen("Transport::Http => 1,") && seen("matches!(known, Transport::Http)") && seen("Transport::Sse != it"));
    assert!(!seen("since: Some(Revision::V2025_06_18),") && !seen("Session::new(Transport::Http)"));
}
