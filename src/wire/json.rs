//! Reads bytes as one JSON value and names what is odd about them.
//!
//! Odd is not wrong: a byte order mark, broken UTF-8 inside a string or a member given twice still leave a value to judge.

use std::{borrow::Cow, cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// What bytes turned out to be.
#[derive(Debug, PartialEq)]
pub enum Reading {
    Message { message: Value, flaws: Vec<String> },
    Junk { why: String },
}

pub fn read(bytes: &[u8]) -> Reading {
    let mut flaws = Vec::new();
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").map_or(bytes, |rest| {
        flaws.push("bom".to_owned());
        rest
    });
    let text = String::from_utf8_lossy(bytes);
    let broken = matches!(text, Cow::Owned(_));
    if broken {
        flaws.push("invalid-utf8".to_owned());
    }
    let repeated = Cell::new(false);
    let mut deserializer = serde_json::Deserializer::from_str(&text);
    let parsed = Seed(&repeated).deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    if repeated.get() {
        flaws.push("duplicate-key".to_owned());
    }
    match parsed {
        Ok(message) => Reading::Message { message, flaws },
        Err(error) => Reading::Junk { why: words(&error.to_string(), broken) },
    }
}

fn words(error: &str, broken: bool) -> String {
    if error.starts_with("recursion limit exceeded") {
        return "nested deeper than 128 levels".to_owned();
    }
    let and = if broken { "not UTF-8 and " } else { "" };
    format!("{and}not JSON: {}", error.replace(" at line 1 column ", " at column "))
}

/// Builds a `Value` as `serde_json` does, and notices a member that is given twice.
#[derive(Clone, Copy)]
struct Seed<'a>(&'a Cell<bool>);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.insert(name, members.next_value_seed(self)?).is_some() {
                self.0.set(true);
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn flawed(bytes: &[u8]) -> (Value, Vec<String>) {
        match read(bytes) {
            Reading::Message { message, flaws } => (message, flaws),
            Reading::Junk { why } => panic!("junk: {why}"),
        }
    }

    fn why(bytes: &[u8]) -> String {
        match read(bytes) {
            Reading::Message { message, .. } => panic!("read as {message}"),
            Reading::Junk { why } => why,
        }
    }

    #[test]
    fn names_what_is_odd_and_still_reads() {
        assert_eq!(flawed(br#" {"b":1,"a":[null,-2,0.5]} "#), (json!({"b": 1, "a": [null, -2, 0.5]}), vec![]));
        assert_eq!(flawed(b"\xEF\xBB\xBF{}"), (json!({}), vec!["bom".into()]));
        assert_eq!(flawed(b"[\"\xFF\"]"), (json!(["\u{FFFD}"]), vec!["invalid-utf8".into()]));
        assert_eq!(flawed(br#"{"a":{"id":1,"id":2}}"#), (json!({"a": {"id": 2}}), vec!["duplicate-key".into()]));
        assert_eq!(flawed(b"7"), (json!(7), vec![]));
    }

    #[test]
    fn says_why_bytes_are_no_json() {
        assert_eq!(why(b"Listening on 3000"), "not JSON: expected value at column 1");
        assert_eq!(why(b"{} {}"), "not JSON: trailing characters at column 4");
        assert_eq!(why(b"\xFF"), "not UTF-8 and not JSON: expected value at column 1");
        assert_eq!(why("[".repeat(100_000).as_bytes()), "nested deeper than 128 levels");
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in r#"[\[\]{},:"a0-9. -]{0,40}"#) {
            match (read(text.as_bytes()), serde_json::from_str::<Value>(&text)) {
                (Reading::Message { message, .. }, Ok(expected)) => prop_assert_eq!(message, expected),
                (Reading::Junk { .. }, Err(_)) => {}
                (ours, theirs) => prop_assert!(false, "{:?} against {:?}", ours, theirs),
            }
        }
    }
}
