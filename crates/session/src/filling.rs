//! Values for forms and tool arguments: the minimum that is valid, or something invalid.

use serde_json::{Map, Value, json};

/// The required fields, each with a minimal valid value.
pub fn filled(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut members = Map::new();
    for name in required {
        // A repeated name would cost exponential time if every level repeats it.
        if !members.contains_key(name) {
            members.insert(name.to_owned(), least(&schema["properties"][name]));
        }
    }
    Value::Object(members)
}

/// Every field with a value of another type, so that it cannot be mistaken for a valid response.
pub fn misfit(schema: &Value) -> Value {
    let members = schema["properties"].as_object().into_iter().flatten();
    let other = |field: &Value| if field["type"] == "string" { json!(7) } else { json!("mcp-conform") };
    Value::Object(members.map(|(name, field)| (name.clone(), other(field))).collect::<Map<_, _>>())
}

fn least(field: &Value) -> Value {
    if let Some(default) = field.get("default") {
        return default.clone();
    }
    let choices = |field: &Value| -> Vec<Value> {
        let named = ["oneOf", "anyOf"].iter().filter_map(|name| field[*name].as_array()).flatten();
        let plain = field["enum"].as_array().into_iter().flatten().cloned();
        plain.chain(named.filter_map(|choice| choice.get("const")).cloned()).collect()
    };
    if let Some(first) = choices(field).into_iter().next() {
        return first;
    }
    let bound = |name: &str| field[name].as_u64().and_then(|bound| usize::try_from(bound).ok());
    match field["type"].as_str().unwrap_or_default() {
        // Usually the question whether to continue.
        "boolean" => json!(true),
        "integer" | "number" => field.get("minimum").cloned().unwrap_or_else(|| json!(0)),
        "array" => choices(&field["items"]).into_iter().take(bound("minItems").unwrap_or(0)).collect(),
        "object" => filled(field),
        _ => match field["format"].as_str() {
            Some("email") => json!("conform@example.com"),
            Some("uri") => json!("https://example.com/"),
            Some("date") => json!("2026-01-01"),
            Some("date-time") => json!("2026-01-01T00:00:00Z"),
            _ => {
                let mut text: String = "conform".chars().take(bound("maxLength").unwrap_or(usize::MAX)).collect();
                text.extend(std::iter::repeat_n(
                    'm',
                    bound("minLength").unwrap_or(0).min(1000).saturating_sub(text.len()),
                ));
                json!(text)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_in_what_is_required_and_fits() {
        let schema = json!({
            "required": ["name", "age", "mail", "size", "tags", "sure"],
            "properties": {
                "name": { "type": "string", "minLength": 9 },
                "age": { "type": "integer", "minimum": 18 },
                "mail": { "type": "string", "format": "email" },
                "size": { "type": "string", "oneOf": [{ "const": "s", "title": "Small" }] },
                "tags": { "type": "array", "minItems": 1, "items": { "type": "string", "enum": ["a", "b"] } },
                "sure": { "type": "boolean" },
                "note": { "type": "string" },
            },
        });
        let expected = json!({ "name": "conformmm", "age": 18, "mail": "conform@example.com", "size": "s", "tags": ["a"], "sure": true });
        assert_eq!(filled(&schema), expected);
        assert_eq!((&misfit(&schema)["name"], &misfit(&schema)["age"]), (&json!(7), &json!("mcp-conform")));
    }
}
