//! The patterns in the schemas of a tool are regular expressions.

use regress::Regex;
use serde_json::{Map, Value};

use super::{Check, Fault, Given, Report, schema_parts::each_part};
use crate::suite::{foreign::in_time, push_token};

pub const CHECK: Check = Check { name: "schema-patterns", given: &["tool"], run };

/// Longer ones are not looked at: reading what is nested goes as deep.
const LONGEST: usize = 1000;

/// A pattern, and the pointer to where it stands.
struct Pattern {
    pointer: String,
    text: String,
}

fn run(given: &Given) -> Report {
    let tool = given.value("tool");
    let Some((checked, broken)) = in_time(tool.clone(), |tool| Some(broken(tool))) else { return Report::default() };
    let fault = |Pattern { pointer, text }: Pattern| Fault {
        given: "tool",
        message: format!("`{text}` is no regular expression"),
        subject: tool["name"].as_str().map(str::to_owned),
        received: Some(Value::from(text)),
        pointer,
        ..Fault::default()
    };
    Report { checked, faults: broken.into_iter().map(fault).collect(), broken: None }
}

/// How many patterns there are, and those that cannot be read.
fn broken(tool: &Value) -> (usize, Vec<Pattern>) {
    let mut patterns = Vec::new();
    for member in ["inputSchema", "outputSchema"] {
        each_part(&tool[member], &format!("/{member}"), &mut |part, pointer| {
            patterns.extend(patterns_of(part, pointer));
        });
    }
    let all = patterns.len();
    patterns.retain(|pattern| pattern.text.len() <= LONGEST && !is_readable(&pattern.text));
    (all, patterns)
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

/// The dialect is that of ECMA-262, with or without its flag `u`; what other engines read may still be of use to somebody.
fn is_readable(pattern: &str) -> bool {
    ["u", ""].iter().any(|flags| Regex::with_flags(pattern, *flags).is_ok()) || regex::Regex::new(pattern).is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(schema: &Value) -> Vec<String> {
        broken(&json!({ "inputSchema": schema })).1.into_iter().map(|pattern| pattern.pointer).collect()
    }

    #[test]
    fn patterns_that_some_engine_reads_are_left_alone() {
        for pattern in
            ["^[\\w\\-]+$", "(?<=a)b(?!c)", "^\\p{L}+$", "[[]", "a{,3}", "(?i)abc", "(?P<x>a)", "\\/", "[^]", "{", ""]
        {
            assert_eq!(told(&json!({ "properties": { "a": { "pattern": pattern } } })), [""; 0], "{pattern}");
        }
        assert_eq!(told(&json!({ "properties": { "pattern": { "default": { "pattern": "(" } } } })), [""; 0]);
    }

    #[test]
    fn patterns_that_none_reads_are_told() {
        for pattern in ["[a-z", "(a", "a)", "*a", "[z-a]"] {
            assert_eq!(told(&json!({ "items": { "pattern": pattern } })), ["/inputSchema/items/pattern"], "{pattern}");
        }
        assert_eq!(told(&json!({ "patternProperties": { "^(": {} } })), ["/inputSchema/patternProperties/^("]);
    }
}
