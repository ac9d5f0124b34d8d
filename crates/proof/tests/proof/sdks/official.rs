//! What the official suite says of the recorded servers, as `.ci/sdks.py` records it.

use std::{collections::BTreeMap, fmt::Write};

use serde::Deserialize;

use super::files;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    passed: usize,
    scenarios: usize,
}

/// A part of docs/sdks.md.
pub fn documented() -> Result<String, String> {
    let servers: Vec<(String, BTreeMap<String, Counts>)> = files("official")?;
    let versions: Vec<&str> = servers.first().into_iter().flat_map(|(_, by)| by.keys().map(String::as_str)).collect();
    let mut text = INTRODUCTION.to_owned();
    let _ = writeln!(text, "| record | {} |", versions.join(" | "));
    let _ = writeln!(text, "| --- |{}", " --- |".repeat(versions.len()));
    for (name, by_version) in &servers {
        let counts = by_version.values().map(|Counts { passed, scenarios }| format!(" {passed} of {scenarios} |"));
        let _ = writeln!(text, "| {name} |{}", counts.collect::<String>());
    }
    Ok(text)
}

const INTRODUCTION: &str = "
## The same servers in the official suite

How many of its scenarios pass, by its version and, for the newest, by the set of scenarios that it scores. Nearly all need a tool, resource
or prompt with a name of the suite's own, which these servers do not have, and fail without it, whatever the server declares. So it does not tell
these SDKs apart.

";
