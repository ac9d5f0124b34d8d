//! Changes to the client's results that several faults make.

use serde_json::{Map, Value, json};

use crate::{
    reference::client::{
        faults::{
            decisions::Scene,
            memory::Memory,
            tools::{of_method, remove},
        },
        message,
    },
    revision::Revision,
};

/// Changes the result of a method, given the request with its params.
pub type Change = fn(&Value, &mut Value);

pub fn in_reply(request: &Value, responses: &mut [Value], method: &str, change: Change) {
    if request["method"] == method {
        responses
            .iter_mut()
            .filter_map(|response| response.get_mut("result"))
            .for_each(|result| change(request, result));
    }
}

pub fn in_retry(result: &Value, params: &mut Map<String, Value>, method: &str, change: Change) {
    for (key, request) in result["inputRequests"].as_object().into_iter().flatten() {
        let response = params.get_mut("inputResponses").and_then(|responses| responses.get_mut(key));
        if let Some(response) = response.filter(|_| request["method"] == method) {
            change(request, response);
        }
    }
}

pub const MODES: Option<Revision> = Some(Revision::V2025_11_25);
pub const FORMS: Option<Revision> = Some(Revision::V2025_06_18);

pub fn each_root(result: &mut Value, change: impl Fn(&mut Value)) {
    result["roots"].as_array_mut().into_iter().flatten().for_each(change);
}

pub fn each_use(result: &mut Value, change: impl Fn(&mut Value)) {
    let blocks = result["content"].as_array_mut().into_iter().flatten();
    blocks.filter(|block| block["type"] == "tool_use").for_each(change);
}

pub fn content(result: &mut Value) -> Option<&mut Map<String, Value>> {
    result.get_mut("content")?.as_object_mut()
}

pub fn error(request: &Value, code: i64) -> Value {
    message::error(&request["id"], code, "Failed")
}

pub fn said() -> Value {
    json!({ "role": "assistant", "content": { "type": "text", "text": "Hi" }, "model": "m", "stopReason": "endTurn" })
}

pub fn without_capability(_: &mut Memory, _: &Scene, messages: &mut [Value], name: &str) {
    of_method(messages, "initialize", |message| remove(&mut message["params"]["capabilities"], name));
}
