//! Matchers that compare values with each other.

use std::{collections::HashSet, fmt::Write};

use serde_json::Value;

use super::{Compared, Mismatch, compare, show};
use crate::path::Node;

pub fn unique(items: &[Node<'_>]) -> Vec<Mismatch> {
    let mut known = HashSet::new();
    let mut is_new = |item: &Node<'_>| {
        let mut key = String::new();
        canonical(item.value, &mut key);
        known.insert(key)
    };
    let repeated = items.iter().filter(|item| !is_new(item));
    repeated.map(|item| Mismatch::new(&item.location, format!("repeats {}", show::value(item.value)))).collect()
}

pub fn all_equal(items: &[Node<'_>], ignoring: &[String]) -> Vec<Mismatch> {
    let Some((first, rest)) = items.split_first() else { return Vec::new() };
    rest.iter().filter_map(|item| compare::equals(item, first.value, ignoring)).collect()
}

/// The items to compare.
pub fn items<'v>(nodes: &[Node<'v>], of: Compared) -> Vec<Node<'v>> {
    if let (Compared::Elements, [Node { value: Value::Array(items), location }]) = (of, nodes) {
        let item = |(at, value)| Node { value, location: format!("{location}/{at}") };
        return items.iter().enumerate().map(item).collect();
    }
    nodes.to_vec()
}

/// Appends a text that is the same for two values exactly if they are equal.
fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Number(number) => match compare::integer(number) {
            Some(integer) => {
                let _ = write!(text, "{integer}");
            }
            None => text.push_str(&number.to_string()),
        },
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut names: Vec<_> = members.keys().collect();
            names.sort_unstable();
            text.push('{');
            for name in names {
                let _ = write!(text, "{name:?}:");
                canonical(&members[name], text);
                text.push(',');
            }
            text.push('}');
        }
        Value::String(string) => {
            let _ = write!(text, "{string:?}");
        }
        Value::Null | Value::Bool(_) => text.push_str(&value.to_string()),
    }
}
