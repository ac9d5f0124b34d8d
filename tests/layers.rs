//! Who may import whom. The three absences that matter: `suite` cannot see `wire`, so a suite means the same on every
//! transport; `judge` cannot see `session`, so it cannot ask the server anything; `report` cannot see `suite`, so a
//! format is a function of the report.

use std::{fs, path::Path};

/// Each module with those it may import.
const ALLOWED: &[(&str, &[&str])] = &[
    ("error", &["revision"]),
    ("embedded", &[]),
    ("revision", &[]),
    ("outcome", &["revision"]),
    ("partition", &[]),
    ("evidence", &["revision"]),
    ("target", &[]),
    ("suite", &["embedded", "error", "revision", "outcome", "evidence"]),
    ("wire", &["error", "revision", "evidence", "target"]),
    ("plan", &["error", "revision", "outcome", "evidence", "partition", "suite"]),
    ("judge", &["error", "revision", "outcome", "evidence", "suite", "plan"]),
    ("report", &["revision", "outcome"]),
    ("session", &["error", "revision", "evidence", "target", "wire"]),
    ("gather", &["error", "revision", "evidence", "target", "wire", "suite", "plan", "session"]),
    ("config", &["error", "revision", "suite", "target"]),
    ("cli", &["report", "outcome", "partition", "revision"]),
    ("reference", &["embedded", "revision"]),
];

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
        for path in files {
            let text = fs::read_to_string(&path).unwrap();
            for imported in imports(&text) {
                if imported != *module && !allowed.contains(&imported.as_str()) {
                    wrong.push(format!("{} imports {imported}", path.display()));
                }
            }
        }
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

/// Modules of the crate that a file names after `crate::`, in `use` groups as well.
fn imports(text: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let mut found = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        if text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &text[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut start = true;
            for (index, c) in group.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => start = true,
                    c if start && depth == 0 && is_name(c) => {
                        found.push(group[index..].chars().take_while(|c| is_name(*c)).collect());
                        start = false;
                    }
                    _ => {}
                }
            }
        } else {
            found.push(rest.chars().take_while(|c| is_name(*c)).collect());
        }
    }
    found.into_iter().filter(|name: &String| !name.is_empty()).collect()
}

#[test]
fn groups_are_read_too() {
    let text = "use crate::{evidence::{Frame, Link}, suite::Path};\nuse crate::revision::Revision;";
    assert_eq!(imports(text), ["evidence", "suite", "revision"]);
}
