//! Values at the bounds of a schema.

use serde_json::{Map, Value, json};

use super::{
    numbers::{EXACT, bounds, number, says_how_long, whole_bounds},
    schema::{DEEPEST, kinds},
    texts,
    valid::Maker,
};

/// Larger bounds are not tried: a text of this length is hostile.
const LARGEST: u64 = 10_000;

/// A value at a bound.
pub struct Bound {
    pub keyword: &'static str,
    pub value: Value,
    /// A value inside the bound that is not near any bound.
    pub inside: Option<Value>,
}

/// Whether the bound comes from a type such as `u8` or `int32`, which schema generators write as `format`.
fn is_of_machine(flat: &Map<String, Value>, bound: i64) -> bool {
    let Some(format) = flat.get("format").and_then(Value::as_str) else { return false };
    let unsigned = format.starts_with("uint");
    let of_bits = |bits: i64| [(1 << bits) - 1, (1 << (bits - 1)) - 1, -(1 << (bits - 1))].contains(&bound);
    (unsigned && bound == 0) || ((unsigned || format.starts_with("int")) && [8, 16, 32].into_iter().any(of_bits))
}

impl Maker<'_> {
    /// Values at the bounds of a schema, each with the keyword that sets the bound, and the next value on the inner
    /// side.
    pub fn bounds(&mut self, flat: &Map<String, Value>, name: &str) -> Vec<Bound> {
        let mut found = Vec::new();
        let mut at =
            |keyword: &'static str, value: Value, inside: Option<Value>| found.push(Bound { keyword, value, inside });
        for option in flat.get("enum").and_then(Value::as_array).into_iter().flatten().take(20) {
            at("enum", option.clone(), None);
        }
        if let Some(only) = flat.get("const") {
            at("const", only.clone(), None);
        }
        for example in flat.get("examples").and_then(Value::as_array).into_iter().flatten().take(5) {
            at("examples", example.clone(), None);
        }
        if let Some(usual) = flat.get("default") {
            at("default", usual.clone(), None);
        }
        if flat.contains_key("enum") || flat.contains_key("const") {
            return found;
        }
        let kinds = kinds(flat);
        let has = |kind: &str| kinds.iter().any(|known| known == kind);
        if has("boolean") {
            at("type", json!(true), None);
            at("type", json!(false), None);
        }
        if has("null") {
            at("type", Value::Null, None);
        }
        let timed = says_how_long(name);
        if has("integer")
            && let Some((low, high)) = whole_bounds(flat)
        {
            let limited = |value: i64| value > -EXACT && value < EXACT;
            // The limits of a type are not bounds that the author has set.
            let set = |bound: i64| low < high && !is_of_machine(flat, bound);
            if limited(low) {
                at("minimum", json!(low), set(low).then(|| json!(low + 1)));
            }
            if limited(high) && !timed {
                at("maximum", json!(high), set(high).then(|| json!(high - 1)));
            }
            for value in [0, 1, -1].into_iter().filter(|value| (low..=high).contains(value) && !timed) {
                at("type", json!(value), None);
            }
        } else if has("number") {
            let (low, high) = bounds(flat);
            let middle = |a: f64, b: f64| number(a + (b.clamp(-1e9, 1e9) - a) / 64.0);
            if low.is_finite() && !flat.contains_key("exclusiveMinimum") {
                at("minimum", number(low), (low < high).then(|| middle(low, high)));
            }
            if high.is_finite() && !timed && !flat.contains_key("exclusiveMaximum") {
                at("maximum", number(high), (low < high).then(|| middle(high, low)));
            }
            for value in [0.0, 0.5, -1.5].into_iter().filter(|value| low <= *value && *value <= high && !timed) {
                at("type", number(value), None);
            }
        }
        if has("string") && !flat.contains_key("format") && !flat.contains_key("pattern") {
            let bound = |keyword: &str| flat.get(keyword).and_then(Value::as_u64);
            let text = |length: u64| json!(texts::of_length(usize::try_from(length).unwrap_or_default()));
            if let Some(least) = bound("minLength").filter(|least| *least > 0 && *least <= LARGEST) {
                at("minLength", text(least), Some(text(least + 1)));
            }
            if let Some(most) = bound("maxLength").filter(|most| *most > 0 && *most <= LARGEST) {
                at("maxLength", text(most), Some(text(most - 1)));
            }
        }
        if has("array") {
            let bound = |keyword: &str| flat.get(keyword).and_then(Value::as_u64).filter(|bound| *bound <= 200);
            for (keyword, inner) in [("minItems", 1_i64), ("maxItems", -1)] {
                if let Some(length) = bound(keyword)
                    && let Some(value) = self.of_items(flat, length)
                {
                    let inside = length.checked_add_signed(inner).and_then(|length| self.of_items(flat, length));
                    found.push(Bound { keyword, value, inside });
                }
            }
        }
        found
    }

    /// An array of exactly so many items.
    fn of_items(&mut self, flat: &Map<String, Value>, length: u64) -> Option<Value> {
        let mut exact = flat.clone();
        exact.insert("minItems".into(), json!(length));
        exact.insert("maxItems".into(), json!(length));
        self.array(&exact, "", DEEPEST)
    }
}
