//! The keywords of a schema that calls can cover.

use serde_json::Value;

use super::spots::escaped;

/// Keywords that have a bound or can be violated.
const ASSERTIONS: [&str; 32] = [
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "not",
    "propertyNames",
    "dependencies",
    "minContains",
    "maxContains",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
    "anyOf",
    "oneOf",
    "patternProperties",
];

/// Those that occur anywhere in a schema.
pub fn keywords(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(parts) => {
            for (name, part) in parts {
                let asserts = ASSERTIONS.contains(&name.as_str())
                    && (name != "additionalProperties" || *part == Value::Bool(false));
                if asserts && !found.contains(name) {
                    found.push(name.clone());
                }
                match name.as_str() {
                    "properties" | "$defs" | "definitions" | "patternProperties" => {
                        part.as_object().into_iter().flatten().for_each(|(_, part)| keywords(part, found));
                    }
                    "enum" | "const" | "default" | "examples" => {}
                    _ => keywords(part, found),
                }
            }
        }
        Value::Array(parts) => parts.iter().for_each(|part| keywords(part, found)),
        _ => {}
    }
}

/// Each keyword that a call can violate, with the location of its part.
pub fn pairs(schema: &Value, at: &str, found: &mut Vec<(String, String)>) {
    let Some(parts) = schema.as_object() else { return };
    for (name, part) in parts {
        let location = format!("{at}/{name}");
        match name.as_str() {
            "properties" | "$defs" | "definitions" | "patternProperties" | "dependentSchemas" => {
                for (inner, part) in part.as_object().into_iter().flatten() {
                    pairs(part, &format!("{location}/{}", escaped(inner)), found);
                }
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" | "items" if part.is_array() => {
                for (nr, part) in part.as_array().into_iter().flatten().enumerate() {
                    pairs(part, &format!("{location}/{nr}"), found);
                }
            }
            "items" | "additionalProperties" | "additionalItems" | "then" | "else" => pairs(part, &location, found),
            _ => {}
        }
        let closes = !matches!(
            name.as_str(),
            "additionalProperties" | "additionalItems" | "uniqueItems" | "unevaluatedProperties" | "unevaluatedItems"
        ) || (*part == Value::Bool(name == "uniqueItems"));
        // What `format` says need not be validated, patterns of names only choose parts, and arguments are objects.
        let is_open = matches!(name.as_str(), "format" | "patternProperties") || (name == "type" && at.is_empty());
        if ASSERTIONS.contains(&name.as_str()) && closes && !is_open {
            found.push((name.clone(), at.to_owned()));
        }
    }
}
