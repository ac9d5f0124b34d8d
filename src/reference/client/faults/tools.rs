//! Functions that the tables of faults share.

use serde_json::{Value, json};

use crate::reference::client::{
    faults::decisions::{Heard, Scene},
    message,
};

/// Changes the messages of a method.
pub fn of_method(messages: &mut [Value], method: &str, change: impl Fn(&mut Value)) {
    messages.iter_mut().filter(|message| message::method(message) == Some(method)).for_each(change);
}

pub fn remove(message: &mut Value, name: &str) {
    if let Some(message) = message.as_object_mut() {
        message.shift_remove(name);
    }
}

pub fn rename(object: &mut Value, from: &str, to: &str) {
    if let Some(value) = object.as_object_mut().and_then(|object| object.shift_remove(from)) {
        object[to] = value;
    }
}

/// Ends the latest open call as if its response were invalid.
pub fn fail_call(scene: &Scene, heard: &mut Value) {
    if let Some((id, _)) = scene.open.iter().rfind(|(_, method)| method == "tools/call") {
        *heard = json!({ "jsonrpc": "2.0", "id": id, "result": null });
    }
}

/// Fails the latest open call if a notification matches.
pub fn fail_call_at(scene: &Scene, heard: &mut Value, method: &str, is_odd: impl Fn(&Value) -> bool) -> Heard {
    if message::method(heard) == Some(method) && is_odd(&heard["params"]) {
        fail_call(scene, heard);
    }
    Heard::Message
}

/// Fails the requests of a method as if their responses were invalid, if the results match.
pub fn reject(scene: &Scene, heard: &mut Value, method: &str, is_odd: impl Fn(&Value) -> bool) -> Heard {
    let of_method = scene.open.iter().any(|(id, of)| of == method && message::same_id(id, &heard["id"]));
    if of_method && heard.get("result").is_some_and(is_odd) {
        heard["result"] = Value::Null;
    }
    Heard::Message
}
