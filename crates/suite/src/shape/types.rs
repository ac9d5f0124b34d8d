//! The type of a field: type expressions to the right of the colon, and inline objects.

use std::{fmt, str::FromStr};

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::Value;

use super::rows::Rows;
use crate::format::Format;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Any,
    /// A JSON type, with an optional format for strings.
    Plain {
        json: &'static str,
        format: Option<Format>,
    },
    Number {
        json: &'static str,
        at_least: Option<i64>,
        at_most: Option<i64>,
    },
    OneValueOf(Vec<Value>),
    /// Another shape, by name.
    Named(String),
    Array {
        of: Box<Type>,
        at_least: Option<i64>,
        at_most: Option<i64>,
    },
    /// An object whose fields all have one type.
    Map(Box<Type>),
    /// Alternatives of different JSON types.
    Either(Vec<Type>),
    /// An object with these fields; `!` after a name marks a required field.
    Object(Rows<Type>),
}

impl FromStr for Type {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(values) = text.trim().strip_prefix("= ") {
            return Ok(Self::OneValueOf(values.split('|').map(|value| constant(value.trim())).collect()));
        }
        let mut alternatives = text.split('|').map(|term| term_of(term.trim())).collect::<Result<Vec<_>, _>>()?;
        Ok(if alternatives.len() == 1 { alternatives.swap_remove(0) } else { Self::Either(alternatives) })
    }
}

/// Constants are strings; those that are written as integers are numbers.
pub(super) fn constant(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| text.into(), Value::from)
}

fn term_of(term: &str) -> Result<Type, String> {
    if let Some(of) = term.strip_suffix("{}") {
        return Ok(Type::Map(Box::new(term_of(of)?)));
    }
    if let Some((of, bounds)) = term.strip_suffix(']').and_then(|open| open.rsplit_once('[')) {
        let (at_least, at_most) = if bounds.is_empty() { (None, None) } else { range(bounds)? };
        return Ok(Type::Array { of: Box::new(term_of(of)?), at_least, at_most });
    }
    let plain = |json| Ok(Type::Plain { json, format: None });
    let formatted = |format| Ok(Type::Plain { json: "string", format: Some(format) });
    let number = |json, bounds: &str| {
        let (at_least, at_most) = range(bounds)?;
        Ok(Type::Number { json, at_least, at_most })
    };
    match term.split_once(' ').unwrap_or((term, "")) {
        ("any", "") => Ok(Type::Any),
        ("string" | "base64", "") => plain("string"),
        ("boolean", "") => plain("boolean"),
        ("object", "") => plain("object"),
        ("null", "") => plain("null"),
        ("integer", "") => plain("integer"),
        ("number", "") => plain("number"),
        ("uri", "") => formatted(Format::Uri),
        ("uri-template", "") => formatted(Format::UriTemplate),
        ("integer", bounds) => number("integer", bounds),
        ("number", bounds) => number("number", bounds),
        (name, "") if name.starts_with(|c: char| c.is_ascii_uppercase()) && is_word(name) => {
            Ok(Type::Named(name.into()))
        }
        _ => Err(format!("unknown type `{term}`")),
    }
}

fn is_word(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric())
}

fn range(text: &str) -> Result<(Option<i64>, Option<i64>), String> {
    let bound = |text: &str| match text {
        "" => Ok(None),
        number => number.parse().map(Some).map_err(|_| format!("`{number}` is not an integer")),
    };
    match text.split_once("..") {
        Some((at_least, at_most)) if text != ".." => Ok((bound(at_least)?, bound(at_most)?)),
        _ => Err(format!("`{text}` is not a range; write 0.., ..100 or 0..1")),
    }
}

impl<'de> Deserialize<'de> for Type {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TypeVisitor;

        impl<'de> Visitor<'de> for TypeVisitor {
            type Value = Type;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a type, or a mapping of fields")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Type, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Type, A::Error> {
                Rows::deserialize(MapAccessDeserializer::new(map)).map(Type::Object)
            }
        }

        deserializer.deserialize_any(TypeVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Type {
        text.parse().expect("a type")
    }

    #[test]
    fn expressions_mean_what_they_say() {
        let string = || Type::Plain { json: "string", format: None };
        assert_eq!(parsed("uri"), Type::Plain { json: "string", format: Some(Format::Uri) });
        assert_eq!(parsed("base64"), string(), "how strict base64 is, rules say");
        assert_eq!(
            parsed("Icon[]"),
            Type::Array { of: Box::new(Type::Named("Icon".into())), at_least: None, at_most: None }
        );
        assert_eq!(parsed("string[..100]"), Type::Array { of: Box::new(string()), at_least: None, at_most: Some(100) });
        assert_eq!(parsed("string[]{}"), Type::Map(Box::new(parsed("string[]"))));
        assert_eq!(parsed("number 0..1"), Type::Number { json: "number", at_least: Some(0), at_most: Some(1) });
        assert_eq!(parsed("integer 0.."), Type::Number { json: "integer", at_least: Some(0), at_most: None });
        assert_eq!(parsed("string | Icon[]"), Type::Either(vec![string(), parsed("Icon[]")]));
    }

    #[test]
    fn constants_are_strings_unless_they_are_integers() {
        assert_eq!(parsed("= 2.0"), Type::OneValueOf(vec!["2.0".into()]));
        assert_eq!(parsed("= -32020"), Type::OneValueOf(vec![(-32020).into()]));
        assert_eq!(parsed("= user | assistant"), Type::OneValueOf(vec!["user".into(), "assistant".into()]));
    }

    #[test]
    fn what_is_no_type_is_refused() {
        for text in ["strin", "string 0..1", "Icon since", "integer 0", "string[100]", "", "string |", "integer .."] {
            assert!(text.parse::<Type>().is_err(), "{text} was taken for a type");
        }
    }
}
