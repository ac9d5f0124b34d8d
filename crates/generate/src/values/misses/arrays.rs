//! Arrays with an item too few, too many, or twice.

use serde_json::{Map, Value, json};

use super::Made;
use crate::values::invalid::NONSENSE;

pub const REPEATED: &str = "an item twice in a row";
pub const REPEATED_APART: &str = "an item twice, apart";
/// Maximum length of an array that is only too long; a longer one would be hostile.
const LARGEST: usize = 1_000;

pub fn arrays(part: &Map<String, Value>, items: &[Value], all: &mut Made) {
    let bound = |keyword: &str| part.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    if let Some(most) = bound("maxItems").filter(|most| *most < LARGEST && !items.is_empty()) {
        all.add("maxItems", "one item more", of_length(items, most + 1));
        all.add("maxItems", "one item more", items.iter().cycle().take(most + 1).cloned().collect::<Vec<_>>());
    }
    if let Some(least) = bound("minItems").filter(|least| *least > 0) {
        all.add("minItems", "one item less", items.iter().take(least - 1).cloned().collect::<Vec<_>>());
    }
    let with = |item: Value| [items, &[item]].concat();
    if ["items", "additionalItems", "unevaluatedItems"].iter().any(|name| part.get(*name) == Some(&Value::Bool(false)))
    {
        for item in [json!(NONSENSE), json!(7), Value::Null] {
            all.add("items", "one item more", with(item));
        }
    }
    if part.get("uniqueItems") == Some(&Value::Bool(true))
        && let Some(first) = items.first()
    {
        let rest = items.iter().skip(1).cloned();
        all.add(
            "uniqueItems",
            REPEATED,
            [first, first].into_iter().cloned().chain(rest.clone().skip(1)).collect::<Vec<_>>(),
        );
        let others: Vec<Value> = rest.collect();
        let between = others.first().cloned().or_else(|| unlike(first, 1));
        all.add(
            "uniqueItems",
            REPEATED_APART,
            [Some(first.clone()), between, Some(first.clone())].into_iter().flatten().collect::<Vec<_>>(),
        );
        if let Some(members) = first.as_object().filter(|members| members.len() > 1) {
            let turned: Map<_, _> = members.iter().rev().map(|(name, value)| (name.clone(), value.clone())).collect();
            all.add("uniqueItems", "an item twice, with its fields in another order", json!([first, turned]));
        }
    }
    if part.contains_key("contains") {
        all.add("contains", "an empty array", json!([]));
        for item in items.iter().take(4) {
            all.add("contains", "none that counts", vec![item.clone()]);
            for times in [2, 3, 4, 5, 6] {
                all.add("contains", "too many that count", vec![item.clone(); times]);
            }
        }
        for index in 0..items.len().min(6) {
            let fewer = items.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, item)| item.clone());
            all.add("contains", "one less that counts", fewer.collect::<Vec<_>>());
        }
        for other in [json!(0), json!(NONSENSE)] {
            all.add("contains", "none that counts", vec![other; items.len().max(1)]);
        }
    }
}

/// An array of so many items, different ones where that is possible.
pub fn of_length(items: &[Value], length: usize) -> Vec<Value> {
    let mut longer: Vec<Value> = items.iter().take(length).cloned().collect();
    for nr in items.len()..length {
        let own = &items[nr % items.len().max(1)];
        longer.push(unlike(own, nr).unwrap_or_else(|| own.clone()));
    }
    longer
}

/// A value of the same type that differs.
fn unlike(value: &Value, nr: usize) -> Option<Value> {
    match value {
        Value::String(text) => Some(json!(format!("{text}{nr}"))),
        Value::Number(number) => Some(json!(number.as_i64()? + i64::try_from(nr).ok()?)),
        Value::Object(members) => {
            let (name, inner) = members.iter().next()?;
            let mut other = members.clone();
            other.insert(name.clone(), unlike(inner, nr)?);
            Some(other.into())
        }
        Value::Bool(flag) => Some(json!(!flag)),
        _ => None,
    }
}
