//! Known bugs of servers, by requirement: the fault of the reference server that reproduces each one, or the reason why
//! no client can detect it.

use std::{fs, path::Path};

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use super::matrix::strict_rules;
use mcp_conform::{error::Error, reference::server::faults, suite::Suite};

/// One bug of one requirement.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bug {
    #[serde(skip)]
    pub requirement: String,
    #[serde(rename = "bug")]
    pub text: String,
    #[serde(default, rename = "fault", deserialize_with = "one_or_many")]
    faults: Vec<String>,
    undetected: Option<String>,
}

/// The bugs in the YAML files of the folder, ordered by file: lists of bugs by the id of their requirement.
pub fn bugs(folder: &Path) -> Result<Vec<Bug>, Error> {
    let file_error = |path: &Path, source| Error::File { path: path.display().to_string(), doing: "read", source };
    let entries = fs::read_dir(folder).map_err(|source| file_error(folder, source))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
    let mut paths = paths.map_err(|source| file_error(folder, source))?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).map_err(|source| file_error(&path, source))?;
        let requirements: IndexMap<String, Vec<Bug>> =
            serde_saphyr::from_str(&text).map_err(|why| Error::usage(format!("{}: {why}", path.display())))?;
        for (requirement, bugs) in requirements {
            found.extend(bugs.into_iter().map(|bug| Bug { requirement: requirement.clone(), ..bug }));
        }
    }
    Ok(found)
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(one) => Ok(vec![one]),
        many => serde_json::from_value(many).map_err(de::Error::custom),
    }
}

/// The bugs as the lines of a table: each with its faults and the rules above `may` that name them, or with the reason.
pub fn table<'a>(bugs: &'a [Bug], suites: &'a [Suite]) -> impl Iterator<Item = String> + 'a {
    bugs.iter().map(|bug| {
        let faults = bug.faults.iter().map(|fault| format!("{fault} ({})", naming(fault, suites).join(", ")));
        let detected = faults.collect::<Vec<_>>().join("; ");
        let undetected = bug.undetected.iter().map(|reason| format!("undetected: {reason}"));
        let cells = [bug.requirement.clone(), bug.text.clone(), detected].into_iter().chain(undetected);
        cells.filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join("  |  ")
    })
}

/// Faults that do not exist or that no rule above `may` names, and bugs with neither a fault nor a reason, or with both.
pub fn gaps(bugs: &[Bug], suites: &[Suite]) -> Vec<String> {
    let known = faults();
    let mut gaps = Vec::new();
    for bug in bugs {
        let mut gap = |why: String| gaps.push(format!("{}, `{}`: {why}", bug.requirement, bug.text));
        if bug.faults.is_empty() == bug.undetected.as_ref().is_none_or(|reason| reason.trim().is_empty()) {
            gap("expected either `fault` or `undetected`".into());
        }
        for fault in &bug.faults {
            if !known.iter().any(|one| one.name == *fault) {
                gap(format!("the fault `{fault}` does not exist"));
            } else if naming(fault, suites).is_empty() {
                gap(format!("no rule above `may` names the fault `{fault}`"));
            }
        }
    }
    gaps
}

pub fn summary(bugs: &[Bug], gaps: &[String]) -> String {
    let detected = bugs.iter().filter(|bug| !bug.faults.is_empty()).count();
    let undetected = bugs.iter().filter(|bug| bug.undetected.is_some()).count();
    format!("{} bugs: {detected} detected, {undetected} undetected, {} gaps", bugs.len(), gaps.len())
}

fn naming<'a>(fault: &str, suites: &'a [Suite]) -> Vec<&'a str> {
    strict_rules(suites)
        .filter(|rule| rule.faults.iter().any(|name| name == fault))
        .map(|rule| rule.id.as_str())
        .collect()
}
