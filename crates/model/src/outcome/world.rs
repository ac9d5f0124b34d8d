//! What a client or gateway was started with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The server that it met, and its instructions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct World {
    /// A fault, variation or world of the reference server; `usual` is the server without any.
    pub name: String,
    /// How this server differs from the usual one; empty if it does not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The scenario: the first suite that needs this server and these actions.
    pub scenario: String,
    /// The instructions for the client in `MCP_CONFORMANCE_ACTIONS`.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub actions: Value,
}

impl World {
    /// The name, and what is special about it.
    pub fn described(&self) -> String {
        if self.about.is_empty() { self.name.clone() } else { format!("{}: {}", self.name, self.about) }
    }

    /// Whether the server is as usual.
    pub const fn is_usual(&self) -> bool {
        self.about.is_empty()
    }
}
