//! The verdicts on the client of each SDK, as `.ci/sdks.py` records them. They are not judged again here: a transcript of
//! one client has a hundred megabytes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use mcp_conform::{revision::Revision, suite::Suite};
use serde::Deserialize;

use super::files;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    judged: BTreeMap<Revision, Counts>,
    found: Vec<Found>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    fail: usize,
    warn: usize,
    pass: usize,
}

/// The first finding of a rule that fails.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Found {
    rule: String,
    revision: Revision,
    message: String,
}

/// A part of docs/sdks.md. A rule that no longer exists has to be recorded again.
pub fn documented(suites: &[Suite]) -> Result<String, String> {
    let mut text = INTRODUCTION.to_owned();
    let revisions: Vec<&str> = Revision::ALL.iter().map(|revision| revision.as_str()).collect();
    let _ = writeln!(text, "| record | {} |", revisions.join(" | "));
    let _ = writeln!(text, "| --- |{}", " --- |".repeat(revisions.len()));
    let clients: Vec<(String, Recorded)> = files("clients")?;
    for (name, client) in &clients {
        let _ = write!(text, "| {name} |");
        for revision in Revision::ALL {
            let _ = match client.judged.get(&revision) {
                Some(Counts { fail, warn, pass }) => write!(text, " {fail} / {warn} / {pass} |"),
                None => write!(text, " |"),
            };
        }
        text.push('\n');
    }
    text.push_str("\n| record | what fails | in | as its first finding says |\n| --- | --- | --- | --- |\n");
    for (name, client) in &clients {
        let rules: BTreeSet<&str> = client.found.iter().map(|found| found.rule.as_str()).collect();
        for rule in rules {
            if !suites.iter().flat_map(|suite| &suite.rules).any(|known| known.id == rule) {
                return Err(format!("tests/recorded/sdks/clients names {rule}, which is no rule: record {name} again"));
            }
            let of: Vec<&Found> = client.found.iter().filter(|found| found.rule == rule).collect();
            let revisions: Vec<&str> = of.iter().map(|found| found.revision.as_str()).collect();
            let message = of.first().map_or("", |found| &found.message).replace('|', "\\|");
            let _ = writeln!(text, "| {name} | `{rule}` | {} | {message} |", revisions.join(", "));
        }
    }
    Ok(text)
}

const INTRODUCTION: &str = "
## The recorded clients

The rules that fail, warn and pass on the client of each SDK, by revision. [integrations/clients](../integrations/clients) has their
sources, which do what a scenario says and nothing else, and [tests/sdks/clients.yaml](../tests/sdks/clients.yaml) how each is started;
`--filter RULE` shows the findings of one rule with their messages.

";
