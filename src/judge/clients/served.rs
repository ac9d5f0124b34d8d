//! A server request to the client, in either form: an item of `$served`.

use serde_json::{Value, json};

/// From an item of `$handled`.
pub fn of_request(handled: &Value) -> Value {
    let mut item = json!({ "input": false });
    for name in ["method", "params", "id", "end", "result", "error", "offered", "frames", "link"] {
        if let Some(value) = handled.get(name) {
            item[name] = value.clone();
        }
    }
    item
}

/// From an item of `$inputs`.
pub fn of_input(input: &Value) -> Value {
    let mut item = json!({ "input": true, "id": input["key"] });
    for name in ["method", "params", "offered", "frames", "link"] {
        item[name] = input[name].clone();
    }
    item["end"] = json!(if input.get("response").is_some() { "result" } else { "none" });
    if let Some(response) = input.get("response") {
        item["result"] = response.clone();
    }
    item
}
