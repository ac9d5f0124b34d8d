//! One line of JSON for each action, so that a harness sees how the client interpreted the responses.

use std::{cell::RefCell, fs::File, io::Write, path::Path};

use serde_json::{Value, json};

/// Why an action failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// `error`, `timeout`, `closed`, `invalid`, `unsupported` or `cancelled`.
    pub kind: &'static str,
    pub message: String,
    /// The error object of the response, if there was one.
    pub error: Value,
    /// The status of the HTTP response, if it was not a success.
    pub status: Option<u16>,
}

/// The kind of a request that failed because its session has ended. It is reported as `closed`.
pub const SESSION_OVER: &str = "session over";

impl Failure {
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), error: Value::Null, status: None }
    }

    pub fn closed(message: impl Into<String>) -> Self {
        Self::new("closed", message)
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new("invalid", message)
    }

    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new("unsupported", message)
    }

    pub fn of_error(error: Value) -> Self {
        let code = error.get("code").map_or_else(|| "no code".to_owned(), Value::to_string);
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
        Self { kind: "error", message: format!("error {code}: {message}"), error, status: None }
    }

    pub fn code(&self) -> Option<i64> {
        self.error.get("code").and_then(Value::as_i64)
    }
}

pub type Outcome = Result<Value, Failure>;

pub struct Report(RefCell<Option<File>>);

impl Report {
    pub fn open(path: Option<&Path>) -> Result<Self, String> {
        let open = |path: &Path| {
            let file = File::options().create(true).append(true).open(path);
            file.map_err(|error| format!("MCP_CONFORMANCE_REPORT: {}: {error}", path.display()))
        };
        Ok(Self(RefCell::new(path.map(open).transpose()?)))
    }

    pub fn write(&self, action: &Value, outcome: &Outcome) {
        let line = match outcome {
            Ok(result) => json!({ "action": action, "ok": true, "result": result }),
            Err(failure) => {
                let kind = if failure.kind == SESSION_OVER { "closed" } else { failure.kind };
                let mut line = json!({ "action": action, "ok": false, "kind": kind, "message": failure.message });
                if !failure.error.is_null() {
                    line["error"] = failure.error.clone();
                }
                line
            }
        };
        if let Some(file) = self.0.borrow_mut().as_mut() {
            // Continue without a report if it cannot be written: the conversation is more important.
            let _ = file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.flush());
        }
    }
}
