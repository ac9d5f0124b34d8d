//! The headers that mirror a message of 2026-07-28.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value};

/// A parameter of a tool that is mirrored: where it is, and the name after `Mcp-Param-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredParam {
    pub path: Vec<String>,
    pub name: String,
}

/// A value in a header: plain if possible, otherwise in Base64 between markers.
pub fn encode(value: &str) -> String {
    let plain = value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && !value.starts_with(' ')
        && !value.ends_with(' ')
        && !is_sentinel(value);
    if plain { value.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(value)) }
}

fn is_sentinel(value: &str) -> bool {
    value.starts_with("=?base64?") && value.ends_with("?=")
}

/// An argument as text; `None` if it is not mirrored.
pub fn text_of(argument: &Value) -> Option<String> {
    match argument {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => match number.as_f64() {
            // Integers within the safe range are written as integers, whatever their form in the body.
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_991.0 => {
                Some(format!("{float:.0}"))
            }
            _ => Some(number.to_string()),
        },
        _ => None,
    }
}

/// The mirrored parameters of a tool, or why its annotations are invalid.
pub fn mirrored(schema: &Value) -> Result<Vec<MirroredParam>, String> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), true, &mut found, 0)?;
    for (at, param) in found.iter().enumerate() {
        if found[..at].iter().any(|other| other.name.eq_ignore_ascii_case(&param.name)) {
            return Err(format!("two parameters have x-mcp-header `{}`", param.name));
        }
    }
    Ok(found)
}

/// Deeper schemas are ignored: they come from a hostile server.
const DEEPEST: usize = 64;

fn collect(
    schema: &Value,
    path: &mut Vec<String>,
    reachable: bool,
    found: &mut Vec<MirroredParam>,
    depth: usize,
) -> Result<(), String> {
    if depth > DEEPEST {
        return Ok(());
    }
    match schema {
        Value::Object(members) => {
            if let Some(annotation) = members.get("x-mcp-header").filter(|_| depth > 0) {
                found.push(check(annotation, members, path, reachable)?);
            }
            for (keyword, value) in members {
                if keyword == "properties" {
                    for (name, property) in value.as_object().into_iter().flatten() {
                        path.push(name.clone());
                        collect(property, path, reachable, found, depth + 1)?;
                        path.pop();
                    }
                } else if !matches!(keyword.as_str(), "enum" | "const" | "default" | "examples") {
                    collect(value, path, false, found, depth + 1)?;
                }
            }
            Ok(())
        }
        Value::Array(elements) => {
            elements.iter().try_for_each(|element| collect(element, path, false, found, depth + 1))
        }
        _ => Ok(()),
    }
}

fn check(
    annotation: &Value,
    schema: &Map<String, Value>,
    path: &[String],
    reachable: bool,
) -> Result<MirroredParam, String> {
    let Some(name) = annotation.as_str() else { return Err("x-mcp-header is not a string".to_owned()) };
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(format!("x-mcp-header `{name}` is not a token"));
    }
    if !reachable {
        return Err(format!("x-mcp-header `{name}` is not reached by `properties` alone"));
    }
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    if !matches!(kind, "string" | "integer" | "boolean") {
        return Err(format!("x-mcp-header `{name}` stands at the type `{kind}`"));
    }
    Ok(MirroredParam { path: path.to_vec(), name: name.to_owned() })
}

/// The value of a mirrored parameter in the arguments of a call.
pub fn argument<'a>(arguments: &'a Value, param: &MirroredParam) -> Option<&'a Value> {
    param.path.iter().try_fold(arguments, |value, name| value.get(name)).filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unsafe_values_are_encoded() {
        assert_eq!(encode("a b"), "a b");
        assert_eq!(encode(""), "");
        assert_eq!(encode(" a"), "=?base64?IGE=?=");
        assert_eq!(encode("gr\u{fc}n"), "=?base64?Z3LDvG4=?=");
        assert_eq!(encode("a\r\nX-Injected: 1"), "=?base64?YQ0KWC1JbmplY3RlZDogMQ==?=");
        assert_eq!(encode("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
    }

    #[test]
    fn integers_have_no_fraction() {
        assert_eq!(text_of(&json!(42.0)).as_deref(), Some("42"));
        assert_eq!(text_of(&json!(-7)).as_deref(), Some("-7"));
        assert_eq!(text_of(&json!(true)).as_deref(), Some("true"));
        assert_eq!(text_of(&json!([1])), None);
    }

    #[test]
    fn annotations_are_found_by_properties() {
        let schema = json!({ "properties": {
            "a": { "type": "string", "x-mcp-header": "A" },
            "b": { "properties": { "c": { "type": "integer", "x-mcp-header": "Method" } } }
        } });
        let found = mirrored(&schema).unwrap();
        assert_eq!(found[1], MirroredParam { path: vec!["b".into(), "c".into()], name: "Method".into() });
        assert_eq!(argument(&json!({ "b": { "c": 3 } }), &found[1]), Some(&json!(3)));
        assert_eq!(argument(&json!({ "a": null }), &found[0]), None);
    }

    #[test]
    fn invalid_annotations_are_rejected() {
        let of = |property: Value| mirrored(&json!({ "properties": { "p": property } }));
        assert!(of(json!({ "type": "string", "x-mcp-header": "" })).is_err());
        assert!(of(json!({ "type": "string", "x-mcp-header": "a b" })).is_err());
        assert!(of(json!({ "type": "number", "x-mcp-header": "A" })).is_err());
        assert!(of(json!({ "type": "array", "items": { "type": "string", "x-mcp-header": "A" } })).is_err());
        assert!(of(json!({ "anyOf": [{ "type": "string", "x-mcp-header": "A" }] })).is_err());
        let twice = json!({ "properties": {
            "a": { "type": "string", "x-mcp-header": "Name" },
            "b": { "type": "string", "x-mcp-header": "name" }
        } });
        assert!(mirrored(&twice).is_err());
    }
}
