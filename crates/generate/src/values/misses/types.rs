//! Values of other types, values next to those that are named, and values that alternatives exclude.

use serde_json::{Map, Value, json};

use super::{Made, texts};
use crate::{
    pool::Pool,
    values::{
        invalid::NONSENSE,
        schema::{Root, kinds},
        valid::{Fill, Maker},
    },
};

pub const NULL: &str = "null";
pub const NUMBER_AS_TEXT: &str = "a number as text";
pub const BOOLEAN_AS_TEXT: &str = "a boolean as text";
pub const NUMBER_FOR_BOOLEAN: &str = "a number for a boolean";
pub const BOOLEAN_FOR_NUMBER: &str = "a boolean for a number";
pub const NUMBER_FOR_TEXT: &str = "a number for a text";
pub const BOOLEAN_FOR_TEXT: &str = "a boolean for a text";
pub const EMPTY_TEXT: &str = "an empty text for another value";
pub const ALONE: &str = "an item without its array";
pub const JSON_AS_TEXT: &str = "JSON as text";
pub const LIST_FOR_OBJECT: &str = "an array for an object";
pub const OBJECT_FOR_LIST: &str = "an object for an array";

/// Maximum number of named values that are changed: the first and the last ones.
const NAMED: usize = 4;

/// Values of another type, near to this one.
pub fn types(part: &Map<String, Value>, value: &Value, all: &mut Made) {
    let kinds = kinds(part);
    let has = |kind: &str| kinds.iter().any(|known| known == kind);
    if kinds.is_empty() {
        return;
    }
    let is_number = has("integer") || has("number");
    if !has("object") && (has("string") || has("array")) {
        all.add("type", "an object", json!({ NONSENSE: [] }));
    }
    if !has("string") && (is_number || has("boolean")) {
        all.add("type", "a text", NONSENSE);
    }
    if has("object") && !is_number && !has("string") {
        all.add("type", "a number", 7);
    }
    if has("integer") && !has("number") {
        let whole = value.as_i64().unwrap_or(1);
        #[expect(clippy::cast_precision_loss, reason = "a fraction near the number is enough")]
        all.add("type", "a fraction", whole as f64 + 0.5);
    }
    all.add("type", NULL, Value::Null);
    match value {
        Value::Number(number) => {
            all.add("type", NUMBER_AS_TEXT, number.to_string());
            all.add("type", BOOLEAN_FOR_NUMBER, true);
            all.add("type", BOOLEAN_FOR_NUMBER, false);
        }
        Value::Bool(flag) => {
            all.add("type", BOOLEAN_AS_TEXT, flag.to_string());
            all.add("type", NUMBER_FOR_BOOLEAN, i64::from(*flag));
        }
        Value::String(_) => {
            all.add("type", NUMBER_FOR_TEXT, 7);
            all.add("type", NUMBER_FOR_TEXT, 12_345);
            all.add("type", "a text in an array", json!([value]));
            all.add("type", BOOLEAN_FOR_TEXT, true);
        }
        Value::Array(items) => {
            if let Some(first) = items.iter().find(|item| !item.is_object() && !item.is_array()) {
                all.add("type", ALONE, first.clone());
            }
            all.add("type", ALONE, NONSENSE);
            all.add("type", OBJECT_FOR_LIST, json!({ "0": items.first() }));
            all.add("type", OBJECT_FOR_LIST, json!({}));
            all.add("type", JSON_AS_TEXT, value.to_string());
        }
        Value::Object(_) => {
            all.add("type", LIST_FOR_OBJECT, json!([]));
            all.add("type", LIST_FOR_OBJECT, json!([value]));
            all.add("type", JSON_AS_TEXT, value.to_string());
        }
        Value::Null => {}
    }
    if !has("string") {
        all.add("type", EMPTY_TEXT, "");
    }
}

/// Values next to those of `enum` and `const`.
pub fn named(part: &Map<String, Value>, all: &mut Made) {
    let options = part.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
    let skipped = options.len().saturating_sub(NAMED / 2).max(NAMED / 2);
    let chosen = options.iter().take(NAMED / 2).chain(options.iter().skip(skipped));
    let only = part.get("const").into_iter();
    for (keyword, option) in chosen.map(|option| ("enum", option)).chain(only.map(|only| ("const", only))) {
        match option {
            Value::String(text) => {
                all.add(keyword, "another value", NONSENSE);
                texts::beside(keyword, text, all);
                if text.parse::<f64>().is_ok() {
                    all.add(keyword, NUMBER_FOR_TEXT, serde_json::from_str::<Value>(text).unwrap_or_default());
                }
            }
            Value::Number(number) => {
                all.add(keyword, "another value", 987_654_321);
                all.add(keyword, NUMBER_AS_TEXT, number.to_string());
                all.add(keyword, "a fraction", number.as_f64().unwrap_or_default() + 0.5);
                all.add(keyword, "the next number", number.as_i64().map_or(json!(0.25), |whole| json!(whole + 1)));
                all.add(keyword, BOOLEAN_FOR_NUMBER, true);
            }
            Value::Bool(flag) => all.add(keyword, BOOLEAN_AS_TEXT, flag.to_string()),
            Value::Null => all.add(keyword, EMPTY_TEXT, ""),
            _ => {}
        }
        all.add(keyword, NULL, Value::Null);
    }
}

/// Values that `not` excludes, and those that match two branches of `oneOf`.
pub fn excluded(root: Root, part: &Map<String, Value>, value: &Value, all: &mut Made) {
    let mut rng = fastrand::Rng::with_seed(1);
    let pool = Pool::new();
    let mut made = |schema: &Value| Maker::new(root, &mut rng, &pool, Fill::All).value(schema);
    let own = |branch: &Value| {
        let mut rest = part.clone();
        rest.retain(|name, _| !["oneOf", "anyOf", "not"].contains(&name.as_str()));
        json!({ "allOf": [rest, branch] })
    };
    if let Some(excluded) = part.get("not") {
        for option in excluded.get("enum").and_then(Value::as_array).into_iter().flatten().take(NAMED) {
            all.add("not", "an excluded value", option.clone());
        }
        for _ in 0..3 {
            let found = made(&own(excluded)).or_else(|| made(excluded));
            if let Some(found) = found {
                all.add("not", "an excluded value", found);
            }
        }
        if let (Some(members), Some(required)) = (value.as_object(), excluded["required"].as_array()) {
            let mut more = members.clone();
            required.iter().filter_map(Value::as_str).for_each(|name| {
                more.entry(name).or_insert(json!(NONSENSE));
            });
            all.add("not", "an excluded field", more);
        }
    }
    let branches = part.get("oneOf").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (nr, one) in branches.iter().enumerate().take(NAMED) {
        for other in branches.iter().skip(nr + 1).take(NAMED) {
            let numbers = [one, other].map(|branch| branch["multipleOf"].as_i64());
            if let [Some(a), Some(b)] = numbers {
                all.add("oneOf", "a value of two branches", a.saturating_mul(b));
                all.add("oneOf", "a value of two branches", 0);
            }
            let both = made(&json!({ "allOf": [own(one), other] }));
            if let Some(both) = both {
                all.add("oneOf", "a value of two branches", both);
            }
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        if part.contains_key(keyword) {
            for value in [json!(NONSENSE), json!(-0.75), json!(true), json!([[]]), json!({ NONSENSE: [] })] {
                all.add(keyword, "a value of no branch", value);
            }
        }
    }
}
