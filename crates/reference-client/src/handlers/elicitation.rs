//! `elicitation/create`: simulates a user who fills in forms and visits URLs.

use serde_json::{Map, Value, json};

use super::{Refusal, unfit};
use crate::options::Consent;
use conform_model::revision::Revision;

pub fn create(consent: Consent, own: &Value, revision: Revision, params: &Value) -> Result<Value, Refusal> {
    if !params["message"].is_string() {
        return Err(unfit("`message` is not a string"));
    }
    let has_modes = revision.features().capability_details;
    let mode = params.get("mode").filter(|_| has_modes).map_or("form", |mode| mode.as_str().unwrap_or_default());
    let declared = own.get(mode).is_some() || (mode == "form" && own.get("url").is_none());
    if !matches!(mode, "form" | "url") || !declared {
        return Err(unfit("this client did not declare the mode"));
    }
    let word = match consent {
        Consent::Accept | Consent::Defaults => "accept",
        Consent::Decline => "decline",
        Consent::Cancel => "cancel",
    };
    if word != "accept" {
        return Ok(json!({ "action": word }));
    }
    if mode == "url" {
        let fit = params["url"].is_string();
        return if fit { Ok(json!({ "action": "accept" })) } else { Err(unfit("`url` is not a string")) };
    }
    let schema = &params["requestedSchema"];
    let Some(properties) = schema["properties"].as_object() else {
        return Err(unfit("`requestedSchema.properties` is not an object"));
    };
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut content = Map::new();
    for (name, property) in properties {
        let default = property.get("default").filter(|value| is_flat(value)).cloned();
        let is_needed = required.contains(&name.as_str());
        let filled = default.or_else(|| {
            let fills = consent == Consent::Accept || is_needed;
            fills.then(|| value_for(property)).flatten()
        });
        match filled {
            Some(value) => drop(content.insert(name.clone(), value)),
            // A form with a required field that cannot be filled in is declined.
            None if is_needed => return Ok(json!({ "action": "decline" })),
            None => {}
        }
    }
    Ok(json!({ "action": "accept", "content": content }))
}

fn is_flat(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().all(Value::is_string),
        Value::Object(_) | Value::Null => false,
        _ => true,
    }
}

/// A value for a property of a form; `None` if forms must not have such a property.
pub fn value_for(property: &Value) -> Option<Value> {
    let choice = |choices: &Value| choices.as_array().and_then(|choices| choices.first()).cloned();
    let of_titled = |choices: &Value| choice(choices).map(|choice| choice["const"].clone());
    if let Some(default) = property.get("default").filter(|value| is_flat(value)) {
        return Some(default.clone());
    }
    if property.get("enum").is_some() {
        return choice(&property["enum"]);
    }
    if property.get("oneOf").is_some() {
        return of_titled(&property["oneOf"]);
    }
    match property["type"].as_str()? {
        "boolean" => Some(json!(true)),
        "integer" => Some(integer(number(property))),
        "number" => Some(json!(number(property))),
        "string" => Some(json!(text(property))),
        "array" => several(&property["items"], property),
        _ => None,
    }
}

fn integer(number: f64) -> Value {
    format!("{:.0}", number.ceil()).parse::<i64>().map_or_else(|_| json!(0), |number| json!(number))
}

fn number(property: &Value) -> f64 {
    let (least, most) = (property["minimum"].as_f64(), property["maximum"].as_f64());
    least.or(most).unwrap_or(1.0)
}

fn text(property: &Value) -> String {
    match property["format"].as_str() {
        Some("email") => return "user@example.com".to_owned(),
        Some("uri") => return "https://example.com/".to_owned(),
        Some("date") => return "2026-01-31".to_owned(),
        Some("date-time") => return "2026-01-31T12:00:00Z".to_owned(),
        _ => {}
    }
    let length = |name: &str| property[name].as_u64().and_then(|length| usize::try_from(length).ok());
    let (least, most) = (length("minLength").unwrap_or(0).min(10_000), length("maxLength").unwrap_or(usize::MAX));
    let mut text = "Ada".to_owned();
    while text.len() < least {
        text.push('a');
    }
    text.truncate(most);
    text
}

fn several(items: &Value, property: &Value) -> Option<Value> {
    let values: Vec<Value> = if items.get("enum").is_some() {
        items["enum"].as_array()?.clone()
    } else {
        let titled = items["anyOf"].as_array().or_else(|| items["oneOf"].as_array())?;
        titled.iter().map(|choice| choice["const"].clone()).collect()
    };
    let least = property["minItems"].as_u64().unwrap_or(1).max(1);
    let chosen: Vec<Value> = values.into_iter().take(usize::try_from(least).ok()?).collect();
    chosen.iter().all(Value::is_string).then(|| chosen.into())
}
