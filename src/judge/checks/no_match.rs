//! A text, or none of those inside of a value, has anything in it that a regular expression finds.

use regex::Regex;
use serde_json::Value;

use super::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "no-match", given: &["text", "pattern"], run };

fn run(given: &Given) -> Report {
    let Ok(pattern) = Regex::new(given.text("pattern")) else {
        return Report { broken: Some("the pattern is no regular expression".into()), ..Report::default() };
    };
    if given.value("text").is_null() {
        return Report::default();
    }
    let mut faults = Vec::new();
    find(given.value("text"), &pattern, "", &mut faults);
    Report::of(faults)
}

fn find(value: &Value, pattern: &Regex, pointer: &str, faults: &mut Vec<Fault>) {
    let below = |name: &str| format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| find(item, pattern, &below(&index.to_string()), faults));
        }
        Value::Object(members) => members.iter().for_each(|(name, member)| find(member, pattern, &below(name), faults)),
        Value::String(text) => faults.extend(pattern.find(text).map(|found| Fault {
            given: "text",
            pointer: pointer.to_owned(),
            message: format!("holds `{}`", found.as_str().trim()),
            received: Some(text.as_str().into()),
            ..Fault::default()
        })),
        _ => {}
    }
}
