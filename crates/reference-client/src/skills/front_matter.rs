//! The front matter of a SKILL.md against that of its entry.

use serde_json::{Map, Value, json};

use super::Flaw;
use crate::state::Client;

/// Whether the file has the front matter of the entry: the same fields with the same values, in any order.
pub fn fits(client: &Client, text: &str, entry: &Value, is_dynamic: bool) -> bool {
    let Some(found) = front_matter(text) else { return false };
    let reserved = |value: &Value| {
        value["metadata"]
            .as_object()
            .is_some_and(|data| data.keys().any(|key| key.starts_with("io.modelcontextprotocol/")))
    };
    if client.has(Flaw::ReservedRejected) && reserved(entry) {
        return false;
    }
    let parsed = if client.has(Flaw::FrontMatterByLine) {
        by_line(found)
    } else {
        serde_saphyr::from_str::<Value>(found).unwrap_or_default()
    };
    let field = |name: &str| parsed[name] == entry[name];
    if is_dynamic && client.has(Flaw::DynamicNameOnly) {
        return field("name");
    }
    if client.has(Flaw::NameAndDescriptionOnly) {
        return field("name") && field("description");
    }
    if client.has(Flaw::FieldsOfFileIgnored) {
        let listed = entry.as_object().into_iter().flatten();
        return listed.into_iter().all(|(name, value)| same(&parsed[name], value));
    }
    if client.has(Flaw::OrderCompared) {
        let written = |value: &Value| value.to_string();
        return written(&parsed) == written(entry);
    }
    if client.has(Flaw::NumbersByType) {
        return parsed == *entry;
    }
    same(&parsed, entry)
}

/// What stands between the first two lines of three hyphens.
fn front_matter(text: &str) -> Option<&str> {
    let text = text.trim_start_matches('\u{feff}');
    let begun = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    Some(&begun[..=begun.find("\n---")?])
}

/// Numbers are the same by their value.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|of| same(value, of)))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

/// A parser that knows `name: value` on one line, and nothing else of YAML.
fn by_line(text: &str) -> Value {
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    lines.map(|(name, value)| (name.to_owned(), json!(value))).collect::<Map<_, _>>().into()
}
