//! The patterns in the schemas of a tool are regular expressions of the language that JSON Schema names.

use regress::Regex;
use serde_json::Value;

use super::{Check, Fault, Given, Report, schema_references::VALUES};
use crate::suite::push_token;

pub const CHECK: Check = Check { name: "schema-patterns", given: &["tool"], run };

/// Longer ones are made by machines, and take their time.
const LONGEST: usize = 10_000;
/// How validators read patterns: as Unicode, as the older language, and with sets of the newer one.
const FLAGS: [&str; 3] = ["u", "", "v"];

fn run(given: &Given) -> Report {
    let mut report = Report::default();
    let tool = given.value("tool");
    for member in ["inputSchema", "outputSchema"] {
        let mut seen = 0;
        let mut faults = Vec::new();
        look(&tool[member], &format!("/{member}"), &mut |pointer, pattern| {
            seen += 1;
            if let Some(why) = mistake(pattern) {
                faults.push(Fault {
                    given: "tool",
                    pointer: pointer.to_owned(),
                    message: format!("`{pattern}` is no regular expression of ECMA-262: {why}"),
                    subject: tool["name"].as_str().map(str::to_owned),
                    received: Some(Value::from(pattern)),
                    ..Fault::default()
                });
            }
        });
        report.checked += seen;
        report.faults.extend(faults);
    }
    report
}

/// What is wrong with a pattern in whatever way it is read.
fn mistake(pattern: &str) -> Option<String> {
    if pattern.len() > LONGEST || FLAGS[1..].iter().any(|flags| Regex::with_flags(pattern, *flags).is_ok()) {
        return None;
    }
    Regex::with_flags(pattern, FLAGS[0]).err().map(|error| error.text)
}

/// Tells each pattern with where it stands.
fn look(part: &Value, pointer: &str, tell: &mut impl FnMut(&str, &str)) {
    let below = |name: &str| {
        let mut below = pointer.to_owned();
        push_token(&mut below, name);
        below
    };
    match part {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| look(item, &below(&index.to_string()), tell));
        }
        Value::Object(members) => {
            for (name, part) in members.iter().filter(|(name, _)| !VALUES.contains(&name.as_str())) {
                match part {
                    Value::String(pattern) if name == "pattern" => tell(&below(name), pattern),
                    Value::Object(patterns) if name == "patternProperties" => {
                        patterns.keys().for_each(|pattern| tell(&below(name), pattern));
                        look(part, &below(name), tell);
                    }
                    part => look(part, &below(name), tell),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dialects_of_other_languages_are_mistakes() {
        for good in [
            "^\\p{L}+$",
            "^(?!x)(?<y>\\d{4})-\\k<y>$",
            "(?<=a)b",
            "(?i:a)",
            "[\\w-.]",
            "\\_",
            "a{,3}",
            "[A-Z&&[A-C]]",
            "",
        ] {
            assert_eq!(mistake(good), None, "{good}");
        }
        for bad in ["(", "(?P<year>\\d+)", "(?i)abc", "a++", "[z-a]", "*"] {
            assert!(mistake(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn properties_that_are_called_so_are_no_patterns() {
        let mut found = Vec::new();
        let schema = json!({
            "properties": { "pattern": { "type": "string", "pattern": "a" }, "patternProperties": { "type": "object" } },
            "patternProperties": { "^b": { "pattern": "c" } },
            "default": { "pattern": "d" },
        });
        look(&schema, "", &mut |pointer, pattern| found.push(format!("{pointer} {pattern}")));
        assert_eq!(
            found,
            [
                "/properties/pattern/pattern a",
                "/properties/patternProperties type",
                "/patternProperties ^b",
                "/patternProperties/^b/pattern c",
            ]
        );
    }
}
