//! The keywords of a schema that calls can cover.

use serde_json::Value;

/// Keywords that have a bound or can be violated.
const ASSERTIONS: [&str; 22] = [
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
