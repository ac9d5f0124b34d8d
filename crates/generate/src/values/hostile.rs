//! Values that are valid but that programs often handle wrongly: one place of a valid value at a time.

use serde_json::{Map, Value, json};

use super::{
    formats,
    numbers::says_how_long,
    schema::{Root, kinds, places},
    texts,
};
use conform_suite::foreign::Checker;

/// Maximum number of tested places of one value.
const PLACES: usize = 30;
/// Depth of deliberately nested values; many JSON parsers stop at 128.
const LEVELS: usize = 60;

pub struct Hostile {
    pub arguments: Value,
    pub at: String,
    /// A description of the unusual value.
    pub what: String,
}

/// The valid arguments with one unusual value each.
pub fn hostile(root: Root, schema: &Value, valid: &Value, checker: &Checker) -> Vec<Hostile> {
    let mut found: Vec<Hostile> = Vec::new();
    for (pointer, name, flat) in places(root, schema, valid, PLACES) {
        if flat.contains_key("x-mcp-header") {
            continue;
        }
        for (what, odd) in odd(&flat, &name, valid.pointer(&pointer).unwrap_or(&Value::Null), pointer.is_empty()) {
            let mut arguments = valid.clone();
            let Some(place) = arguments.pointer_mut(&pointer) else { continue };
            *place = odd;
            if checker.holds(&arguments) == Some(true) {
                found.push(Hostile { arguments, at: pointer.clone(), what: what.to_owned() });
            }
        }
    }
    let mut all = together(valid, &found, checker);
    all.extend(found);
    all
}

/// The first unusual values of each place in one call: shrinking the call shows which one fails.
fn together(valid: &Value, found: &[Hostile], checker: &Checker) -> Vec<Hostile> {
    let first: Vec<&str> = texts::hostile().into_iter().take(texts::FIRST).map(|(what, _)| what).collect();
    let one = |what: &&str| {
        let places = found.iter().filter(|one| one.what == **what);
        let mut arguments = valid.clone();
        let mut changed = 0;
        for place in places {
            let odd = place.arguments.pointer(&place.at)?.clone();
            *arguments.pointer_mut(&place.at)? = odd;
            changed += 1;
        }
        let fits = changed > 1 && checker.holds(&arguments) == Some(true);
        fits.then(|| Hostile { arguments, at: String::new(), what: (*what).to_owned() })
    };
    first.iter().filter_map(one).collect()
}

fn odd(flat: &Map<String, Value>, name: &str, value: &Value, is_root: bool) -> Vec<(&'static str, Value)> {
    if flat.contains_key("enum") || flat.contains_key("const") {
        return Vec::new();
    }
    let kinds = kinds(flat);
    let any = kinds.is_empty() && !is_root;
    let has = |kind: &str| any || kinds.iter().any(|known| known == kind);
    let mut all = Vec::new();
    if let Some(format) = flat.get("format").and_then(Value::as_str).filter(|_| has("string")) {
        let rare = formats::rare(format).iter().map(|text| ("a rare value of its format", json!(text)));
        all.extend(rare);
    }
    if has("string") {
        let most = flat.get("maxLength").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
        let short = |text: String| match most {
            Some(most) if text == texts::MANY => text.chars().take(most).collect(),
            _ => text,
        };
        all.extend(texts::hostile().into_iter().map(|(what, text)| (what, Value::String(short(text)))));
    }
    if has("integer") || has("number") {
        if says_how_long(name) {
            return all;
        }
        let whole = [0, -1, i64::MAX, i64::MIN, (1 << 53) - 1, 1 << 53, i64::from(i32::MAX) + 1, i64::from(i32::MIN)];
        all.extend(whole.map(|number| ("a number at a limit", json!(number))));
        all.push(("a number at a limit", json!(u64::MAX)));
    }
    if has("number") {
        all.extend(
            [f64::MAX, f64::MIN_POSITIVE, 5e-324, -0.0, 1e21, 0.1 + 0.2]
                .map(|number| ("a number at a limit", json!(number))),
        );
    }
    if let (true, Value::Array(items)) = (has("array"), value)
        && let Some(item) = items.first()
    {
        all.push(("an empty array", json!([])));
        all.push(("an array of 1,000 items", std::iter::repeat_n(item, 1_000).cloned().collect()));
    }
    if has("object") && !is_root && flat.get("additionalProperties") != Some(&Value::Bool(false)) {
        let nested = (0..LEVELS).fold(json!({}), |inner, _| json!({ "a": inner }));
        all.push(("a deeply nested object", nested));
        all.push(("the key __proto__", json!({ "__proto__": { "a": 1 }, "constructor": { "prototype": {} } })));
        all.push((
            "an object of 1,000 fields",
            (0..1_000).map(|index| (format!("k{index}"), json!(index))).collect::<Map<_, _>>().into(),
        ));
    }
    if any {
        all.push(("null", Value::Null));
        all.push(("a deeply nested array", (0..LEVELS).fold(json!([]), |inner, _| json!([inner]))));
    }
    all
}
