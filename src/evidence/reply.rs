//! What became of one request: the value that `call`, `send` and `http` save.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Cause;

/// How a request ended. An error reply is an end like any other, never an `Err`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Result,
    Error,
    /// Nothing came within the time allowed.
    Timeout,
    /// The connection ended first.
    Closed,
    /// Something came in the place of the reply that is no JSON-RPC response.
    Malformed,
    /// Something came that is longer, deeper or larger than what is read.
    Unread,
    /// A subscription that was acknowledged and stays open; the acknowledgement is in `notifications`.
    Open,
    /// An HTTP answer that holds no JSON-RPC response and was not asked to.
    Answered,
}

/// The HTTP side of a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpStatus {
    pub status: u16,
    /// Names in lower case; of a repeated header the values are joined by `, `.
    pub headers: indexmap::IndexMap<String, String>,
    /// What `WWW-Authenticate` asks for: `scheme` in lower case, its parameters by their names, and `scopes` one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub challenges: Vec<Value>,
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
    /// Where a stream of HTTP+SSE takes messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// A JSON document that came in the place of a message: metadata, or what a rejection says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// Notifications that came between the request and its end and belong to it, as far as the transport tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notifications: Vec<Value>,
    #[serde(default)]
    pub ms: u64,
    /// Numbers of the frames that hold the request and what answered it, request first.
    pub frames: Vec<u64>,
    /// In words, where `end` alone does not say what happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the HTTP exchange failed by, if it did.
    #[serde(skip)]
    pub cause: Option<Cause>,
    /// What the server asked of the client while the request was under way, each as `{ method, params }`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wanted: Vec<Value>,
    /// Replies that only required input, before this one; and the params of the last retry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retried: Option<Value>,
    /// The request in short: its method and what it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
}

impl Reply {
    /// A reply of which nothing is known but how it ended.
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
}
