//! Objects with a field too few or too many.

use serde_json::{Map, Value, json};

use super::Made;
use crate::values::{invalid::NONSENSE, schema::Root, spots::matches};

pub const UNKNOWN: &str = "an unknown field";
pub const UNKNOWN_TEXT: &str = "an unknown field with a text";
pub const UNKNOWN_NULL: &str = "an unknown field that is null";
/// Maximum number of added fields.
const ADDED: usize = 200;

pub fn objects(root: Root, part: &Map<String, Value>, members: &Map<String, Value>, all: &mut Made) {
    required(root, part, members, all);
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        if part.get(keyword) == Some(&Value::Bool(false)) {
            for (kind, value) in [(UNKNOWN, json!(true)), (UNKNOWN_TEXT, json!(NONSENSE)), (UNKNOWN_NULL, Value::Null)]
            {
                all.add(keyword, kind, with(members, NONSENSE, value));
            }
        }
    }
    dependent(part, members, all);
    names(part, members, all);
    counts(part, members, all);
}

fn with(members: &Map<String, Value>, name: &str, value: Value) -> Map<String, Value> {
    let mut more = members.clone();
    more.insert(name.to_owned(), value);
    more
}

fn without(members: &Map<String, Value>, name: &str) -> Map<String, Value> {
    let mut fewer = members.clone();
    fewer.shift_remove(name);
    fewer
}

fn required(root: Root, part: &Map<String, Value>, members: &Map<String, Value>, all: &mut Made) {
    for name in part.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        // A field with a default may be filled in by the server, and one that is also sent in a header needs both.
        let own =
            part.get("properties").and_then(|parts| parts.get(name)).map(|own| root.flat(own)).unwrap_or_default();
        if !own.contains_key("default") && !own.contains_key("x-mcp-header") && !own.contains_key("const") {
            all.add("required", "left out", without(members, name));
            all.add("required", "another field for it", with(&without(members, name), NONSENSE, json!(NONSENSE)));
        }
    }
}

fn dependent(part: &Map<String, Value>, members: &Map<String, Value>, all: &mut Made) {
    for keyword in ["dependentRequired", "dependencies"] {
        for (name, needed) in part.get(keyword).and_then(Value::as_object).into_iter().flatten() {
            for needed in needed.as_array().into_iter().flatten().filter_map(Value::as_str) {
                let own = members.get(name).cloned().unwrap_or(json!(NONSENSE));
                all.add(keyword, "left out", without(&with(members, name, own), needed));
            }
        }
    }
}

/// Fields with names that are not allowed, or that two patterns match.
fn names(part: &Map<String, Value>, members: &Map<String, Value>, all: &mut Made) {
    let value = members.values().next_back().cloned().unwrap_or(json!(NONSENSE));
    if part.contains_key("propertyNames") {
        let known = members.keys().next_back().map_or("a", String::as_str);
        for (kind, name) in [
            ("another name", NONSENSE.to_owned()),
            ("another name", "#".to_owned()),
            ("a longer name", format!("{known}#")),
            ("a name in capitals", known.to_uppercase()),
            ("a name with a digit", format!("{known}1")),
            ("an empty name", String::new()),
        ] {
            all.add("propertyNames", kind, with(members, &name, value.clone()));
        }
    }
    let patterns: Vec<&String> =
        part.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::keys).collect();
    for one in &patterns {
        for other in patterns.iter().filter(|other| other != &one) {
            let of = |pattern: &str| members.iter().find(|(name, _)| matches(pattern, name));
            let (Some((a, value)), Some((b, _))) = (of(one), of(other)) else { continue };
            for name in [format!("{a}{b}"), format!("{b}{a}")] {
                all.add("patternProperties", "a name that two patterns match", with(members, &name, value.clone()));
            }
        }
    }
}

fn counts(part: &Map<String, Value>, members: &Map<String, Value>, all: &mut Made) {
    let bound = |keyword: &str| part.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    if let Some(least) = bound("minProperties").filter(|least| *least > 0) {
        let fewer: Map<_, _> =
            members.iter().take(least - 1).map(|(name, value)| (name.clone(), value.clone())).collect();
        all.add("minProperties", "one field less", fewer);
    }
    if let Some(most) = bound("maxProperties").filter(|most| *most < ADDED) {
        all.add("maxProperties", "one field more", with_fields(members, most + 1));
    }
}

/// The object with so many fields, whose values are those of the last one.
pub fn with_fields(members: &Map<String, Value>, count: usize) -> Map<String, Value> {
    let mut more = members.clone();
    let (last, value) =
        members.iter().next_back().map_or(("k", json!(1)), |(name, value)| (name.as_str(), value.clone()));
    let mut name = last.to_owned();
    while more.len() < count {
        name.push(last.chars().next_back().unwrap_or('k'));
        more.insert(name.clone(), value.clone());
    }
    more
}
