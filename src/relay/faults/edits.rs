//! Changes of messages that faults make.

use serde_json::{Map, Value, json};

use crate::relay::fault::Fate;

pub fn is(message: &Value, method: &str) -> bool {
    message["method"] == method
}

/// Removes a field from an object inside the message.
pub fn without(message: &mut Value, pointer: &str, field: &str) -> Fate {
    if let Some(object) = message.pointer_mut(pointer).and_then(Value::as_object_mut) {
        object.shift_remove(field);
    }
    Fate::Pass
}

/// Replaces a value, if it exists.
pub fn instead(message: &mut Value, pointer: &str, value: impl FnOnce(&Value) -> Value) -> Fate {
    if let Some(old) = message.pointer_mut(pointer) {
        *old = value(old);
    }
    Fate::Pass
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
pub fn texts(value: &mut Value, change: &dyn Fn(&str) -> String) -> Fate {
    everywhere(value, &|value| {
        if let Value::String(text) = value {
            *text = change(text);
        }
    });
    Fate::Pass
}

/// Removes a field from each item of a list.
pub fn of_each(message: &mut Value, list: &str, field: &str) -> Fate {
    for item in message.pointer_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(item) = item.as_object_mut() {
            item.shift_remove(field);
        }
    }
    Fate::Pass
}

pub fn objects(value: &mut Value, change: &dyn Fn(&mut Map<String, Value>)) -> Fate {
    everywhere(value, &|value| {
        if let Value::Object(fields) = value {
            change(fields);
        }
    });
    Fate::Pass
}

pub fn error(request: &Value, code: i64, message: &str) -> Fate {
    let error = json!({ "code": code, "message": message });
    Fate::Return(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }))
}
