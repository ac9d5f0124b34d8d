//! JSON-RPC messages: classifies received values and builds messages to send.

use serde_json::{Map, Value, json};

use crate::{fail::Fail, handlers};
use conform_model::revision::Revision;

/// A request, or a notification if there is no id.
#[derive(Clone, Debug)]
pub struct Call {
    pub id: Option<Value>,
    pub method: String,
    pub params: Option<Value>,
}

pub enum Incoming {
    Call(Call),
    /// A response to a request of the server.
    Response,
    /// Not a valid message. Its id, if it can be read, is used in the error.
    Invalid {
        id: Option<Value>,
        fail: Fail,
    },
}

pub fn classify(value: &Value) -> Incoming {
    let invalid = |id, why: &str| Incoming::Invalid { id, fail: Fail::request(why) };
    let Some(object) = value.as_object() else { return invalid(None, "A message is a single JSON object.") };
    let id = object.get("id").filter(|id| is_id(id)).cloned();
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid(id, "The field `jsonrpc` must be \"2.0\".");
    }
    if object.contains_key("id") && id.is_none() {
        return invalid(None, "An id is a string or an integer.");
    }
    match object.get("method") {
        Some(Value::String(method)) => {
            Incoming::Call(Call { id, method: method.clone(), params: object.get("params").cloned() })
        }
        Some(_) => invalid(id, "The field `method` must be a string."),
        None if object.contains_key("result") || object.contains_key("error") => Incoming::Response,
        None => invalid(id, "A request needs a method."),
    }
}

pub fn is_id(value: &Value) -> bool {
    value.is_string() || value.is_i64() || value.is_u64()
}

pub fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// Without a readable id, 2025-11-25 and later omit the field; earlier revisions have null, as in JSON-RPC.
pub fn error(id: Option<&Value>, fail: Fail, revision: Revision) -> Value {
    let mut message = Map::new();
    message.insert("jsonrpc".to_owned(), json!("2.0"));
    match id {
        Some(id) => drop(message.insert("id".to_owned(), id.clone())),
        None if revision.features().null_id => drop(message.insert("id".to_owned(), Value::Null)),
        None => {}
    }
    let mut error = json!({ "code": fail.code, "message": fail.message });
    if let Some(data) = fail.data {
        error["data"] = data;
    }
    message.insert("error".to_owned(), error);
    message.into()
}

pub fn request(id: &str, method: &Value, params: Option<&Value>) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
    if let Some(params) = params {
        message["params"] = params.clone();
    }
    message
}

pub fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// Adds the server's name to a result of 2026-07-28 that a fault created without a handler, so that the fault violates
/// nothing else.
pub fn name_server(response: &mut Value, revision: Revision) {
    if let Some(result) = response.get_mut("result").and_then(Value::as_object_mut).filter(|_| revision.is_modern()) {
        result.entry("_meta").or_insert_with(|| handlers::result_meta(revision));
    }
}
