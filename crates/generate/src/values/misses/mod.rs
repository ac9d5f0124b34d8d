//! Near misses: for each keyword at each place, values that violate it by little. Which keyword a value really violates is
//! determined by validation, so what is made here may be approximate.

pub mod arrays;
mod numbers;
pub mod objects;
mod texts;
pub mod types;

use serde_json::{Map, Value};

use super::schema::Root;

/// A changed value, and the kind of the change.
pub struct Miss {
    pub keyword: &'static str,
    pub kind: &'static str,
    pub value: Value,
}

/// Kinds that servers convert or drop on purpose: `"5"` for 5, `null` for an optional field, a set for an array. Such a
/// server conforms to its own idea of the schema everywhere.
const TOLERATED: [&str; 21] = [
    types::BOOLEAN_FOR_TEXT,
    types::NULL,
    types::NUMBER_AS_TEXT,
    types::BOOLEAN_AS_TEXT,
    types::NUMBER_FOR_BOOLEAN,
    types::BOOLEAN_FOR_NUMBER,
    types::NUMBER_FOR_TEXT,
    types::EMPTY_TEXT,
    types::ALONE,
    types::JSON_AS_TEXT,
    types::LIST_FOR_OBJECT,
    types::OBJECT_FOR_LIST,
    texts::BEYOND_16_BITS,
    texts::LINE_BREAK,
    texts::OTHER_CASE,
    texts::SPACE,
    objects::UNKNOWN,
    objects::UNKNOWN_TEXT,
    objects::UNKNOWN_NULL,
    arrays::REPEATED,
    arrays::REPEATED_APART,
];
/// Keywords that many validators leave out: they drop unknown fields, and make a set of repeated elements.
const LENIENT: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "uniqueItems"];

pub fn is_tolerated(keyword: &str, kind: &str) -> bool {
    TOLERATED.contains(&kind) || LENIENT.contains(&keyword)
}

/// Near misses of one part of a schema at one value.
pub fn misses(root: Root, part: &Map<String, Value>, value: &Value, is_root: bool) -> Vec<Miss> {
    let mut all = Made(Vec::new());
    if !is_root {
        types::types(part, value, &mut all);
        types::named(part, &mut all);
        types::excluded(root, part, value, &mut all);
    }
    match value {
        Value::Object(members) => objects::objects(root, part, members, &mut all),
        Value::Array(items) => arrays::arrays(part, items, &mut all),
        Value::String(text) => texts::texts(part, text, &mut all),
        Value::Number(_) => numbers::numbers(part, value, &mut all),
        _ => {}
    }
    all.0
}

/// Collects what is made.
pub struct Made(Vec<Miss>);

impl Made {
    fn add(&mut self, keyword: &'static str, kind: &'static str, value: impl Into<Value>) {
        self.0.push(Miss { keyword, kind, value: value.into() });
    }
}
