//! The patterns in the schemas of a tool are valid ECMA-262 regular expressions, as JSON Schema recommends.

use regress::Regex;
use serde_json::{Map, Value};

use super::schema_parts::each_part;
use crate::checks::{Check, Fault, Given, Report};
use conform_suite::{foreign::in_time, push_token};

pub const CHECK: Check = Check { name: "schema-patterns", given: &["tool"], run };

/// Longer patterns are skipped: the parser recurses as deep as the pattern nests.
const LONGEST: usize = 1000;
/// The modes in which validators compile patterns: without flags, with Unicode sets (`v`), and Unicode (`u`).
const FLAGS: [&str; 3] = ["", "v", "u"];

/// A pattern with its pointer.
struct Pattern {
    pointer: String,
    text: String,
}

fn run(given: &Given) -> Report {
    let tool = given.value("tool");
    let Some((checked, broken)) = in_time(tool.clone(), |tool| Some(broken(tool))) else { return Report::default() };
    let fault = |(Pattern { pointer, text }, why): (Pattern, String)| Fault {
        given: "tool",
        message: format!("`{text}` is not an ECMA-262 regular expression: {why}"),
        subject: tool["name"].as_str().map(str::to_owned),
        received: Some(Value::from(text)),
        pointer,
        ..Fault::default()
    };
    Report { checked, faults: broken.into_iter().map(fault).collect(), broken: None }
}

/// The number of patterns, and the invalid ones with the reason.
fn broken(tool: &Value) -> (usize, Vec<(Pattern, String)>) {
    let mut patterns = Vec::new();
    for member in ["inputSchema", "outputSchema"] {
        each_part(&tool[member], &format!("/{member}"), &mut |part, pointer| {
            patterns.extend(patterns_of(part, pointer));
        });
    }
    let all = patterns.len();
    let wrong = |pattern: Pattern| mistake(&pattern.text).map(|why| (pattern, why));
    (all, patterns.into_iter().filter_map(wrong).collect())
}

fn patterns_of(part: &Map<String, Value>, pointer: &str) -> impl Iterator<Item = Pattern> {
    let pattern = part.get("pattern").and_then(Value::as_str);
    let pattern = pattern.map(|text| Pattern { pointer: format!("{pointer}/pattern"), text: text.to_owned() });
    let names = part.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    pattern.into_iter().chain(names.map(move |text| {
        let mut below = format!("{pointer}/patternProperties");
        push_token(&mut below, text);
        Pattern { pointer: below, text: text.clone() }
    }))
}

/// The error of a pattern that is invalid in every mode.
fn mistake(pattern: &str) -> Option<String> {
    if pattern.len() > LONGEST {
        return None;
    }
    let mut last = None;
    for flags in FLAGS {
        last = Some(Regex::with_flags(pattern, flags).err()?.text);
    }
    last
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(schema: &Value) -> Vec<String> {
        broken(&json!({ "inputSchema": schema })).1.into_iter().map(|(pattern, _)| pattern.pointer).collect()
    }

    #[test]
    fn patterns_that_can_be_read_in_some_way_are_left_alone() {
        for pattern in [
            "^[\\w\\-.]+$",
            "(?<=a)b(?!c)",
            "^\\p{L}+$",
            "^(?<y>\\d{4})-\\k<y>$",
            "(?i:a)",
            "[[]",
            "[A-Z&&[A-C]]",
            "a{,3}",
            "\\/",
            "[^]",
            "{",
            "",
        ] {
            assert_eq!(told(&json!({ "properties": { "a": { "pattern": pattern } } })), [""; 0], "{pattern}");
        }
        assert_eq!(told(&json!({ "properties": { "pattern": { "default": { "pattern": "(" } } } })), [""; 0]);
    }

    #[test]
    fn others_are_told_with_their_place() {
        for pattern in ["[a-z", "(a", "a)", "*a", "a++", "[z-a]", "(?i)abc", "(?P<x>a)"] {
            assert_eq!(told(&json!({ "items": { "pattern": pattern } })), ["/inputSchema/items/pattern"], "{pattern}");
        }
        assert_eq!(told(&json!({ "patternProperties": { "^(": {} } })), ["/inputSchema/patternProperties/^("]);
    }
}
