//! What the compiler cannot check: the order of modules within a crate, and where revisions and transports are compared.
//! Which crate uses which is in their `Cargo.toml`.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Folders with their modules, each of which imports only from those before it. `*` stands for all others. The paths of
/// `src/run` start with `run`.
const ORDER: &[(&str, &str, &[&str])] = &[
    ("crates/model/src", "", &["revision", "transport", "error", "outcome", "evidence", "words", "partition"]),
    ("crates/suite/src", "", &["*", "plan"]),
    ("crates/wire/src", "", &["target", "*", "tap"]),
    ("crates/judge/src", "", &["*", "assess"]),
    ("src", "", &["cli", "config", "run", "program", "harness"]),
    (
        "src/run",
        "run::",
        &[
            "process",
            "inputs",
            "conducting",
            "clients",
            "recording",
            "foreign",
            "gateways",
            "trials",
            "results",
            "commands",
        ],
    ),
];

#[test]
fn modules_import_only_from_those_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    for (folder, prefix, order) in ORDER {
        let folder = root.join(folder);
        let place = |name: &str| order.iter().position(|known| *known == name);
        let place = |name: &str| place(name).or_else(|| place("*"));
        for path in rust_files(&folder) {
            let within = path.strip_prefix(&folder).unwrap();
            let module = within.components().next().unwrap().as_os_str().to_string_lossy().replace(".rs", "");
            if ["lib", "main", "mod"].contains(&&*module) {
                continue;
            }
            let Some(own) = place(&module) else {
                wrong.push(format!("`{module}` of {} has no place in ORDER", folder.display()));
                continue;
            };
            let text = fs::read_to_string(&path).unwrap();
            for named in paths(&text).iter().filter_map(|path| path.strip_prefix(prefix)) {
                let first = named.split("::").next().unwrap_or_default();
                // A type of the root of the crate, or another crate under its name here.
                let is_module = folder.join(first).is_dir() || folder.join(format!("{first}.rs")).is_file();
                if is_module && place(first).is_some_and(|place| place > own) {
                    wrong.push(format!("{} imports {prefix}{named}", path.display()));
                }
            }
            let depth = within.components().count();
            if climbs(&text) > depth - usize::from(path.ends_with("mod.rs")) {
                wrong.push(format!("{} imports from outside of `{module}` by `super`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
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

/// The maximum number of `super` in an import of a file.
fn climbs(text: &str) -> usize {
    let uses = text.lines().filter_map(|line| line.strip_prefix("use "));
    uses.map(|path| path.matches("super::").count()).max().unwrap_or_default()
}

#[test]
fn groups_are_read_too() {
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> = ["src", "crates"].iter().flat_map(|folder| rust_files(&root.join(folder))).collect();
    let tables = ["crates/model/src/revision/", "crates/model/src/transport.rs", "/tests/", "tests.rs"];
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
