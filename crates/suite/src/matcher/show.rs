//! Values as text for a message: short, but always with the part that matters.

use serde_json::Value;

/// Maximum number of characters of a value in a message.
const ROOM: usize = 80;

/// The value as JSON, truncated if it is long.
pub fn value(value: &Value) -> String {
    let text = value.to_string();
    around(&text, ROOM / 2, ROOM)
}

/// The value with its type in front, for type errors.
pub fn described(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => "the boolean",
        Value::Number(_) => "the number",
        Value::String(_) => "the string",
        Value::Array(_) => "the array",
        Value::Object(_) => "the object",
    };
    format!("{kind} {}", self::value(value))
}

/// Two texts, each shortened to the part where they start to differ.
pub fn differing(received: &str, expected: &str) -> (String, String) {
    let common = received.chars().zip(expected.chars()).take_while(|(a, b)| a == b).count();
    (around(received, common, ROOM), around(expected, common, ROOM))
}

/// At most `room` characters of `text` around character number `middle`.
fn around(text: &str, middle: usize, room: usize) -> String {
    let length = text.chars().count();
    if length <= room {
        return text.to_owned();
    }
    let start = middle.saturating_sub(room / 2).min(length - room);
    let shown: String = text.chars().skip(start).take(room).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if start + room < length { "…" } else { "" };
    format!("{before}{shown}{after}")
}
