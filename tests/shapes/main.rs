//! Compares our descriptions of messages with the official schemas. Both validate the same values. A table has a reason
//! for every difference.
//!
//! The values are generated from both schemas: valid samples, and the same with one change.

mod differences;
mod official;
mod sample;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashSet},
};

use mcp_conform::{revision::Revision, suite::shape};
use regex::Regex;
use serde_json::{Value, json};

use differences::{APART, NOT_DESCRIBED, OURS_ALONE, SAME};
use official::Official;

/// The official type and our name for it.
struct Pair {
    official: String,
    ours: String,
    /// Before 2025-11-25 the types of messages omit the fields that all messages have.
    frame: Option<Value>,
}

impl Pair {
    fn framed<'a>(&self, value: &'a Value) -> Cow<'a, Value> {
        match (&self.frame, value) {
            (Some(Value::Object(frame)), Value::Object(members)) => {
                Cow::Owned(members.iter().chain(frame).map(|(name, member)| (name.clone(), member.clone())).collect())
            }
            _ => Cow::Borrowed(value),
        }
    }
}

fn pair(official: &Official, name: &str) -> Option<Pair> {
    let revision = official.revision;
    let called = SAME.iter().find(|(theirs, _)| *theirs == name).map_or(name, |(_, ours)| *ours);
    if shape::exists(called, revision) {
        return Some(Pair { official: name.to_owned(), ours: called.to_owned(), frame: None });
    }
    let properties = &official.definitions[name]["properties"];
    let method = properties["method"]["const"].as_str().filter(|method| shape::exists(method, revision))?;
    let frame = match (properties.get("jsonrpc"), shape::request_shape(method, revision)) {
        (Some(_), _) => None,
        (None, Some(_)) => Some(json!({ "jsonrpc": "2.0", "id": 1 })),
        (None, None) => Some(json!({ "jsonrpc": "2.0" })),
    };
    Some(Pair { official: name.to_owned(), ours: method.to_owned(), frame })
}

/// One line for each mistake that only one side finds.
fn compare(official: &Official, pair: &Pair, found: &mut BTreeMap<String, Value>) -> usize {
    let revision = official.revision;
    let theirs = official.validator(&pair.official);
    let ours = shape::schema(&pair.ours, revision).expect("a shape that exists");
    let mut values = sample::all(&official.schema(&pair.official));
    values.extend(sample::all(&ours));
    let broken: Vec<Value> = values.iter().flat_map(sample::broken).collect();
    values.extend(broken);
    let mut seen = HashSet::new();
    values.retain(|value| seen.insert(value.to_string()));
    for value in &values {
        let violations = shape::violations(&pair.ours, revision, &pair.framed(value));
        let lines: Vec<String> = match (violations.is_empty(), theirs.is_valid(value)) {
            (false, true) => violations.iter().map(|v| format!("stricter: {} {}", v.pointer, v.message)).collect(),
            (true, false) => theirs
                .iter_errors(value)
                .map(|error| {
                    format!(
                        "looser: {} {}",
                        error.instance_path(),
                        error.schema_path().as_str().rsplit('/').next().unwrap_or_default()
                    )
                })
                .collect(),
            _ => continue,
        };
        for line in lines {
            let line = line.replacen(": ", &format!(": {revision} {} ", pair.official), 1);
            found.entry(line).or_insert_with(|| value.clone());
        }
    }
    values.len()
}

#[test]
fn our_shapes_judge_as_the_official_schemas_do() {
    let rows: Vec<Regex> = APART.iter().map(|(lines, _)| Regex::new(lines).expect("a pattern")).collect();
    let mut used = BTreeSet::new();
    let (mut types, mut compared, mut found) = (0, 0, BTreeMap::new());
    for official in Official::all() {
        for pair in official.names().filter_map(|name| pair(&official, name)) {
            compared += compare(&official, &pair, &mut found);
            types += 1;
        }
    }
    if types == 0 {
        return;
    }
    let unexplained: Vec<String> = found
        .into_iter()
        .filter(|(line, _)| {
            let row = rows.iter().position(|lines| lines.is_match(line));
            used.extend(row);
            row.is_none()
        })
        .map(|(line, value)| format!("{line}\n    {value}"))
        .collect();
    println!("{types} types, {compared} values");
    assert!(unexplained.is_empty(), "{} differences\n{}", unexplained.len(), unexplained.join("\n"));
    let idle: Vec<_> = (0..rows.len()).filter(|row| !used.contains(row)).map(|row| rows[row].as_str()).collect();
    assert!(idle.is_empty(), "explain nothing: {idle:#?}");
    assert!(types > 300 && compared > 50_000, "{types} types, {compared} values");
}

#[test]
fn every_official_type_is_described_or_has_a_reason_not_to_be() {
    let mut used = BTreeSet::new();
    let mut missing = Vec::new();
    let mut any = false;
    for official in Official::all() {
        any = true;
        for name in official.names().filter(|name| pair(&official, name).is_none()) {
            let excused = NOT_DESCRIBED.iter().position(|(names, _)| names.contains(&name));
            used.extend(excused);
            if excused.is_none() {
                missing.push(format!("{} {name}", official.revision));
            }
        }
    }
    assert_eq!(missing, [""; 0]);
    assert!(!any || used.len() == NOT_DESCRIBED.len(), "some rows excuse nothing");
}

#[test]
fn what_we_describe_is_official_or_has_a_reason_to_be() {
    let excuses: Vec<Regex> = OURS_ALONE.iter().map(|(names, _)| Regex::new(names).expect("a pattern")).collect();
    let mut used = BTreeSet::new();
    let all = Official::all();
    for official in &all {
        let paired: HashSet<String> =
            official.names().filter_map(|name| pair(official, name)).map(|pair| pair.ours).collect();
        for name in shape::names().filter(|name| shape::exists(name, official.revision) && !paired.contains(*name)) {
            let excuse = excuses.iter().position(|names| names.is_match(name));
            assert!(excuse.is_some(), "{} has no {name}", official.revision);
            used.extend(excuse);
        }
    }
    assert!(all.is_empty() || used.len() == excuses.len(), "only these rows excuse something: {used:?}");
}

#[test]
fn samples_of_our_shapes_fit_them() {
    for name in shape::names() {
        for revision in Revision::ALL.into_iter().filter(|revision| shape::exists(name, *revision)) {
            let samples = sample::all(&shape::schema(name, revision).expect("a shape that exists"));
            let fits = |sample: &Value| shape::violations(name, revision, sample).is_empty();
            assert!(samples.iter().any(fits), "{name} in {revision}: no sample fits");
        }
    }
}
