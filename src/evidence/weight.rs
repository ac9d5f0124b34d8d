//! What a value takes of memory.

use serde_json::Value;

/// A value or the name of a field, besides its text.
const PART: u64 = 80;

/// Roughly, in bytes. A short text can take forty times its length: what comes is not weighed by its length alone.
pub fn weight(value: &Value) -> u64 {
    PART + match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| PART + name.len() as u64 + weight(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
