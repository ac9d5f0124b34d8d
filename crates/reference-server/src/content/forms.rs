//! Forms and tools in requests to the client: a form with every kind of field, and a tool for the client's model.

use serde_json::{Value, json};

use crate::content::tools::text;
use conform_model::revision::Revision;

/// The client's response to a form.
pub enum Answer<'a> {
    Given(&'a Value),
    Withheld,
    Unfit(String),
}

/// The params of a form for the name of a person.
pub fn person(revision: Revision) -> Value {
    let mut fields = json!({
        "name": { "type": "string", "title": "Name", "description": "As on the door.", "minLength": 1, "maxLength": 60 },
        "mail": { "type": "string", "format": "email" },
        "age": { "type": "integer", "minimum": 0, "maximum": 150 },
        "news": { "type": "boolean", "default": false },
        "size": { "type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"] },
    });
    if revision.features().rich_forms {
        let sizes = json!([{ "const": "s", "title": "Small" }, { "const": "l", "title": "Large" }]);
        fields["size"] = json!({ "type": "string", "oneOf": sizes });
        fields["kind"] = json!({ "type": "string", "enum": ["guest", "host"] });
        let colours = json!({ "type": "string", "enum": ["red", "blue"] });
        fields["colours"] = json!({ "type": "array", "items": colours, "minItems": 1 });
    }
    let schema = json!({ "type": "object", "properties": fields, "required": ["name", "mail", "size"] });
    let mut params = json!({ "message": "Who are you?", "requestedSchema": schema });
    if revision.features().capability_details {
        params["mode"] = json!("form");
    }
    params
}

/// Reads the response to a form; checks only what the forms of this server contain.
pub fn answer<'a>(answer: &'a Value, schema: &Value) -> Answer<'a> {
    match answer["action"].as_str() {
        Some("decline" | "cancel") => return Answer::Withheld,
        Some("accept") => {}
        _ => return Answer::Unfit("`action` is not accept, decline or cancel.".to_owned()),
    }
    let content = &answer["content"];
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| content.get(name).is_none()) {
        return Answer::Unfit(format!("`{missing}` is missing."));
    }
    let given = content.as_object().into_iter().flatten();
    let fits = |(name, value): (&String, &Value)| match schema["properties"][name]["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        _ => false,
    };
    match given.into_iter().find(|member| !fits(*member)) {
        Some((name, _)) => Answer::Unfit(format!("`{name}` does not fit.")),
        None => Answer::Given(content),
    }
}

/// A tool for the client's model.
pub fn lookup() -> Value {
    let word = json!({ "word": { "type": "string" } });
    let meaning = json!({ "meaning": { "type": "string" } });
    json!({
        "name": "lookup",
        "description": "Says what a word means.",
        "inputSchema": { "type": "object", "properties": word, "required": ["word"] },
        "outputSchema": { "type": "object", "properties": meaning, "required": ["meaning"] },
    })
}

/// The result of a call of that tool.
pub fn looked_up(wish: &Value) -> Value {
    let meaning = json!({ "meaning": format!("{} means nothing.", wish["input"]["word"]) });
    json!({
        "type": "tool_result",
        "toolUseId": wish["id"],
        "content": [text(&meaning.to_string())],
        "structuredContent": meaning,
    })
}
