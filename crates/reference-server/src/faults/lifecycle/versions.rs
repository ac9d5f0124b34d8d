//! Handshakes that agree to another version, and metadata that is kept or not checked.

use serde_json::{Map, Value, json};

use super::{CAPABILITIES, META, VERSION};
use crate::faults::{Heard, Scene, behaviour::Memory};
use conform_model::revision::Revision;

/// Ends a handshake for one revision with another one.
pub fn agreed(scene: &Scene, message: &mut Value, asked: Revision, instead: Revision) -> bool {
    let params = scene.sent.map_or(&Value::Null, |sent| &sent["params"]);
    if params["protocolVersion"] == json!(asked)
        && let Some(version) = message.pointer_mut("/result/protocolVersion")
    {
        *version = json!(instead);
    }
    true
}

/// After a handshake, the revision and the capabilities in a request's `_meta` are ignored.
pub fn legacy_after_initialize(memory: &mut Memory, message: &mut Value) -> Heard {
    if message["method"] == "initialize" {
        memory.said.insert("initialized", Value::Null);
    } else if memory.said.contains_key("initialized")
        && let Some(meta) = message.pointer_mut(META).and_then(Value::as_object_mut)
    {
        meta.retain(|name, _| name != VERSION && name != CAPABILITIES);
    }
    Heard::Message
}

pub fn refusal(id: &Value, code: i64, message: &str) -> Heard {
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
}

/// `meta-remembered`: keeps the `_meta` of a request, and returns the kept values of missing keys.
pub fn keep(memory: &mut Memory, meta: &Map<String, Value>) -> Vec<(&'static str, Value)> {
    let mut left_out = Vec::new();
    for name in [VERSION, CAPABILITIES] {
        match (meta.get(name), memory.said.get(name)) {
            (Some(said), _) => drop(memory.said.insert(name, said.clone())),
            (None, Some(earlier)) => left_out.push((name, earlier.clone())),
            (None, None) => {}
        }
    }
    left_out
}

/// Takes any revision of a request for the newest one, once a request of this kind was handled.
pub fn unchecked_behind(memory: &mut Memory, message: &mut Value, kind: fn(&str) -> bool) -> Heard {
    let counts = message.get("id").is_some() && kind(message["method"].as_str().unwrap_or_default());
    let newest = json!(Revision::NEWEST);
    let version = message.pointer_mut(META).and_then(|meta| meta.get_mut(VERSION));
    match version {
        Some(version) if memory.said.contains_key("served") => *version = newest,
        Some(version) if *version != newest => {}
        _ if counts => drop(memory.said.insert("served", Value::Null)),
        _ => {}
    }
    Heard::Message
}

/// Replaces a field with that of an earlier request: the first one that was not empty, or the last.
pub fn replaced(memory: &mut Memory, message: &mut Value, name: &'static str, first: bool) -> Heard {
    let own = message.pointer_mut(META).and_then(|meta| meta.get_mut(name));
    if let Some(own) = own.filter(|own| own.is_string() || own.is_object()) {
        let empty = own.as_object().is_some_and(Map::is_empty);
        match memory.said.get(name).cloned() {
            Some(earlier) if first => *own = earlier,
            Some(earlier) => drop(memory.said.insert(name, std::mem::replace(own, earlier))),
            None if first && empty => {}
            None => drop(memory.said.insert(name, own.clone())),
        }
    }
    Heard::Message
}

/// The newest revision is the only one, so there is no handshake.
pub fn no_handshake(_: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    if only_modern(scene, message) && scene.method() == Some("initialize") {
        let error = json!({ "code": -32601, "message": "Method not found" });
        *message = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
    }
    true
}

/// Makes server/discover list only the newest revision; true for other responses.
pub fn only_modern(scene: &Scene, message: &mut Value) -> bool {
    let supported = message.pointer_mut("/result/supportedVersions").filter(|_| scene.method() != Some("initialize"));
    supported.map(|supported| *supported = json!([Revision::NEWEST])).is_none()
}
