//! The primitive shapes: JSON types by name.

use serde_json::Value;

use super::show;

/// A JSON type. `1.0` is an integer, as JSON does not distinguish it from `1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    String,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
    Any,
    Null,
}

impl Kind {
    pub const ALL: [Self; 8] =
        [Self::String, Self::Integer, Self::Number, Self::Boolean, Self::Object, Self::Array, Self::Any, Self::Null];

    pub const fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
            Self::Any => "any",
            Self::Null => "null",
        }
    }

    pub fn fits(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Integer => match value {
                Value::Number(number) => number.as_f64().is_some_and(|number| number.fract() == 0.0),
                _ => false,
            },
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
            Self::Any => true,
            Self::Null => value.is_null(),
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Object => "an object",
            Self::Array => "an array",
            Self::Any => "anything",
            Self::Null => "null",
        }
    }

    pub(super) fn judge(self, value: &Value) -> Option<String> {
        (!self.fits(value)).then(|| format!("is {}, expected {}", show::described(value), self.words()))
    }
}
