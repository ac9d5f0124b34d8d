//! A text in a value contains one of the names.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "names-one-of", given: &["texts", "names"], run };

fn run(given: &Given) -> Report {
    let names: Vec<&str> = given.value("names").as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let (texts, names) = (given.value("texts"), names.as_slice());
    if names.is_empty() || texts.is_null() {
        return Report::default();
    }
    if holds(texts, names) {
        return Report::of(Vec::new());
    }
    let message = format!("it does not name {}", names.join(" or "));
    Report::of(vec![Fault { given: "texts", message, received: Some(texts.clone()), ..Fault::default() }])
}

fn holds(value: &Value, names: &[&str]) -> bool {
    match value {
        Value::String(text) => names.iter().any(|name| text.contains(name)),
        Value::Array(items) => items.iter().any(|item| holds(item, names)),
        Value::Object(members) => members.values().any(|member| holds(member, names)),
        _ => false,
    }
}
