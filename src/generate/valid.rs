//! Values that a schema allows: at its bounds first, then random ones.

use std::collections::HashMap;

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::{
    schema::{DEEPEST, Root, kinds},
    texts,
};

/// Values of results, by the names of their fields: arguments of the same names may refer to the same things.
pub type Pool = HashMap<String, Vec<Value>>;

/// Maximum number of additional items of an array, and of optional fields, in one value.
const FEW: usize = 3;
/// Larger bounds are not tested: a string of that length would be hostile.
const LARGEST: u64 = 10_000;
/// Maximum number of generated parts of one value, whether they fit or not.
const MOST_MADE: usize = 2_000;
/// Larger integers are not exact in every language.
const EXACT: i64 = (1 << 53) - 1;

/// How many optional fields are filled in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// Only required fields.
    Least,
    Some,
    All,
}

/// Generates values from a schema.
pub struct Maker<'a> {
    pub root: Root<'a>,
    pub rng: &'a mut Rng,
    pub pool: &'a Pool,
    pub fill: Fill,
    left: usize,
}

impl<'a> Maker<'a> {
    pub fn new(root: Root<'a>, rng: &'a mut Rng, pool: &'a Pool, fill: Fill) -> Self {
        Self { root, rng, pool, fill, left: MOST_MADE }
    }

    pub fn value(&mut self, schema: &Value) -> Option<Value> {
        let flat = self.root.flat(schema);
        self.of(flat, "", DEEPEST)
    }

    fn of(&mut self, mut flat: Map<String, Value>, name: &str, depth: usize) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        for _ in 0..DEEPEST {
            let branches = self.root.alternatives(&flat);
            if branches.is_empty() {
                break;
            }
            // Deeper levels prefer the first alternative, which is usually the plain one.
            let chosen = if depth < DEEPEST / 2 { 0 } else { self.rng.usize(..branches.len()) };
            flat = branches.into_iter().nth(chosen)?;
        }
        if let Some(only) = flat.get("const") {
            return Some(only.clone());
        }
        if let Some(options) = flat.get("enum").and_then(Value::as_array) {
            let fitting: Vec<&Value> =
                options.iter().filter(|option| super::schema::looks_like(&flat, option)).collect();
            return (!fitting.is_empty()).then(|| fitting[self.rng.usize(..fitting.len())].clone());
        }
        if let Some(known) = self.known(&flat, name) {
            return Some(known);
        }
        let kinds = kinds(&flat);
        let usual: Vec<&String> = kinds.iter().filter(|kind| *kind != "null").collect();
        match usual.get(self.rng.usize(..usual.len().max(1))).map_or("string", |kind| kind.as_str()) {
            _ if kinds.len() == 1 && kinds[0] == "null" => Some(Value::Null),
            "object" => self.object(&flat, depth),
            "array" => self.array(&flat, name, depth),
            "integer" => self.integer(&flat, name),
            "number" => self.number(&flat, name),
            "boolean" => Some(json!(self.rng.bool())),
            "string" => self.text(&flat).map(Value::String),
            _ => None,
        }
    }

    /// A value in the schema itself, or in a result under this name.
    fn known(&mut self, flat: &Map<String, Value>, name: &str) -> Option<Value> {
        if self.rng.u8(..4) == 0 {
            let examples = flat.get("examples").and_then(Value::as_array).into_iter().flatten();
            let seeds: Vec<&Value> = examples.chain(flat.get("default")).filter(|seed| !seed.is_null()).collect();
            if !seeds.is_empty() {
                return Some(seeds[self.rng.usize(..seeds.len())].clone());
            }
        }
        let pooled = self.pool.get(&name.to_ascii_lowercase()).filter(|_| self.rng.bool())?;
        let fitting: Vec<&Value> = pooled.iter().filter(|value| super::schema::looks_like(flat, value)).collect();
        (!fitting.is_empty()).then(|| fitting[self.rng.usize(..fitting.len())].clone())
    }

    fn object(&mut self, flat: &Map<String, Value>, depth: usize) -> Option<Value> {
        let empty = Map::new();
        let parts = flat.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required: Vec<&str> =
            flat.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let mut made = Map::new();
        let chosen = |rng: &mut Rng, fill: Fill, depth: usize| match fill {
            Fill::Least => false,
            Fill::All => depth > DEEPEST / 2,
            Fill::Some => depth > DEEPEST / 3 && rng.bool(),
        };
        for (name, part) in parts {
            let needed = required.contains(&name.as_str());
            if !needed && !chosen(self.rng, self.fill, depth) {
                continue;
            }
            let part = self.root.flat(part);
            match self.of(part, name, depth) {
                Some(value) => drop(made.insert(name.clone(), value)),
                None if needed => return None,
                None => {}
            }
        }
        let other = flat.get("additionalProperties").filter(|other| other.is_object()).cloned();
        for name in required.iter().filter(|name| !parts.contains_key(**name)) {
            let part = self.root.flat(other.as_ref().unwrap_or(&Value::Null));
            made.insert((*name).to_owned(), self.of(part, name, depth)?);
        }
        self.dependents(flat, parts, &mut made, depth);
        let least = flat.get("minProperties").and_then(Value::as_u64).unwrap_or_default();
        let least = usize::try_from(least).ok()?.max(usize::from(other.is_some() && self.fill == Fill::All));
        if least > made.len() {
            for (name, part) in parts {
                if made.len() >= least {
                    break;
                }
                if !made.contains_key(name)
                    && let Some(value) = self.of(self.root.flat(part), name, depth)
                {
                    made.insert(name.clone(), value);
                }
            }
        }
        if flat.get("additionalProperties") != Some(&Value::Bool(false)) {
            let names = flat.get("propertyNames").map(|names| self.root.flat(names));
            for _ in 0..least.min(100) {
                if made.len() >= least {
                    break;
                }
                let name = match &names {
                    Some(names) => self.of(names.clone(), "", depth)?.as_str()?.to_owned(),
                    None => self.pattern_name(flat).unwrap_or_else(|| format!("key{}", made.len())),
                };
                let part = self.root.flat(other.as_ref().unwrap_or(&Value::Null));
                made.insert(name, self.of(part, "", depth)?);
            }
        }
        Some(made.into())
    }

    fn pattern_name(&mut self, flat: &Map<String, Value>) -> Option<String> {
        let pattern = flat.get("patternProperties")?.as_object()?.keys().next()?;
        texts::of_pattern(self.rng, pattern)
    }

    /// Adds fields that other fields require.
    fn dependents(
        &mut self,
        flat: &Map<String, Value>,
        parts: &Map<String, Value>,
        made: &mut Map<String, Value>,
        depth: usize,
    ) {
        for keyword in ["dependentRequired", "dependencies"] {
            let dependent = flat.get(keyword).and_then(Value::as_object).into_iter().flatten();
            for (name, needed) in dependent.filter(|(_, needed)| needed.is_array()) {
                if !made.contains_key(name) {
                    continue;
                }
                for needed in needed.as_array().into_iter().flatten().filter_map(Value::as_str) {
                    let part = parts.get(needed).map(|part| self.root.flat(part)).unwrap_or_default();
                    if !made.contains_key(needed)
                        && let Some(value) = self.of(part, needed, depth)
                    {
                        made.insert(needed.to_owned(), value);
                    }
                }
            }
        }
    }

    fn array(&mut self, flat: &Map<String, Value>, name: &str, depth: usize) -> Option<Value> {
        let bound =
            |keyword: &str| flat.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
        let least = bound("minItems").unwrap_or_default().max(usize::from(flat.contains_key("contains")));
        let most = bound("maxItems").unwrap_or(usize::MAX);
        if least > 1_000 {
            return None;
        }
        let more = match self.fill {
            Fill::Least => 0,
            Fill::Some => self.rng.usize(..=FEW),
            Fill::All => 1 + self.rng.usize(..FEW),
        };
        let more = if depth < DEEPEST / 2 { 0 } else { more };
        let tuple =
            ["prefixItems", "items"].iter().find_map(|name| flat.get(*name)?.as_array().cloned()).unwrap_or_default();
        let rest = match (flat.get("items"), flat.get("additionalItems")) {
            (Some(items), _) if !items.is_array() => items.clone(),
            (Some(_), Some(others)) => others.clone(),
            _ => Value::Null,
        };
        let most = if rest == Value::Bool(false) { most.min(tuple.len()) } else { most };
        let length = least.max(tuple.len().min(most).min(if self.fill == Fill::Least { least } else { most }));
        let length = length.max((least + more).min(most));
        let unique = flat.get("uniqueItems") == Some(&Value::Bool(true));
        let mut items = Vec::new();
        for index in 0..length {
            let part = match (tuple.get(index), index, flat.get("contains")) {
                (Some(part), ..) => part.clone(),
                (None, 0, Some(contained)) => json!({ "allOf": [contained, rest] }),
                _ => rest.clone(),
            };
            let part = self.root.flat(&part);
            let mut item = self.of(part.clone(), name, depth);
            for _ in 0..20 {
                if !unique || item.as_ref().is_none_or(|item| !items.contains(item)) {
                    break;
                }
                item = self.of(part.clone(), name, depth);
            }
            match item {
                Some(item) if !unique || !items.contains(&item) => items.push(item),
                _ if index < least => return None,
                _ => break,
            }
        }
        Some(items.into())
    }

    fn integer(&mut self, flat: &Map<String, Value>, name: &str) -> Option<Value> {
        let (low, high) = whole_bounds(flat)?;
        if says_how_long(name) {
            return Some(json!(low.max(1.min(high))));
        }
        let step = flat.get("multipleOf").and_then(Value::as_f64).filter(|step| step.fract() == 0.0 && *step >= 1.0);
        let (low, high) =
            (low.max(high.saturating_sub(1000)).min(low.max(-100)), high.min(low.max(-100).saturating_add(1000)));
        let drawn = self.rng.i64(low..=high.max(low));
        #[expect(clippy::cast_possible_truncation, reason = "whole, and small enough to be drawn from")]
        let step = step.map_or(1, |step| step as i64);
        let rounded = drawn.div_euclid(step) * step;
        Some(json!(if rounded < low { rounded + step } else { rounded }))
    }

    fn number(&mut self, flat: &Map<String, Value>, name: &str) -> Option<Value> {
        let (low, high) = bounds(flat);
        if says_how_long(name) {
            return Some(number(low.max(0.01_f64.min(high))));
        }
        if let Some(step) = flat.get("multipleOf").and_then(Value::as_f64).filter(|step| *step > 0.0) {
            let (first, last) = ((low.max(-100.0) / step).ceil(), (high.min(low.max(-100.0) + 1000.0) / step).floor());
            if first > last {
                return None;
            }
            return Some(number((first + (self.rng.f64() * (last - first)).floor()) * step));
        }
        let (low, high) = (low.max(high.min(100.0) - 1000.0), high.min(low.max(-100.0) + 1000.0));
        let drawn = low + self.rng.f64() * (high - low);
        let rounded = (drawn * 100.0).round() / 100.0;
        Some(number(if rounded > low && rounded < high { rounded } else { drawn }))
    }

    fn text(&mut self, flat: &Map<String, Value>) -> Option<String> {
        let bound =
            |keyword: &str| flat.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
        let (least, most) = (bound("minLength").unwrap_or_default(), bound("maxLength").unwrap_or(usize::MAX));
        if least > 1 << 20 {
            return None;
        }
        if let Some(pattern) = flat.get("pattern").and_then(Value::as_str) {
            let fits = |text: &String| (least..=most).contains(&text.chars().count());
            return (0..30).find_map(|_| texts::of_pattern(self.rng, pattern).filter(fits));
        }
        if let Some(format) = flat.get("format").and_then(Value::as_str)
            && let Some(text) = texts::of_format(self.rng, format)
        {
            return Some(text);
        }
        // An empty string is a bound, and tested as such.
        let least = if most == 0 { 0 } else { least.max(1) };
        Some(texts::plain(self.rng, least, most))
    }

    /// Values at the bounds of a schema, each with the keyword of the bound and a value inside the bound.
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
            if limited(low) {
                at("minimum", json!(low), (low < high).then(|| json!(low + 1)));
            }
            if limited(high) && !timed {
                at("maximum", json!(high), (low < high).then(|| json!(high - 1)));
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

    /// An array of exactly this many items.
    fn of_items(&mut self, flat: &Map<String, Value>, length: u64) -> Option<Value> {
        let mut exact = flat.clone();
        exact.insert("minItems".into(), json!(length));
        exact.insert("maxItems".into(), json!(length));
        self.array(&exact, "", DEEPEST)
    }
}

/// A value at a bound.
pub struct Bound {
    pub keyword: &'static str,
    pub value: Value,
    /// A value inside the bound, not close to another bound.
    pub inside: Option<Value>,
}

/// `duration`, `delay_ms`, `sleepSeconds`: a larger number is expected to take longer.
pub fn says_how_long(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let units = ["ms", "millis", "milliseconds", "seconds", "secs", "minutes"];
    ["duration", "delay", "sleep", "wait", "timeout", "interval"].iter().any(|word| name.contains(word))
        || units.iter().any(|unit| name == *unit || name.ends_with(&format!("_{unit}")))
}

/// Integers that a schema allows; `None` if there are none.
pub fn whole_bounds(flat: &Map<String, Value>) -> Option<(i64, i64)> {
    let (low, high) = bounds(flat);
    let inside = |bound: f64| bound.clamp(-9.0e15, 9.0e15);
    #[expect(clippy::cast_possible_truncation, reason = "clamped before")]
    let (mut low, mut high) = (inside(low).ceil() as i64, inside(high).floor() as i64);
    #[expect(clippy::cast_precision_loss, reason = "clamped before")]
    let is = |bound: i64, keyword: &str| {
        flat.get(keyword).and_then(Value::as_f64).is_some_and(|limit| (limit - bound as f64).abs() < 1e-9)
    };
    low += i64::from(is(low, "exclusiveMinimum"));
    high -= i64::from(is(high, "exclusiveMaximum"));
    let low = if low <= -9_000_000_000_000_000 { -EXACT } else { low };
    let high = if high >= 9_000_000_000_000_000 { EXACT } else { high };
    (low <= high).then_some((low, high))
}

/// Numbers that a schema allows; exclusive bounds of draft 4 are booleans.
pub fn bounds(flat: &Map<String, Value>) -> (f64, f64) {
    let given = |keyword: &str| flat.get(keyword).and_then(Value::as_f64);
    let low = given("minimum").unwrap_or(f64::NEG_INFINITY).max(given("exclusiveMinimum").unwrap_or(f64::NEG_INFINITY));
    let high = given("maximum").unwrap_or(f64::INFINITY).min(given("exclusiveMaximum").unwrap_or(f64::INFINITY));
    (low, high)
}

/// A number as JSON writes it; integers have no decimal point.
pub fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and exact in a double")]
    if value.fract() == 0.0 && value.abs() < 9.0e15 { json!(value as i64) } else { json!(value) }
}
