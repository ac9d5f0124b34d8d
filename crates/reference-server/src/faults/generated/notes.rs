//! Faults of the tools for notes, and the results that faulty calls return.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::WHILE;
use crate::faults::{Heard, Scene, behaviour::Memory};

const NOTES: [(&str, &[&str]); 4] =
    [("create_note", &["title"]), ("get_note", &["id"]), ("update_note", &["id", "title"]), ("delete_note", &["id"])];

/// Tools for notes, in addition to the usual ones.
pub fn list_notes(_: &mut Memory, _: &Scene, message: &mut Value) -> bool {
    // On the last page alone, so that no name is listed twice.
    let is_last = message.pointer("/result/nextCursor").is_none();
    let tools = message.pointer_mut("/result/tools").and_then(Value::as_array_mut);
    if let Some(tools) = tools.filter(|_| is_last) {
        for (name, arguments) in NOTES {
            let properties: serde_json::Map<_, _> = arguments
                .iter()
                .map(|name| ((*name).to_owned(), json!({ "type": "string", "minLength": 1 })))
                .collect();
            let schema = json!({ "type": "object", "properties": properties, "required": arguments });
            let hints = json!({ "readOnlyHint": name == "get_note", "destructiveHint": false });
            tools.push(json!({ "name": name, "inputSchema": schema, "annotations": hints }));
        }
    }
    true
}

/// The behavior of those tools, with one mistake.
pub fn notes(memory: &mut Memory, message: &Value, mistake: &str) -> Heard {
    let Some(name) = message.pointer("/params/name").and_then(Value::as_str) else { return Heard::Message };
    let Some((_, arguments)) = NOTES.iter().find(|(known, _)| *known == name) else { return Heard::Message };
    if message["method"] != "tools/call" {
        return Heard::Message;
    }
    let given = |name: &str| argument(Some(message), name).filter(|text| !text.is_empty());
    if arguments.iter().any(|name| given(name).is_none()) {
        return fails(message, true, "`id` and `title` have to be texts.");
    }
    let mut id = given("id").unwrap_or_default().to_owned();
    let mut is_dropped = false;
    if name == "create_note" {
        let is_first = mistake != "race" || is_alone(memory);
        is_dropped = mistake == "dropped" && !is_alone(memory);
        let count = memory.counts.entry("notes".to_owned()).or_default();
        *count += u64::from(is_first);
        id = format!("note-{}", if mistake == "same id" { *count / 2 } else { *count });
    } else if !memory.results.contains_key(&id) {
        return fails(message, true, "There is no such note.");
    }
    let title = given("title").map_or_else(|| memory.results.get(&id).cloned().unwrap_or_default(), Value::from);
    match name {
        "delete_note" if mistake != "stale" => drop(memory.results.remove(&id)),
        "update_note" if mistake == "update lost" => {}
        "create_note" if is_dropped => {}
        _ => drop(memory.results.insert(id.clone(), title.clone())),
    }
    let text = json!({ "id": id, "title": title }).to_string();
    let takes = if ["race", "dropped"].contains(&mistake) && name == "create_note" { WHILE } else { Duration::ZERO };
    returns(message, &json!(text), takes)
}

/// Responds with this text after a delay.
pub fn returns(message: &Value, text: &Value, after: Duration) -> Heard {
    let result = json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] });
    Heard::AnsweredLater(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }), after)
}

/// Whether no other slow call is running.
pub fn is_alone(memory: &mut Memory) -> bool {
    memory.slow.replace(Instant::now()).is_none_or(|began| began.elapsed() >= WHILE)
}

/// The argument of a tool call that is a text.
pub fn argument<'a>(message: Option<&'a Value>, name: &str) -> Option<&'a str> {
    message.filter(|message| message["method"] == "tools/call")?.pointer("/params/arguments")?.get(name)?.as_str()
}

/// The text of a call of `echo`. A name in another case is a tool that does not exist.
pub fn echoed(message: &Value) -> Option<String> {
    let is_echo = message.pointer("/params/name").is_some_and(|name| name == "echo");
    argument(Some(message), "text").filter(|_| is_echo).map(str::to_owned)
}

/// The value to complete.
pub fn typed(message: Option<&Value>) -> Option<&str> {
    message.filter(|message| message["method"] == "completion/complete")?.pointer("/params/argument/value")?.as_str()
}

pub fn says(message: &Value, part: &str) -> bool {
    argument(Some(message), "text").is_some_and(|text| text.contains(part))
}

/// Responds that the tool failed.
pub fn fails(message: &Value, hits: bool, why: &str) -> Heard {
    if !hits {
        return Heard::Message;
    }
    let result = json!({ "resultType": "complete", "content": [{ "type": "text", "text": why }], "isError": true });
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

pub fn internal_error(message: &Value, why: &str) -> Heard {
    let error = json!({ "code": -32603, "message": why });
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
}

pub fn patch(message: &mut Value, pointer: &str, value: Option<Value>) -> bool {
    if let (Some(value), Some(place)) = (value, message.pointer_mut(pointer)) {
        *place = value;
    }
    true
}

pub fn count_calls(memory: &mut Memory, message: &Value) -> Heard {
    if argument(Some(message), "text").is_some() {
        *memory.counts.entry("calls".to_owned()).or_default() += 1;
    }
    Heard::Message
}

/// The last page of the list of resources has an item for each call.
pub fn list_calls(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    let last_page = message.pointer("/result/nextCursor").is_none() && scene.method() == Some("resources/list");
    if let Some(items) = message.pointer_mut("/result/resources").and_then(Value::as_array_mut).filter(|_| last_page) {
        let calls = memory.counts.get("calls").copied().unwrap_or_default();
        items.extend(
            (0..calls).map(|call| json!({ "uri": format!("memo://call-{call}"), "name": format!("call {call}") })),
        );
    }
    true
}
