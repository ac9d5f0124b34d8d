//! Nothing in a message repeats what was meant for the server alone.

use serde_json::Value;

use super::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "tells-none", given: &["message", "of"], run };

fn run(given: &Given) -> Report {
    let mut told = Vec::new();
    for secret in given.value("of").as_array().into_iter().flatten().filter_map(Value::as_str) {
        find(given.value("message"), secret, "", &mut told);
    }
    let faults = told.into_iter().map(|(pointer, secret)| Fault {
        given: "message",
        pointer,
        message: format!("it repeats `{secret}`, which was sent as an argument"),
        ..Fault::default()
    });
    Report::of(faults.collect())
}

/// Every value under `value` in which the secret stands, be it as a part of a text or as a number.
fn find(value: &Value, secret: &str, pointer: &str, told: &mut Vec<(String, String)>) {
    let below = |name: &str| format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| find(item, secret, &below(&index.to_string()), told));
        }
        Value::Object(members) => members.iter().for_each(|(name, member)| find(member, secret, &below(name), told)),
        Value::String(text) if text.contains(secret) => told.push((pointer.to_owned(), secret.to_owned())),
        Value::Number(number) if number.to_string() == secret => told.push((pointer.to_owned(), secret.to_owned())),
        _ => {}
    }
}
