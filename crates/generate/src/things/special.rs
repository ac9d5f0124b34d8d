//! Unusual values are read as they were confirmed.

use serde_json::{Value, json};

use super::{
    Outcome,
    bench::{Bench, is_valid, salted_arguments},
    reads::differs,
};

/// Unusual values of the same type, each with what it is.
fn unusual(value: &Value) -> Vec<(&'static str, Value)> {
    match value {
        Value::String(_) => vec![
            ("a text with spaces around it", json!("  alpha  ")),
            ("a text with capitals", json!("Alpha BRAVO")),
            ("a text of 120 characters", json!("alpha ".repeat(20).trim_end().to_owned() + "z")),
            ("a text of 5,000 characters", json!("a".repeat(5_000))),
            ("a text with characters of HTML", json!("<b>alpha</b> & \"bravo\" 'c'")),
            ("a text with letters of other scripts", json!("Ünï 日本 😀")),
            ("a text with characters that combine", json!("cafe\u{301}")),
            ("a text with line breaks", json!("alpha\nbravo\r\n\tc")),
            ("a text with characters of formats", json!("{alpha} %s $b \\n")),
            ("an empty text", json!("")),
            ("a text of digits", json!("007")),
            ("the word null", json!("null")),
        ],
        Value::Number(_) => vec![
            ("zero", json!(0)),
            ("a negative number", json!(-7)),
            ("a number beyond 32 bits", json!(5_000_000_000_i64)),
            ("a number beyond 2^53", json!((1_i64 << 53) + 1)),
            ("a fraction", json!(0.1)),
            ("a long fraction", json!(1.234_567_890_123)),
        ],
        Value::Bool(_) => vec![("false", json!(false)), ("true", json!(true))],
        Value::Array(items) if items.iter().all(Value::is_string) => vec![
            ("an empty array", json!([])),
            ("an item twice", json!(["alpha", "alpha"])),
            ("items that are not sorted", json!(["delta", "alpha", "charlie"])),
        ],
        Value::Array(_) => vec![("an empty array", json!([]))],
        _ => Vec::new(),
    }
}

/// The unusual values of each field, and of the fields in it, that the tool accepts by its schema.
pub fn values(bench: &Bench) -> Vec<(String, &'static str, Value)> {
    let create = bench.group.create;
    let Some(plain) = salted_arguments(create, 1) else { return Vec::new() };
    let keys = bench.group.read.map(super::group::required).unwrap_or_default();
    let mut all = Vec::new();
    for (name, value) in plain.iter().filter(|(name, _)| !keys.contains(name)) {
        let mut found = unusual(value);
        for (inner, own) in value.as_object().into_iter().flatten() {
            found.extend(unusual(own).into_iter().map(|(what, odd)| {
                let mut whole = value.clone();
                whole[inner] = odd;
                (what, whole)
            }));
        }
        for (what, odd) in found {
            let mut arguments = plain.clone();
            arguments.insert(name.clone(), odd.clone());
            if is_valid(create, &arguments.into()) {
                all.push((name.clone(), what, odd));
            }
        }
    }
    all
}

/// A thing with this value keeps it, if its creation confirms it.
pub async fn kept(bench: &mut Bench<'_, '_, '_>, field: &str, what: &str, value: &Value) -> Outcome {
    let mut arguments = bench.arguments()?;
    arguments.insert(field.to_owned(), value.clone());
    let thing = bench.create_with(arguments).await?;
    let mut confirmed = thing.confirmed.clone();
    confirmed.retain(|name, _| name == field);
    if confirmed.is_empty() {
        return None;
    }
    let Ok(shown) = bench.read(&thing).await? else {
        return Some(Err(format!("with {what} in `{field}`, {} was created and cannot be read", thing.id())));
    };
    if differs(&confirmed, &shown).is_some() && !shown.contains_key(field) {
        // A field that is never shown says nothing.
        let usual = bench.create().await?;
        bench.read(&usual).await?.ok()?.get(field)?;
    }
    Some(match differs(&confirmed, &shown) {
        Some(told) => Err(format!("with {what}: {told}")),
        None => Ok(()),
    })
}
