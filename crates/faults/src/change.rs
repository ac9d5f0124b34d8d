//! Functions that change a value.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Value, json};

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
    /// Any value as JSON in a text.
    AsJson,
    /// An object as JSON in a text.
    ObjectAsJson,
    /// A text of digits as a number.
    AsNumber,
    /// An integer as a double-precision number holds it.
    Rounded,
    /// An array of this value alone, unless it is an array.
    AsArray,
    /// An array in the other order.
    Reversed,
    /// An array or object without its last element or field.
    WithoutLast,
    /// An object without the fields that are null.
    WithoutNulls,
    /// An object without the fields whose names fit a pattern.
    Without(String),
    /// An object with these fields alone.
    Only(Vec<String>),
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
            (Self::Swap(texts), Value::String(text)) => {
                *text = texts.iter().fold(text.clone(), |text, (from, to)| text.replace(from, to));
            }
            (Self::Cut(end), Value::String(text)) => text.truncate(text.find(end.as_str()).unwrap_or(text.len())),
            (Self::Truncate(bytes), Value::String(text)) => {
                let end = (0..=text.len().min(*bytes)).rev().find(|at| text.is_char_boundary(*at));
                text.truncate(end.unwrap_or_default());
            }
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
