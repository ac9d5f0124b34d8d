//! Changes to messages that several faults make.

use serde_json::{Value, json};

use crate::reference::client::{
    faults::decisions::Scene,
    message,
    meta::{CAPABILITIES_KEY, INFO_KEY, VERSION_KEY},
};

pub fn remove(object: &mut Value, name: &str) {
    if let Some(object) = object.as_object_mut() {
        object.shift_remove(name);
    }
}

pub fn is(message: &Value, method: &str) -> bool {
    message::method(message) == Some(method)
}

pub fn is_list(message: &Value) -> bool {
    message::method(message).is_some_and(|method| method.ends_with("/list"))
}

/// The requests among messages that are about to be sent.
pub fn requests(messages: &mut [Value]) -> impl Iterator<Item = &mut Value> {
    messages.iter_mut().filter(|message| message::is_request(message))
}

/// The capabilities that the client declares in a message.
pub fn capabilities(message: &mut Value) -> Option<&mut Value> {
    let params = message.get_mut("params")?;
    if params.get("capabilities").is_some() {
        return params.get_mut("capabilities");
    }
    params.get_mut("_meta")?.get_mut(CAPABILITIES_KEY)
}

/// The `clientInfo` of a message.
pub fn client_info(message: &mut Value) -> Option<&mut Value> {
    let params = message.get_mut("params")?;
    if params.get("clientInfo").is_some() {
        return params.get_mut("clientInfo");
    }
    params.get_mut("_meta")?.get_mut(INFO_KEY)
}

/// Adds a key to the `_meta` of requests except `initialize`.
pub fn add_meta(messages: &mut [Value], key: &str, value: &Value) {
    for message in requests(messages).filter(|message| !is(message, "initialize")) {
        if message.get("params").is_none() {
            message["params"] = json!({});
        }
        message["params"]["_meta"][key] = value.clone();
    }
}

/// Changes a value in the `_meta` of requests of 2026-07-28.
pub fn edit_meta(messages: &mut [Value], key: &str, value: &Value) {
    for message in requests(messages) {
        let found = message.pointer_mut("/params/_meta").and_then(|meta| meta.get_mut(key));
        if let Some(found) = found {
            found.clone_from(value);
        }
    }
}

pub fn edit_version(messages: &mut [Value], version: &Value) {
    edit_meta(messages, VERSION_KEY, version);
}

/// Whether a message is a response to an open request.
pub fn answers_open(scene: &Scene, message: &Value) -> bool {
    let id = message.get("id").unwrap_or(&Value::Null);
    message::is_response(message) && scene.open.iter().any(|(open, _)| message::same_id(open, id))
}

pub fn initialize() -> Value {
    let params = json!({
        "protocolVersion": crate::revision::Revision::NEWEST_LEGACY.as_str(),
        "capabilities": {},
        "clientInfo": crate::reference::client::meta::client_info(),
    });
    json!({ "do": "request", "method": "initialize", "params": params, "force": true, "timeout": 2000 })
}

/// A notification that the specification does not define.
pub fn is_unknown(message: &Value) -> bool {
    let known = ["message", "progress", "cancelled", "list_changed", "updated", "acknowledged", "complete", "status"];
    let name = message::method(message).and_then(|method| method.rsplit('/').next());
    message.get("id").is_none() && name.is_some_and(|name| !known.contains(&name))
}

pub fn strange_token(message: &Value) -> bool {
    let token = message["params"]["progressToken"].as_str().unwrap_or_default();
    is(message, "notifications/progress") && !token.starts_with("progress-")
}
