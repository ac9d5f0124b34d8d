//! The memory that a value takes.

use serde_json::Value;

/// Memory for a value or field name besides its text.
const PART: u64 = 80;

/// Roughly, in bytes. A short text can take forty times its length, so the length alone is not a limit.
pub fn weight(value: &Value) -> u64 {
    PART + match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| PART + name.len() as u64 + weight(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
