//! Values that a schema allows, drawn at random.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::{
    formats,
    numbers::{bounds, number, says_how_long, whole_bounds},
    schema::{DEEPEST, Root, kinds},
    texts,
};
use crate::pool::Pool;

/// The number of elements beyond `minItems` of an array, and of optional fields of an object.
const FEW: usize = 3;
/// Values made for one value, whether they fit or not.
const MOST_MADE: usize = 2_000;

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
        let most = flat.get("maxProperties").and_then(Value::as_u64).unwrap_or(u64::MAX);
        // Two further fields: what is wrong with the first one may be right with the second.
        let further = if other.is_some() && self.fill == Fill::All { most.min(2) } else { 0 };
        let least = usize::try_from(least.max(further)).ok()?;
        if self.fill != Fill::Least && depth > 1 {
            for (pattern, part) in flat.get("patternProperties").and_then(Value::as_object).into_iter().flatten() {
                if u64::try_from(made.len()).is_ok_and(|count| count < most)
                    && let Some(name) = texts::of_pattern(self.rng, pattern)
                    && let Some(value) = self.of(self.root.flat(part), "", depth)
                {
                    made.insert(name, value);
                }
            }
        }
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

    pub fn array(&mut self, flat: &Map<String, Value>, name: &str, depth: usize) -> Option<Value> {
        let bound =
            |keyword: &str| flat.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
        let counted = bound("minContains").unwrap_or(1);
        let counted = if flat.contains_key("contains") { counted.min(FEW) } else { 0 };
        let least = bound("minItems").unwrap_or_default().max(counted);
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
                (None, index, Some(contained)) if index < counted => json!({ "allOf": [contained, rest] }),
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
            && let Some(text) = formats::of_format(self.rng, format)
        {
            return Some(text);
        }
        // An empty string is a bound, and tested as such.
        let least = if most == 0 { 0 } else { least.max(1) };
        Some(texts::plain(self.rng, least, most))
    }
}
