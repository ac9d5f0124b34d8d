//! An error before it becomes a response: code, message, data, and the HTTP status.

use serde_json::{Value, json};

use conform_model::revision::Revision;

pub const PARSE: i64 = -32700;
pub const INVALID_REQUEST: i64 = -32600;
const UNKNOWN_METHOD: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL: i64 = -32603;
const RESOURCE_NOT_FOUND: i64 = -32002;
/// Our choice: the dialect reports "not modified" as an error, but leaves the code open.
const NOT_MODIFIED: i64 = 304;
/// Only in 2025-11-25.
const VISIT_REQUIRED: i64 = -32042;
const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_VERSION: i64 = -32022;

#[derive(Clone, Debug, PartialEq)]
pub struct Fail {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
    /// Revisions up to 2025-11-25 define no status for an error, so it is 200 unless the message was unreadable.
    pub status: u16,
}

impl Fail {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, status: 200 }
    }

    pub fn parse() -> Self {
        Self::new(PARSE, "The message is not valid JSON.").with_status(400)
    }

    pub fn request(message: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, message).with_status(400)
    }

    pub fn params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(INTERNAL, message)
    }

    pub fn method(method: &str, revision: Revision) -> Self {
        let status = if revision.is_modern() { 404 } else { 200 };
        Self::new(UNKNOWN_METHOD, format!("Unknown method: {method}")).with_status(status)
    }

    /// The tool exists, but cannot be called as a task, or only as a task.
    pub fn task_support(message: &str) -> Self {
        Self::new(UNKNOWN_METHOD, message)
    }

    pub fn resource(uri: &str, revision: Revision) -> Self {
        let code = if revision.is_modern() { INVALID_PARAMS } else { RESOURCE_NOT_FOUND };
        Self::new(code, "Resource not found").with_data(json!({ "uri": uri }))
    }

    pub fn not_modified() -> Self {
        Self::new(NOT_MODIFIED, "Not modified")
    }

    pub fn header(message: impl Into<String>) -> Self {
        Self::new(HEADER_MISMATCH, message).with_status(400)
    }

    pub fn capability(required: &Value) -> Self {
        Self::new(MISSING_CAPABILITY, "The client lacks a capability that this needs.")
            .with_data(json!({ "requiredCapabilities": required }))
            .with_status(400)
    }

    pub fn visit(elicitation: &Value) -> Self {
        Self::new(VISIT_REQUIRED, "A page has to be visited first.").with_data(json!({ "elicitations": [elicitation] }))
    }

    pub fn version(requested: &str, supported: &[Revision]) -> Self {
        let supported: Vec<_> = supported.iter().rev().map(|revision| revision.as_str()).collect();
        Self::new(UNSUPPORTED_VERSION, "Unsupported protocol version")
            .with_data(json!({ "supported": supported, "requested": requested }))
            .with_status(400)
    }

    pub fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }
}
