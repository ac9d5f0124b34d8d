//! The outcome of one request: the value that `call`, `send` and `http` save.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Cause;

/// How a request ended. An error response is a normal end, never an `Err`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Result,
    Error,
    /// No response arrived within the timeout.
    Timeout,
    /// The connection ended before.
    Closed,
    /// Something other than a JSON-RPC response arrived instead.
    Malformed,
    /// A message arrived that exceeds a limit of length, depth or size.
    Unread,
    /// A subscription that was acknowledged and stays open; the acknowledgement is in `notifications`.
    Open,
    /// An HTTP response without a JSON-RPC response, where none was required.
    Answered,
}

impl End {
    /// As a saved reply states it.
    pub fn of(saved: &Value) -> Option<Self> {
        Self::deserialize(saved.get("end")?).ok()
    }
}

/// The HTTP side of a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpStatus {
    pub status: u16,
    /// Names in lower case; values of a repeated header are joined by `, `.
    pub headers: indexmap::IndexMap<String, String>,
    /// The parsed `WWW-Authenticate`: `scheme` in lower case, parameters by name, and `scopes` as a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub challenges: Vec<Value>,
    /// Of a redirect: `to`, the `Location` without query and fragment, and the parameters of its `query` and `fragment`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub end: End,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpStatus>,
    /// The endpoint for messages of an HTTP+SSE stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// A JSON document instead of a message: metadata, or the body of a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// Notifications between the request and its end that belong to it, as far as the transport shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notifications: Vec<Value>,
    #[serde(default)]
    pub ms: u64,
    /// Numbers of the frames of the request and its response, request first.
    pub frames: Vec<u64>,
    /// Details, if `end` alone is not specific enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Why the HTTP exchange failed, if it did.
    #[serde(skip)]
    pub cause: Option<Cause>,
    /// Requests of the server while the request was open, each as `{ method, params }`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wanted: Vec<Value>,
    /// Earlier replies that only required input; and the params of the last retry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retried: Option<Value>,
    /// A summary of the request: its method and subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
}

impl Reply {
    /// A reply with nothing but its end.
    pub fn ended(end: End) -> Self {
        Self {
            end,
            result: None,
            error: None,
            http: None,
            endpoint: None,
            body: None,
            notifications: Vec::new(),
            ms: 0,
            frames: Vec::new(),
            why: None,
            cause: None,
            wanted: Vec::new(),
            rounds: Vec::new(),
            retried: None,
            asked: None,
        }
    }

    /// As steps save it. What a server sent may be large, and is moved.
    pub fn saved(mut self) -> Value {
        let moved = [("result", self.result.take()), ("error", self.error.take()), ("body", self.body.take())];
        let mut saved = json!(self);
        for (key, value) in moved {
            if let Some(value) = value {
                saved[key] = value;
            }
        }
        saved
    }

    pub fn status(&self) -> Option<u16> {
        self.http.as_ref().map(|http| http.status)
    }
}
