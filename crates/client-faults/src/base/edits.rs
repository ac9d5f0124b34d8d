//! Changes to messages that several faults make.

use serde_json::{Value, json};

use conform_reference_client::{behaviour::decisions::Scene, message, meta::VERSION_KEY};

pub fn is(message: &Value, method: &str) -> bool {
    message::method(message) == Some(method)
}

pub fn is_list(message: &Value) -> bool {
    message::method(message).is_some_and(|method| method.ends_with("/list"))
}

/// Changes the version in the `_meta` of requests of 2026-07-28.
pub fn edit_version(messages: &mut [Value], version: &Value) {
    for message in messages.iter_mut().filter(|message| message::is_request(message)) {
        let found = message.pointer_mut("/params/_meta").and_then(|meta| meta.get_mut(VERSION_KEY));
        if let Some(found) = found {
            found.clone_from(version);
        }
    }
}

/// Whether a message is a response to an open request.
pub fn answers_open(scene: &Scene, message: &Value) -> bool {
    let id = message.get("id").unwrap_or(&Value::Null);
    message::is_response(message) && scene.open.iter().any(|(open, _)| message::same_id(open, id))
}

pub fn initialize() -> Value {
    let params = json!({
        "protocolVersion": conform_model::revision::Revision::NEWEST_LEGACY.as_str(),
        "capabilities": {},
        "clientInfo": conform_reference_client::meta::client_info(),
    });
    json!({ "do": "request", "method": "initialize", "params": params, "force": true, "timeout": 2000 })
}
