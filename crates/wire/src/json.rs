//! Parses bytes as one JSON value and lists its flaws.
//!
//! A flaw is not a syntax error: a byte order mark, invalid UTF-8 in a string, or a duplicate field still leave a value
//! to judge.

use std::{borrow::Cow, cell::Cell, fmt, sync::LazyLock};

use regex::{Captures, Regex};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use conform_model::evidence::{Cause, Reason};

/// More deeply nested messages are not parsed. Messages are embedded in transcripts and reports, whose readers stop at
/// 128 levels.
const DEEPEST: usize = 96;

/// The limit at which parsing stopped.
#[derive(Clone, Copy)]
enum Limit {
    Values,
    Depth,
}

/// The result of parsing bytes.
#[derive(Debug, PartialEq)]
pub enum Reading {
    Message { message: Value, flaws: Vec<String> },
    Junk { why: Reason },
}

/// A value of more than `most` parts is not parsed: each part takes many times the memory of its bytes.
pub fn read(bytes: &[u8], most: usize) -> Reading {
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
    let (repeated, limit) = (Cell::new(false), Cell::new(None));
    let and = if broken { "not UTF-8 and " } else { "" };
    let not_json = |cause, error: &serde_json::Error| {
        let said = error.to_string().replace(" at line 1 column ", " at column ");
        Reason::new(cause, format!("{and}not JSON: {said}"))
    };
    let parse = |text: &str| {
        let left = Cell::new(most);
        let seed = Seed { repeated: &repeated, left: &left, limit: &limit, depth: 0 };
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let value = seed.deserialize(&mut deserializer).map_err(|error| match limit.take() {
            Some(Limit::Values) => Reason::too_many_values(most),
            Some(Limit::Depth) => Reason::too_deep(DEEPEST),
            None if is_out_of_range(&error) => Reason::new(Cause::NumberOutOfRange, "a number out of range"),
            None => not_json(Cause::NotJson, &error),
        })?;
        deserializer.end().map_err(|error| not_json(Cause::TrailingData, &error))?;
        Ok(value)
    };
    let mut parsed = parse(&text);
    if parsed.is_err()
        && let Cow::Owned(paired) = without_lone_surrogates(&text)
    {
        flaws.push("lone-surrogate".to_owned());
        parsed = parse(&paired);
    }
    if repeated.get() {
        flaws.push("duplicate-key".to_owned());
    }
    match parsed {
        Ok(message) => Reading::Message { message, flaws },
        Err(why) => Reading::Junk { why },
    }
}

/// The `id` of a response that is not parsed, if it is found.
pub fn id_of(bytes: &[u8]) -> Option<Value> {
    let found = Cell::new(None);
    // If the bytes end too soon, the fields before that still count.
    let _ = serde_json::Deserializer::from_slice(bytes).deserialize_map(IdOf(&found));
    found.take()
}

struct IdOf<'a>(&'a Cell<Option<Value>>);

impl<'de> Visitor<'de> for IdOf<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a response")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            if name == "id" {
                self.0.set(Some(members.next_value()?));
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// JSON can contain an escaped half of a surrogate pair (RFC 8259, 8.2), but a Rust string cannot.
fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    const ESCAPES: &str = r"\\(?:(?<pair>u[dD][89abAB]..\\u[dD][c-fC-F]..)|(?<lone>u[dD][89a-fA-F]..)|.)";
    static PATTERN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(ESCAPES).unwrap_or_else(|error| unreachable!("tried by a test: {error}")));
    let lone = |escape: &Captures| escape.name("lone").is_some();
    if !PATTERN.captures_iter(text).any(|escape| lone(&escape)) {
        return Cow::Borrowed(text);
    }
    let written = |escape: &Captures| if lone(escape) { r"\ufffd".to_owned() } else { escape[0].to_owned() };
    PATTERN.replace_all(text, written)
}

/// `serde_json` has no error code for it; a test fixes the text.
fn is_out_of_range(error: &serde_json::Error) -> bool {
    error.to_string().starts_with("number out of range")
}

/// Builds a `Value` as `serde_json` does, finds duplicate fields, and counts values.
#[derive(Clone, Copy)]
struct Seed<'a> {
    repeated: &'a Cell<bool>,
    /// How many more values are allowed.
    left: &'a Cell<usize>,
    /// The limit that was reached.
    limit: &'a Cell<Option<Limit>>,
    depth: usize,
}

impl Seed<'_> {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        let depth = self.depth + 1;
        if depth > DEEPEST { Err(self.reached(Limit::Depth)) } else { Ok(Self { depth, ..self }) }
    }

    fn reached<E: Error>(self, limit: Limit) -> E {
        self.limit.set(Some(limit));
        E::custom("a limit was reached")
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            None => return Err(self.reached(Limit::Values)),
        }
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
        let (mut array, inner) = (Vec::new(), self.deeper::<A::Error>()?);
        while let Some(item) = items.next_element_seed(inner)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let (mut object, inner) = (Map::new(), self.deeper::<A::Error>()?);
        while let Some(name) = members.next_key::<String>()? {
            if object.insert(name, members.next_value_seed(inner)?).is_some() {
                self.repeated.set(true);
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
        match read(bytes, 1000) {
            Reading::Message { message, flaws } => (message, flaws),
            Reading::Junk { why } => panic!("junk: {why}"),
        }
    }

    fn why(bytes: &[u8]) -> String {
        match read(bytes, 1000) {
            Reading::Message { message, .. } => panic!("read as {message}"),
            Reading::Junk { why } => why.words,
        }
    }

    #[test]
    fn names_what_is_odd_and_still_reads() {
        assert_eq!(flawed(br#" {"b":1,"a":[null,-2,0.5]} "#), (json!({"b": 1, "a": [null, -2, 0.5]}), vec![]));
        assert_eq!(flawed(b"\xEF\xBB\xBF{}"), (json!({}), vec!["bom".into()]));
        assert_eq!(flawed(b"[\"\xFF\"]"), (json!(["\u{FFFD}"]), vec!["invalid-utf8".into()]));
        assert_eq!(flawed(br#"{"a":{"id":1,"id":2}}"#), (json!({"a": {"id": 2}}), vec!["duplicate-key".into()]));
        assert_eq!(flawed(b"7"), (json!(7), vec![]));
        assert_eq!(
            flawed(br#"["\ud800","\udc00x","\\ud800","\uD83D\uDE00","\n"]"#),
            (json!(["\u{FFFD}", "\u{FFFD}x", "\\ud800", "\u{1F600}", "\n"]), vec!["lone-surrogate".into()])
        );
    }

    #[test]
    fn says_why_bytes_are_no_json() {
        assert_eq!(why(b"Listening on 3000"), "not JSON: expected value at column 1");
        assert_eq!(why(b"{} {}"), "not JSON: trailing characters at column 4");
        assert_eq!(why(b"\xFF"), "not UTF-8 and not JSON: expected value at column 1");
        assert_eq!(why("[".repeat(100_000).as_bytes()), "nested deeper than 96 levels");
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(why(nested(DEEPEST + 1).as_bytes()), "nested deeper than 96 levels");
        flawed(nested(DEEPEST).as_bytes());
        assert_eq!(why("9".repeat(1000).as_bytes()), "a number out of range");
        assert_eq!(why(format!("[0{}]", ",0".repeat(999)).as_bytes()), "more than 1000 values, not read further");
    }

    #[test]
    fn the_id_of_a_response_beyond_the_limits_is_found() {
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        for (text, id) in [
            (format!(r#"{{"jsonrpc":"2.0","id":7,"result":{deep}}}"#), Some(json!(7))),
            (format!(r#"{{"result":{deep},"jsonrpc":"2.0","id":"a"}}"#), Some(json!("a"))),
            (format!(r#"{{"result":{},"id":1}}"#, "9".repeat(1000)), Some(json!(1))),
            (r#"{"id":7,"result":{"text":"xxxxx"#.to_owned(), Some(json!(7))),
            (r#"{"result":{"id":7,"text":"xxxxx"#.to_owned(), None),
            ("[1]".to_owned(), None),
        ] {
            assert_eq!(id_of(text.as_bytes()), id, "{}", &text[..30.min(text.len())]);
        }
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in r#"[\[\]{},:"a0-9. -]{0,40}"#) {
            match (read(text.as_bytes(), 1000), serde_json::from_str::<Value>(&text)) {
                (Reading::Message { message, .. }, Ok(expected)) => prop_assert_eq!(message, expected),
                (Reading::Junk { .. }, Err(_)) => {}
                (ours, theirs) => prop_assert!(false, "{:?} against {:?}", ours, theirs),
            }
        }
    }
}
