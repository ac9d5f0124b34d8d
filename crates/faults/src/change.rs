//! Functions that change a value.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Number, Value, json};

use super::select::matches;

/// A function of `change`. It leaves values of other types unchanged.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// A text without space at its ends.
    Trim,
    Lower,
    Upper,
    /// A text with question marks in place of characters beyond ASCII.
    Ascii,
    /// A text with this text before it.
    Prefix(String),
    /// A text with this text after it.
    Suffix(String),
    /// A text in which each of these texts is replaced by the other.
    Swap(IndexMap<String, String>),
    /// The part of a text before this one.
    Cut(String),
    /// The beginning of a text, with at most this many bytes.
    Truncate(usize),
    /// A text in which the percent signs and everything but letters, digits and `-._~:/?#` are percent-encoded.
    Encoded,
    /// A text with its percent-encoded ASCII characters decoded.
    Decoded,
    /// Any value as JSON in a text.
    AsJson,
    /// An object as JSON in a text.
    ObjectAsJson,
    /// A text of digits as a number.
    AsNumber,
    /// A value of another JSON type.
    OtherType,
    /// A text, array or object without content.
    Empty,
    /// The other truth value.
    Inverted,
    /// A number with this added.
    Plus(serde_json::Number),
    /// An integer as a double-precision number holds it.
    Rounded,
    /// An array of this value alone, unless it is an array.
    AsArray,
    /// A text so many times. An array with its last element so many times, each with a number after the text, or after its
    /// `name`.
    Repeated(usize),
    /// An array in the other order.
    Reversed,
    /// An array with its first element again at its end.
    FirstAgain,
    /// An array in which each element has this field of the next one.
    Shifted(String),
    /// An array or object without its last element or field.
    WithoutLast,
    /// An object without the fields that are null.
    WithoutNulls,
    /// An object without the fields whose names fit a pattern.
    Without(String),
    /// An object with these fields alone.
    Only(Vec<String>),
}

/// A value like this one, with a number after its text.
fn numbered(value: &Value, number: usize) -> Value {
    let mut numbered = value.clone();
    let text = if value.is_string() { Some(&mut numbered) } else { numbered.get_mut("name") };
    if let Some(Value::String(text)) = text {
        text.push_str(&format!("_{number}"));
    }
    numbered
}

impl Change {
    pub fn apply(&self, value: &mut Value) {
        match (self, &mut *value) {
            (Self::Trim, Value::String(text)) => *text = text.trim().to_owned(),
            (Self::Lower, Value::String(text)) => *text = text.to_lowercase(),
            (Self::Upper, Value::String(text)) => *text = text.to_uppercase(),
            (Self::Ascii, Value::String(text)) => {
                *text = text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect();
            }
            (Self::Prefix(prefix), Value::String(text)) => text.insert_str(0, prefix),
            (Self::Suffix(suffix), Value::String(text)) => text.push_str(suffix),
            (Self::Repeated(times), Value::String(text)) => *text = text.repeat(*times),
            (Self::Repeated(times), Value::Array(items)) => {
                let Some(last) = items.last().cloned() else { return };
                items.extend((1..*times).map(|number| numbered(&last, number)));
            }
            (Self::Swap(texts), Value::String(text)) => {
                *text = texts.iter().fold(text.clone(), |text, (from, to)| text.replace(from, to));
            }
            (Self::Cut(end), Value::String(text)) => text.truncate(text.find(end.as_str()).unwrap_or(text.len())),
            (Self::Truncate(bytes), Value::String(text)) => {
                let end = (0..=text.len().min(*bytes)).rev().find(|at| text.is_char_boundary(*at));
                text.truncate(end.unwrap_or_default());
            }
            (Self::Encoded, Value::String(text)) => *text = encoded(text),
            (Self::Decoded, Value::String(text)) => *text = decoded(text),
            (Self::OtherType, value) => *value = of_other_type(value),
            (Self::Empty, Value::String(text)) => text.clear(),
            (Self::Empty, Value::Array(items)) => items.clear(),
            (Self::Empty, Value::Object(fields)) => fields.clear(),
            (Self::Inverted, Value::Bool(is_true)) => *is_true = !*is_true,
            (Self::Plus(added), Value::Number(number)) => *value = sum(number, added),
            (Self::ObjectAsJson, Value::Object(_)) | (Self::AsJson, _) => *value = json!(value.to_string()),
            (Self::AsNumber, Value::String(text)) => {
                *value = text.parse::<i64>().map_or_else(|_| json!(text), Value::from);
            }
            (Self::Rounded, Value::Number(number)) if number.is_i64() => {
                let rounded = number.as_f64().and_then(|number| format!("{number:.0}").parse::<i64>().ok());
                *value = rounded.map_or_else(|| json!(number), Value::from);
            }
            (Self::AsArray, old) if !old.is_array() => *value = json!([old]),
            (Self::Reversed, Value::Array(items)) => items.reverse(),
            (Self::FirstAgain, Value::Array(items)) => items.extend(items.first().cloned()),
            (Self::Shifted(field), Value::Array(items)) => {
                let mut next: Vec<Option<Value>> = items.iter().map(|item| item.get(field).cloned()).collect();
                let by = usize::from(next.len() > 1);
                next.rotate_left(by);
                for (item, next) in items.iter_mut().zip(next) {
                    if let (Some(old), Some(next)) = (item.get_mut(field), next) {
                        *old = next;
                    }
                }
            }
            (Self::WithoutLast, Value::Array(items)) => drop(items.pop()),
            (Self::WithoutLast, Value::Object(fields)) => {
                let last = fields.keys().next_back().cloned();
                last.map(|last| fields.shift_remove(&last));
            }
            (Self::WithoutNulls, Value::Object(fields)) => fields.retain(|_, field| !field.is_null()),
            (Self::Without(pattern), Value::Object(fields)) => fields.retain(|name, _| !matches(pattern, name)),
            (Self::Only(names), Value::Object(fields)) => fields.retain(|name, _| names.contains(name)),
            _ => {}
        }
    }
}

fn of_other_type(value: &Value) -> Value {
    match value {
        Value::Null | Value::Object(_) => json!([]),
        Value::Bool(_) | Value::Number(_) => json!(value.to_string()),
        Value::String(_) => json!(7),
        Value::Array(_) => json!({}),
    }
}

fn sum(number: &Number, added: &Number) -> Value {
    let whole = number.as_i64().zip(added.as_i64()).and_then(|(number, added)| number.checked_add(added));
    whole.map_or_else(|| json!(number.as_f64().zip(added.as_f64()).map(|(number, added)| number + added)), Value::from)
}

fn encoded(text: &str) -> String {
    let kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#".contains(&byte);
    let bytes = text.bytes().map(|byte| if kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    bytes.collect()
}

fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |decoded, part| {
        let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(u8::is_ascii);
        decoded + &code.map_or_else(|| format!("%{part}"), |code| format!("{}{}", char::from(code), &part[2..]))
    })
}
