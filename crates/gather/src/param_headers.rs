//! Headers that repeat arguments of a tool call: one for each argument that the tool's schema annotates with
//! `x-mcp-header`.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use conform_model::evidence::RunContext;
use conform_wire::encoding::header_value;

/// The headers of a call, based on the listed tools.
pub fn param_headers(context: &RunContext, method: &str, params: &Value) -> Vec<(String, String)> {
    if method != "tools/call" || !context.revision.is_modern() {
        return Vec::new();
    }
    let tools = context.saves.get("survey").map(|survey| &survey["tools"]["items"]).and_then(Value::as_array);
    let tool = tools.into_iter().flatten().find(|tool| tool["name"] == params["name"]);
    let mut headers = Vec::new();
    if let Some(tool) = tool {
        collect(&tool["inputSchema"], &params["arguments"], &mut headers);
    }
    headers
}

fn collect(schema: &Value, arguments: &Value, headers: &mut Vec<(String, String)>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let argument = &arguments[name.as_str()];
        match (header_name(property), plain(argument)) {
            (Some(header), Some(text)) => headers.push((header, header_value(&text))),
            _ => collect(property, argument, headers),
        }
    }
}

/// Arguments with an HTTP header, of tools that may be called: what a suite needs to send deviating headers.
/// - `name`, `arguments`: the call; `header`: the name of the header;
/// - `value`, `encoded`, `other`: for an argument that is present, the header value, the same in base64, and a
///   different value; for an integer also `decimal`;
/// - `null_arguments`: with null for an absent argument; `raw_arguments`, `raw`: with a character that no header may
///   contain. Both only for read-only tools.
pub fn annotated(calls: &Value, tools: &[Value]) -> Value {
    let mut found = Vec::new();
    for call in calls.as_array().into_iter().flatten() {
        let Some(tool) = tools.iter().find(|tool| tool["name"] == call["name"]) else { continue };
        let required = tool["inputSchema"]["required"].as_array();
        for (name, property) in tool["inputSchema"]["properties"].as_object().into_iter().flatten() {
            let Some(header) = header_name(property) else { continue };
            let mut entry = json!({ "name": call["name"], "arguments": call["arguments"], "header": header });
            let harmless = tool["annotations"]["readOnlyHint"] == true;
            let with = |value: Value| {
                let mut arguments = call["arguments"].as_object().cloned().unwrap_or_else(Map::new);
                arguments.insert(name.clone(), value);
                json!(arguments)
            };
            let argument = &call["arguments"][name.as_str()];
            if let Some(text) = plain(argument) {
                entry["value"] = json!(header_value(&text));
                entry["encoded"] = json!(format!("=?base64?{}?=", STANDARD.encode(&text)));
                entry["other"] = other(argument);
                if argument.is_i64() {
                    entry["decimal"] = json!(format!("{text}.0"));
                }
                if argument.is_string() && property.get("enum").is_none() && harmless {
                    entry["raw"] = json!(format!("{text}é"));
                    entry["raw_arguments"] = with(entry["raw"].clone());
                }
            } else if harmless && required.is_none_or(|required| !required.contains(&json!(name))) {
                entry["null_arguments"] = with(Value::Null);
            }
            found.push(entry);
        }
    }
    json!(found)
}

fn header_name(property: &Value) -> Option<String> {
    let name = property["x-mcp-header"].as_str()?;
    let simple = property["type"].as_str().is_some_and(|kind| ["string", "integer", "boolean"].contains(&kind));
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    (simple && !name.is_empty() && name.chars().all(token)).then(|| format!("Mcp-Param-{name}"))
}

fn plain(argument: &Value) -> Option<String> {
    match argument {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if number.is_i64() => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn other(argument: &Value) -> Value {
    match argument {
        Value::Bool(flag) => json!((!flag).to_string()),
        Value::Number(number) => json!(number.as_i64().map(|number| number.wrapping_add(1).to_string())),
        text => json!(format!("{}-mcp-conform", text.as_str().unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_arguments_travel_in_headers_however_deep() {
        let schema = json!({ "properties": {
            "city": { "type": "string", "x-mcp-header": "City" },
            "near": { "type": "object", "properties": { "n": { "type": "integer", "x-mcp-header": "N" } } },
            "all": { "type": "boolean", "x-mcp-header": "All" },
            "odd": { "type": "number", "x-mcp-header": "Odd" },
        } });
        let mut headers = Vec::new();
        collect(&schema, &json!({ "city": "Århus", "near": { "n": 7 }, "all": null, "odd": 1 }), &mut headers);
        let expected = [("Mcp-Param-City", "=?base64?w4VyaHVz?="), ("Mcp-Param-N", "7")];
        assert_eq!(headers, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn each_marked_argument_is_told_with_what_would_differ() {
        let input = json!({ "required": ["n"], "properties": {
            "n": { "type": "integer", "x-mcp-header": "N" },
            "t": { "type": "string", "x-mcp-header": "T" },
        } });
        let tools = [json!({ "name": "a", "inputSchema": input, "annotations": { "readOnlyHint": true } })];
        let told = annotated(&json!([{ "name": "a", "arguments": { "n": 3 } }]), &tools);
        assert_eq!((&told[0]["other"], &told[0]["decimal"]), (&json!("4"), &json!("3.0")));
        assert_eq!(told[1]["null_arguments"], json!({ "n": 3, "t": null }));
    }
}
