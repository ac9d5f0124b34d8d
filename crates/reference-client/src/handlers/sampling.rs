//! `sampling/createMessage`: a model that returns one sentence, and calls a tool if it may.

use serde_json::{Map, Value, json};

use super::{Refusal, unfit};
use crate::options::Answers;
use conform_model::revision::Revision;

/// The error code for a rejection by the user.
const REJECTED: i64 = -1;

/// Approximate number of characters of a token.
const TOKEN: usize = 4;

pub fn create(answers: &Answers, own: &Value, revision: Revision, params: &Value) -> Result<Value, Refusal> {
    let Some(messages) = params["messages"].as_array() else { return Err(unfit("`messages` is not an array")) };
    let limit = params["maxTokens"].as_f64().ok_or_else(|| unfit("`maxTokens` is not a number"))?;
    let details = revision.features().capability_details;
    let wants_tools = params.get("tools").is_some() || params.get("toolChoice").is_some();
    if details && wants_tools && own.get("tools").is_none() {
        return Err(unfit("this client did not declare sampling.tools"));
    }
    if details {
        check_history(messages)?;
    }
    let Some(text) = &answers.sampling else { return Err((REJECTED, "User rejected sampling request".to_owned())) };
    let mode = params["toolChoice"]["mode"].as_str().unwrap_or("auto");
    let used = messages.iter().any(|message| !blocks(message, "tool_result").is_empty());
    let tool = params["tools"].as_array().and_then(|tools| tools.first()).filter(|_| details && wants_tools);
    let uses = tool.filter(|_| mode == "required" || (mode == "auto" && !used));
    if mode == "required" && tool.is_none() {
        return Err(unfit("a tool is required, and there is none"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float is cut to the bounds")]
    let most = (limit.max(1.0) as usize).saturating_mul(TOKEN);
    let (content, reason) = match uses {
        Some(tool) => {
            let count = messages.len();
            let input = arguments(&tool["inputSchema"]);
            let id = format!("use-{count}");
            (json!({ "type": "tool_use", "id": id, "name": tool["name"], "input": input }), "toolUse")
        }
        None => (json!({ "type": "text", "text": text.chars().take(most).collect::<String>() }), "endTurn"),
    };
    let content = if uses.is_some() { json!([content]) } else { content };
    Ok(json!({ "role": "assistant", "content": content, "model": "reference-model", "stopReason": reason }))
}

/// The blocks of a type in a message.
fn blocks<'a>(message: &'a Value, kind: &str) -> Vec<&'a Value> {
    let content = &message["content"];
    let all = content.as_array().map_or_else(|| vec![content], |blocks| blocks.iter().collect());
    all.into_iter().filter(|block| block["type"] == kind).collect()
}

/// Each call of a tool must be followed by its result, and results must be alone in a message.
fn check_history(messages: &[Value]) -> Result<(), Refusal> {
    for (at, message) in messages.iter().enumerate() {
        let results = blocks(message, "tool_result");
        let count = message["content"].as_array().map_or(1, Vec::len);
        if !results.is_empty() && results.len() != count {
            return Err(unfit("tool results are mixed with other content"));
        }
        for used in blocks(message, "tool_use") {
            let next = messages.get(at + 1).map(|message| blocks(message, "tool_result")).unwrap_or_default();
            if !next.iter().any(|result| result["toolUseId"] == used["id"]) {
                return Err(unfit("a tool use has no result"));
            }
        }
    }
    Ok(())
}

/// Arguments that fit a schema of plain properties.
fn arguments(schema: &Value) -> Value {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut input = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if required.contains(&name.as_str()) {
            input.insert(name.clone(), super::elicitation::value_for(property).unwrap_or_default());
        }
    }
    input.into()
}
