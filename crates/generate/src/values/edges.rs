//! Valid values at the borders that the keywords of a part draw.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::{
    misses::{arrays::of_length, objects::with_fields},
    numbers::{number, says_how_long},
    schema::kinds,
    texts,
};

/// Longer texts and arrays are hostile.
const LARGEST: usize = 10_000;
const LONGEST: usize = 200;
/// Maximum number of named values.
const OPTIONS: usize = 20;
/// Kinds with many values.
pub const NAMED: &str = "a named value";
pub const WHOLE: &str = "a whole number with a fraction of zero";
pub const MULTIPLE: &str = "a multiple";
/// Multiples that binary fractions miss: 7 * 0.01, 29 * 0.01 and so on are not what their digits say.
const MULTIPLES: [i64; 8] = [1, 2, 3, 7, 29, 57, 435, 1_999];

/// A valid value, the keyword whose border it is at, and how it is special.
pub struct Edge {
    pub keyword: &'static str,
    pub kind: &'static str,
    pub value: Value,
}

pub fn edges(rng: &mut Rng, part: &Map<String, Value>, name: &str, value: &Value) -> Vec<Edge> {
    let mut all = Vec::new();
    let mut at = |keyword: &'static str, kind: &'static str, value: Value| all.push(Edge { keyword, kind, value });
    for option in part.get("enum").and_then(Value::as_array).into_iter().flatten().take(OPTIONS) {
        at("enum", NAMED, option.clone());
    }
    if let Some(only) = part.get("const") {
        at("const", "the only value", only.clone());
    }
    let kinds = kinds(part);
    if kinds.iter().any(|kind| kind == "null") {
        at("type", "null", Value::Null);
    }
    match value {
        Value::Bool(_) => {
            at("type", "false", json!(false));
            at("type", "true", json!(true));
        }
        Value::Number(_) if !says_how_long(name) => numbers(part, value, &mut at),
        Value::String(text) => strings(rng, part, text, &mut at),
        Value::Array(items) => arrays(part, items, &mut at),
        Value::Object(members) => objects(part, members, &mut at),
        _ => {}
    }
    all
}

fn numbers(part: &Map<String, Value>, value: &Value, at: &mut impl FnMut(&'static str, &'static str, Value)) {
    let bound = |keyword: &str| part.get(keyword).and_then(Value::as_f64).filter(|bound| bound.abs() < 9.0e15);
    for (keyword, exclusive, step) in [("minimum", "exclusiveMinimum", 1.0), ("maximum", "exclusiveMaximum", -1.0)] {
        if let Some(bound) = bound(keyword) {
            at(keyword, "the bound itself", number(bound));
        }
        if let Some(bound) = bound(exclusive) {
            at(exclusive, "one inside the bound", number(bound + step));
            at(exclusive, "just inside the bound", number(bound + step / 1_024.0));
        }
    }
    if let Some(step) = part.get("multipleOf").filter(|step| step.as_f64().is_some_and(|step| step > 0.0)) {
        for times in MULTIPLES {
            at("multipleOf", MULTIPLE, multiple(step, times));
        }
        at("multipleOf", "zero", json!(0));
        at("multipleOf", "a negative multiple", multiple(step, -3));
    }
    if let Some(whole) = value.as_i64().filter(|whole| whole.unsigned_abs() < 1 << 53) {
        #[expect(clippy::cast_precision_loss, reason = "exact, as it is small enough")]
        at("type", WHOLE, json!(whole as f64));
    }
    for small in [0, 1, -1] {
        at("type", "a small number", json!(small));
    }
    at("type", "a large number", json!((1_i64 << 53) - 1));
    at("type", "a number beyond 32 bits", json!(1_i64 << 32));
}

/// The multiple as a person writes it: 0.07 and not 0.07000000000000001.
fn multiple(step: &Value, times: i64) -> Value {
    let written = step.to_string();
    let digits = written.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    #[expect(clippy::cast_precision_loss, reason = "small enough")]
    let product = step.as_f64().unwrap_or_default() * times as f64;
    let text = format!("{product:.digits$}");
    let parsed = text.parse::<f64>().unwrap_or(product);
    number(parsed)
}

fn strings(
    rng: &mut Rng,
    part: &Map<String, Value>,
    text: &str,
    at: &mut impl FnMut(&'static str, &'static str, Value),
) {
    let bound = |keyword: &str| part.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    for keyword in ["minLength", "maxLength"] {
        if let Some(length) = bound(keyword).filter(|length| (1..LARGEST).contains(length)) {
            at(keyword, "letters", json!(texts::of_length(length)));
            at(keyword, "characters of two bytes", json!("é".repeat(length)));
            at(keyword, "characters beyond 16 bits", json!("😀".repeat(length)));
            at(keyword, "spaces", json!(" ".repeat(length)));
        }
    }
    if let Some(pattern) = part.get("pattern").and_then(Value::as_str) {
        for _ in 0..3 {
            if let Some(text) = texts::of_pattern(rng, pattern) {
                at("pattern", "another match", json!(text));
            }
        }
        at("pattern", "more at the start", json!(format!("#{text}")));
        at("pattern", "more at the end", json!(format!("{text}#")));
    }
    at("type", "an empty text", json!(""));
}

fn arrays(part: &Map<String, Value>, items: &[Value], at: &mut impl FnMut(&'static str, &'static str, Value)) {
    let bound = |keyword: &str| part.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    for keyword in ["minItems", "maxItems"] {
        if let Some(length) = bound(keyword).filter(|length| *length <= LONGEST && !items.is_empty()) {
            at(keyword, "just enough items", of_length(items, length).into());
        }
    }
    let turned: Vec<Value> = items.iter().rev().cloned().collect();
    at(if part.contains_key("contains") { "contains" } else { "items" }, "in another order", turned.into());
    if part.contains_key("contains") {
        let mut last = items.to_vec();
        last.rotate_left(usize::from(!items.is_empty()));
        at("contains", "in another order", last.into());
        for other in [json!(0), json!("a"), json!({})] {
            at("contains", "behind what does not count", [&[other], items].concat().into());
        }
        for index in 0..items.len().min(6) {
            let fewer = items.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, item)| item.clone());
            at("contains", "just enough that count", fewer.collect());
        }
        for item in items.iter().take(4) {
            for times in 1..4 {
                at("contains", "as many as may count", vec![item.clone(); times].into());
            }
        }
    }
    if part.get("uniqueItems") == Some(&Value::Bool(true)) {
        at("uniqueItems", "a number, and the same as text", json!([1, "1"]));
        at("uniqueItems", "a number, and a boolean", json!([1, true]));
        at("uniqueItems", "the same letters in two cases", json!(["aa", "AA"]));
    } else if let Some(first) = items.first() {
        at("items", "an item twice", json!([first, first]));
    }
    for known in ["prefixItems", "items"] {
        let length = part.get(known).and_then(Value::as_array).map(Vec::len).unwrap_or_default();
        for fewer in 1..length {
            at(known, "only the first items", items.iter().take(fewer).cloned().collect());
        }
    }
    at("type", "an empty array", json!([]));
    if let Some(first) = items.first() {
        at("items", "one item", json!([first]));
    }
}

fn objects(
    part: &Map<String, Value>,
    members: &Map<String, Value>,
    at: &mut impl FnMut(&'static str, &'static str, Value),
) {
    let bound = |keyword: &str| part.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    let first = |count: usize| -> Map<String, Value> {
        members.iter().take(count).map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    if let Some(least) = bound("minProperties") {
        at("minProperties", "just enough fields", first(least).into());
    }
    if let Some(most) = bound("maxProperties").filter(|most| *most <= LONGEST) {
        at("maxProperties", "just enough fields", with_fields(members, most).into());
    }
    for keyword in ["dependentRequired", "dependencies", "dependentSchemas"] {
        for name in part.get(keyword).and_then(Value::as_object).into_iter().flat_map(Map::keys) {
            let mut fewer = members.clone();
            fewer.shift_remove(name);
            at(keyword, "without the field that requires others", fewer.into());
        }
    }
    let required = part.get("required").and_then(Value::as_array);
    let needed = |name: &String| required.is_some_and(|required| required.contains(&json!(name)));
    let least: Map<String, Value> =
        members.iter().filter(|(name, _)| needed(name)).map(|(name, value)| (name.clone(), value.clone())).collect();
    at("required", "only required fields", least.into());
    at("type", "an empty object", json!({}));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_have_the_digits_of_their_step() {
        let written: Vec<String> = MULTIPLES.iter().map(|times| multiple(&json!(0.01), *times).to_string()).collect();
        assert_eq!(written, ["0.01", "0.02", "0.03", "0.07", "0.29", "0.57", "4.35", "19.99"]);
        assert_eq!(multiple(&json!(7), 29), json!(203));
    }
}
