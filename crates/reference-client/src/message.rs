//! JSON-RPC messages, for both sides of the client.

use serde_json::{Value, json};

pub const METHOD_NOT_FOUND: i64 = -32601;
pub const INVALID_PARAMS: i64 = -32602;
pub const HEADER_MISMATCH: i64 = -32020;
pub const MISSING_CAPABILITY: i64 = -32021;
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// Errors that only modern servers return.
pub const MODERN_ERRORS: [i64; 3] = [HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION];

pub fn request(id: &Value, method: &str, params: &Value) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
    if !params.is_null() {
        message["params"] = params.clone();
    }
    message
}

pub fn notification(method: &str, params: &Value) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    if !params.is_null() {
        message["params"] = params.clone();
    }
    message
}

pub fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

pub fn method(message: &Value) -> Option<&str> {
    message.get("method").and_then(Value::as_str)
}

pub fn is_request(message: &Value) -> bool {
    method(message).is_some() && message.get("id").is_some_and(|id| !id.is_null())
}

pub fn is_response(message: &Value) -> bool {
    message.get("method").is_none() && (message.get("result").is_some() || message.get("error").is_some())
}

/// The ids of the requests in a message or batch.
pub fn request_ids(message: &Value) -> Vec<Value> {
    let of_one = |message: &Value| message.get("id").filter(|_| is_request(message)).cloned();
    match message {
        Value::Array(batch) => batch.iter().filter_map(of_one).collect(),
        single => of_one(single).into_iter().collect(),
    }
}

/// Whether two ids are equal: a string differs from a number, and 1 equals 1.0.
pub fn same_id(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

/// Maximum nesting depth that is read; the parser stops at 128.
const DEEPEST: usize = 100;

/// Parses a message. Values that are nested too deeply are replaced, so that the rest can be used.
pub fn parse(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(bytes).or_else(|error| {
        let cut = cut(bytes);
        if cut.len() == bytes.len() { Err(error) } else { serde_json::from_slice(&cut) }
    })
}

/// The text with null in place of every value that is nested too deeply.
fn cut(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for &byte in bytes {
        let opens = !quoted && matches!(byte, b'{' | b'[');
        let closes = !quoted && matches!(byte, b'}' | b']');
        depth += usize::from(opens);
        if opens && depth == DEEPEST + 1 {
            kept.extend_from_slice(b"null");
        }
        if depth <= DEEPEST {
            kept.push(byte);
        }
        depth = depth.saturating_sub(usize::from(closes));
        quoted ^= byte == b'"' && !escaped;
        escaped = quoted && byte == b'\\' && !escaped;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_values_are_cut() {
        let deep = format!("{{\"a\":{}1{},\"b\":\"[{{\\\"\"}}", "[".repeat(500), "]".repeat(500));
        let message = parse(deep.as_bytes()).unwrap();
        assert_eq!(message["b"], "[{\"");
        assert!(parse(b"{").is_err());
    }
}
