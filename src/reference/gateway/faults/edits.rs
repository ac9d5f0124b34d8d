//! Changes of messages that faults make.

use serde_json::{Map, Value, json};

use crate::reference::gateway::fault::Action;

pub fn is(message: &Value, method: &str) -> bool {
    message["method"] == method
}

/// Removes a field from an object inside the message.
pub fn without(message: &mut Value, pointer: &str, field: &str) -> Action {
    if let Some(object) = message.pointer_mut(pointer).and_then(Value::as_object_mut) {
        object.shift_remove(field);
    }
    Action::Pass
}

/// Replaces a value, if it exists.
pub fn instead(message: &mut Value, pointer: &str, value: impl FnOnce(&Value) -> Value) -> Action {
    if let Some(old) = message.pointer_mut(pointer) {
        *old = value(old);
    }
    Action::Pass
}

/// Changes every value inside, from the innermost.
pub fn everywhere(value: &mut Value, change: &dyn Fn(&mut Value)) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|value| everywhere(value, change)),
        Value::Array(items) => items.iter_mut().for_each(|value| everywhere(value, change)),
        _ => {}
    }
    change(value);
}

/// Changes every text inside.
pub fn texts(value: &mut Value, change: &dyn Fn(&str) -> String) -> Action {
    everywhere(value, &|value| {
        if let Value::String(text) = value {
            *text = change(text);
        }
    });
    Action::Pass
}

/// Removes a field from each item of a list.
pub fn of_each(message: &mut Value, list: &str, field: &str) -> Action {
    for item in message.pointer_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(item) = item.as_object_mut() {
            item.shift_remove(field);
        }
    }
    Action::Pass
}

pub fn objects(value: &mut Value, change: &dyn Fn(&mut Map<String, Value>)) -> Action {
    everywhere(value, &|value| {
        if let Value::Object(fields) = value {
            change(fields);
        }
    });
    Action::Pass
}

pub fn error(request: &Value, code: i64, message: &str) -> Action {
    let error = json!({ "code": code, "message": message });
    Action::Return(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }))
}
