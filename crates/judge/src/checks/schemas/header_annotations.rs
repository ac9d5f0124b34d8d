//! `x-mcp-header` in an input schema: its syntax, the annotated schema, and its location.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report, messages::leaves::pointer_below};
use conform_suite::format::Format;

pub const CHECK: Check = Check { name: "header-annotations", given: &["schema", "part"], run };

const KEYWORD: &str = "x-mcp-header";
/// The largest integer that every client can hold: 2^53 - 1.
const SAFE: f64 = 9_007_199_254_740_991.0;
/// Words that identify a secret, alone or in sequence.
const SECRETS: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "api key",
    "private key",
    "credential",
    "credentials",
    "token",
    "access token",
    "auth token",
    "refresh token",
    "bearer token",
    "ssn",
    "email",
];

/// One annotation.
struct Mark<'a> {
    pointer: String,
    header: &'a Value,
    /// The annotated schema and the name of its property.
    schema: &'a Value,
    name: &'a str,
    /// Only `properties` lead to it.
    reachable: bool,
}

fn run(given: &Given) -> Report {
    let mut marks = Vec::new();
    collect(given.value("schema"), "", "", false, true, &mut marks);
    let part = given.text("part");
    let faults = marks.iter().enumerate().filter_map(|(index, mark)| {
        let wrong = match part {
            "filled" => (mark.header == "").then(|| "is empty".to_owned()),
            "token" => token(mark.header),
            "control" => {
                let control = |text: &str| text.chars().any(|c| c.is_ascii_control());
                mark.header.as_str().is_some_and(control).then(|| "has control characters".to_owned())
            }
            "unique" => {
                let folded = |mark: &Mark| mark.header.as_str().map(str::to_ascii_lowercase);
                let first =
                    marks[..index].iter().find(|other| folded(other).is_some() && folded(other) == folded(mark));
                first.map(|first| format!("is already used by `{}`", first.name))
            }
            "type" => other_type(mark.schema),
            "safe" => beyond(mark.schema),
            "reachable" => (!mark.reachable).then(|| "is not reached through `properties` alone".to_owned()),
            _ => secret(mark).map(|word| format!("sends a value called \"{word}\" in a header")),
        }?;
        Some(Fault {
            given: "schema",
            pointer: format!("{}/{KEYWORD}", mark.pointer),
            message: format!("`{KEYWORD}` of `{}` {wrong}", mark.name),
            received: Some(mark.header.clone()),
            ..Fault::default()
        })
    });
    let faults = faults.collect();
    let checked = match part {
        // A single header is always unique.
        "unique" if marks.len() < 2 => 0,
        "safe" => marks.iter().filter(|mark| mark.schema["type"] == "integer").count(),
        _ => marks.len(),
    };
    Report { checked, faults, broken: None }
}

/// Every annotation, wherever a schema is allowed.
fn collect<'a>(
    schema: &'a Value,
    pointer: &str,
    name: &'a str,
    is_property: bool,
    reachable: bool,
    marks: &mut Vec<Mark<'a>>,
) {
    let Some(members) = schema.as_object() else { return };
    if let Some(header) = schema.get(KEYWORD) {
        marks.push(Mark { pointer: pointer.to_owned(), header, schema, name, reachable: reachable && is_property });
    }
    for (keyword, below) in members {
        let at = pointer_below(pointer, keyword);
        match (keyword.as_str(), below) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    collect(property, &pointer_below(&at, name), name, true, reachable, marks);
                }
            }
            ("patternProperties" | "$defs" | "definitions" | "dependentSchemas", Value::Object(schemas)) => {
                for (name, schema) in schemas {
                    collect(schema, &pointer_below(&at, name), name, false, false, marks);
                }
            }
            ("const" | "default" | "enum" | "examples", _) => {}
            (_, Value::Array(schemas)) => {
                for (index, schema) in schemas.iter().enumerate() {
                    collect(schema, &format!("{at}/{index}"), name, false, false, marks);
                }
            }
            (_, schema) => collect(schema, &at, name, false, false, marks),
        }
    }
}

/// What is wrong with a header name. An empty name and control characters have messages of their own.
fn token(header: &Value) -> Option<String> {
    match header.as_str() {
        None => Some("is not a string".to_owned()),
        Some(text) if text.is_empty() || text.chars().any(|c| c.is_ascii_control()) || Format::Token.fits(text) => None,
        Some(_) => Some(format!("is not {}", Format::Token.words())),
    }
}

fn other_type(schema: &Value) -> Option<String> {
    let types = match &schema["type"] {
        Value::String(only) => vec![only.as_str()],
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let other = types.into_iter().find(|kind| !matches!(*kind, "integer" | "string" | "boolean"))?;
    Some(format!("is on a property of type {other}"))
}

fn beyond(schema: &Value) -> Option<String> {
    let bound = |name: &str| schema[name].as_f64().filter(|bound| bound.abs() > SAFE);
    let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    let name = bounds.into_iter().find(|name| schema["type"] == "integer" && bound(name).is_some())?;
    Some(format!("is on an integer whose `{name}` is beyond 2^53 - 1"))
}

fn secret(mark: &Mark) -> Option<&'static str> {
    let called = [Some(mark.name), mark.header.as_str()].into_iter().flatten().map(words).collect::<Vec<_>>();
    SECRETS.into_iter().find(|secret| {
        let alone = *secret == "token";
        called.iter().any(|words| match alone {
            true => words == secret,
            false => format!(" {words} ").contains(&format!(" {secret} ")),
        })
    })
}

/// A name as lower-case words, however it joins them.
fn words(name: &str) -> String {
    let mut words = String::new();
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && before.is_ascii_lowercase()) {
            words.push(' ');
        }
        if c.is_ascii_alphanumeric() {
            words.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    fn told(part: &str, schema: &Value) -> Vec<String> {
        let given = [("schema", schema.clone()), ("part", json!(part))];
        let report = tried(&CHECK, Revision::V2026_07_28, given);
        report.faults.into_iter().map(|fault| fault.pointer).collect()
    }

    #[test]
    fn annotations_are_found_where_schemas_stand_and_nowhere_else() {
        let mark = json!({ "type": "string", "x-mcp-header": "A" });
        let schema = json!({ "type": "object", "default": mark, "properties": {
            "x-mcp-header": { "type": "string" },
            "a": { "type": "object", "properties": { "b": mark } },
            "list": { "type": "array", "items": mark },
        }, "$defs": { "d": mark } });
        let list = "/properties/list/items/x-mcp-header";
        assert_eq!(told("reachable", &schema), [list, "/$defs/d/x-mcp-header"]);
        assert_eq!(told("unique", &schema), [list, "/$defs/d/x-mcp-header"]);
        assert!(told("token", &schema).is_empty());
    }

    #[test]
    fn names_of_secrets_are_told_from_their_neighbours() {
        let of = |name: &str| json!({ "properties": { name: { "type": "string", "x-mcp-header": "X" } } });
        for name in ["api_key", "apiKey", "token", "access-token", "userPassword", "email"] {
            assert_eq!(told("secret", &of(name)).len(), 1, "{name}");
        }
        for name in ["max_tokens", "page_token", "region", "key", "secretary"] {
            assert!(told("secret", &of(name)).is_empty(), "{name}");
        }
    }
}
