//! What improved and regressed from one run to another, by rule.

use std::cmp::Ordering;

use indexmap::IndexMap;

use super::{
    tally::standing,
    text::{flow, plain},
};
use conform_model::{
    outcome::{RunReport, Status},
    revision::Revision,
};

/// Maximum number of findings shown for a rule that regressed.
const SHOWN: usize = 3;

/// The comparison as text, ending in a line break.
pub fn compare(old: &RunReport, new: &RunReport) -> String {
    let (before, after) = (standings(old), standings(new));
    let (mut worse, mut better, mut other) = (Vec::new(), Vec::new(), Vec::new());
    for (key, now) in &after {
        let was = before.get(key);
        // A new rule is a change only if it may be the reason for another exit code.
        if was == Some(now) || (was.is_none() && weight(*now) < weight(Status::Broken)) {
            continue;
        }
        let (id, revision) = key;
        let seen = was.map_or("was not in the old report".to_owned(), |was| format!("was {}", was.word()));
        let change = format!("  {:<14} {}  {seen}", now.word(), named(id, *revision, new));
        // That a failing rule was not judged says nothing about the server.
        let is_judged = !matches!(now, Status::NotExercised | Status::NotApplicable);
        match weight(*now).cmp(&was.map_or(0, |was| weight(*was))) {
            Ordering::Greater => worse.push((change, key)),
            Ordering::Less if is_judged => better.push(change),
            _ => other.push(change),
        }
    }
    let mut text = String::new();
    let mut add = |line: &str| {
        text += line;
        text.push('\n');
    };
    if !worse.is_empty() {
        add("worse");
    }
    for (change, (id, revision)) in &worse {
        add(change);
        let rule = new.rules.iter().find(|rule| rule.id == **id && rule.revision == *revision);
        for finding in rule.into_iter().flat_map(|rule| &rule.findings).take(SHOWN) {
            add(&format!("                 {}", plain(&flow(&finding.line()))));
        }
    }
    for (heading, changes) in [("better", &better), ("changed", &other)] {
        if !changes.is_empty() {
            add(heading);
        }
        for change in changes {
            add(change);
        }
    }
    for (heading, these, those) in
        [("only in the new report", &after, &before), ("only in the old report", &before, &after)]
    {
        let alone = these.keys().filter(|key| !those.contains_key(*key)).count();
        if alone > 0 {
            add(&format!("{heading}: {alone} {}", if alone == 1 { "result" } else { "results" }));
        }
    }
    add(&format!("{} worse · {} better · {} changed", worse.len(), better.len(), other.len()));
    text
}

type Standings<'a> = IndexMap<(&'a str, Revision), Status>;

fn standings(report: &RunReport) -> Standings<'_> {
    report.rules.iter().map(|rule| ((rule.id.as_str(), rule.revision), standing(report, rule))).collect()
}

fn named(id: &str, revision: Revision, report: &RunReport) -> String {
    let id = plain(id);
    if report.revisions.len() > 1 { format!("{id} ({revision})") } else { id.into_owned() }
}

/// The severity of a status; a rule that was not judged counts like one that passed.
fn weight(status: Status) -> u8 {
    match status {
        Status::Fail => 6,
        Status::Broken => 5,
        Status::Flaky => 4,
        Status::Known => 3,
        Status::Warn => 2,
        Status::Advice => 1,
        Status::Pass | Status::Observed | Status::NotExercised | Status::NotApplicable => 0,
    }
}
