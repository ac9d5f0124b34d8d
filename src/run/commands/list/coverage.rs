//! What the rules cover: by area and revision, and for a proposal by requirement.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    error::Error,
    report::link,
    revision::Revision,
    suite::{Applies, Suite},
};

/// Rules in each area for each revision, as lines of a table.
pub fn coverage(suites: &[Suite]) -> Vec<String> {
    let mut areas: BTreeMap<&str, ([usize; Revision::ALL.len()], usize, usize)> = BTreeMap::new();
    for suite in suites {
        let area = areas.entry(suite.id.split('.').next().unwrap_or(&suite.id)).or_default();
        for (index, revision) in Revision::ALL.into_iter().enumerate() {
            let holds = |applies: &Applies| {
                applies.since.is_none_or(|since| since <= revision)
                    && applies.until.is_none_or(|until| revision <= until)
            };
            area.0[index] += suite.rules.iter().filter(|rule| holds(&suite.applies) && holds(&rule.applies)).count();
        }
        area.1 += suite.rules.len();
        area.2 += suite.untested.len();
    }
    areas.retain(|_, (_, rules, untested)| *rules + *untested > 0);
    let row = |name: &str, cells: Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>10}")).collect();
        format!("{name:<20} {}", cells.join("  "))
    };
    let mut head: Vec<String> = Revision::ALL.iter().map(ToString::to_string).collect();
    head.extend(["rules".into(), "not tested".into()]);
    let mut lines = vec![row("rules by area", head)];
    for (area, (by_revision, rules, untested)) in areas {
        let counts = by_revision.into_iter().chain([rules, untested]);
        lines.push(row(area, counts.map(|count| count.to_string()).collect()));
    }
    lines
}

/// One row for each requirement of a proposal or an extension: the rule that covers it, or why no rule does.
pub fn traceability(name: &str, suites: &[Suite]) -> Result<String, Error> {
    let extension = suites.iter().filter_map(|suite| suite.applies.extension.as_deref()).find(|id| is_named(id, name));
    let area = |suite: &Suite| suite.id.split('.').next().unwrap_or(&suite.id).to_owned();
    let areas: Vec<String> = suites
        .iter()
        .filter(|suite| suite.applies.extension.as_deref().is_some_and(|id| is_named(id, name)))
        .map(area)
        .collect();
    // The suites about clients and gateways have the area as a later part of their ids.
    let is_within = |suite: &Suite| suite.id.split('.').any(|part| areas.iter().any(|area| area == part));
    let is_about = |suite: &&Suite| suite.applies.proposal.as_deref() == Some(name) || is_within(suite);
    let ours: Vec<&Suite> = suites.iter().filter(is_about).collect();
    if ours.is_empty() {
        let applies = suites.iter().map(|suite| &suite.applies);
        let known: BTreeSet<&str> =
            applies.flat_map(|applies| [&applies.proposal, &applies.extension]).filter_map(Option::as_deref).collect();
        return Err(Error::Usage {
            message: format!("unknown proposal or extension `{name}`"),
            help: Some(format!("known: {}", known.into_iter().collect::<Vec<_>>().join(", "))),
        });
    }
    let mut lines = Vec::new();
    if let Some(number) = name.strip_prefix("sep-").filter(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
        lines.push(format!("sep: {number}"));
        lines.push(format!("spec_url: https://modelcontextprotocol.io/seps/{number}"));
    }
    if let Some(id) = extension {
        lines.push(format!("extension: {id}"));
        let sources = ours.iter().flat_map(|suite| &suite.rules).map(|rule| rule.source.as_str());
        let mut pages = sources.filter(|source| source.starts_with("extensions/"));
        let url = pages.next().and_then(|source| link(source.split('#').next()?, Revision::NEWEST));
        lines.extend(url.map(|url| format!("spec_url: {url}")));
    }
    lines.push("requirements:".into());
    for suite in ours {
        for rule in &suite.rules {
            lines.push(format!("  - check: {}", rule.id));
            lines.push(format!("    text: {}", quoted(&rule.statement)));
        }
        for row in &suite.untested {
            lines.push(format!("  - text: {}", quoted(&row.statement)));
            lines.push(format!("    excluded: {}", quoted(&row.because)));
        }
    }
    Ok(lines.join("\n"))
}

/// Whether it is the identifier, or the name after its prefix.
fn is_named(id: &str, name: &str) -> bool {
    id == name || id.split_once('/').is_some_and(|(_, short)| short == name)
}

/// Any text as a YAML string. JSON strings are valid YAML.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
