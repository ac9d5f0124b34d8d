//! Numbers next to a bound.

use serde_json::{Map, Value, json};

use super::Made;
use crate::values::numbers::number;

/// The largest bound from which one can be subtracted exactly.
const EXACT: f64 = 9.0e15;

pub fn numbers(part: &Map<String, Value>, value: &Value, all: &mut Made) {
    let bound = |keyword: &str| part.get(keyword).and_then(Value::as_f64).filter(|bound| bound.abs() < EXACT);
    for (keyword, exclusive, step) in [("minimum", "exclusiveMinimum", -1.0), ("maximum", "exclusiveMaximum", 1.0)] {
        if let Some(bound) = bound(keyword) {
            all.add(keyword, "one beyond the bound", number(bound + step));
            all.add(keyword, "just beyond the bound", number(bound + step / 100.0));
            all.add(keyword, "far beyond the bound", number(bound + step * 1_000_000.0));
        }
        if let Some(bound) = bound(exclusive) {
            all.add(exclusive, "the bound itself", number(bound));
            all.add(exclusive, "one beyond the bound", number(bound + step));
        }
    }
    if let Some(step) = bound("multipleOf").filter(|step| *step > 0.0) {
        let here = (value.as_f64().unwrap_or_default() / step).round() * step;
        for (kind, parts) in [("between two multiples", 2.0), ("near a multiple", 10.0)] {
            for sign in [1.0, -1.0] {
                all.add("multipleOf", kind, number(here + sign * step / parts));
            }
        }
        if step.fract() == 0.0 && step > 1.0 {
            all.add("multipleOf", "one next to a multiple", number(here + 1.0));
            all.add("multipleOf", "one next to a multiple", number(here - 1.0));
        }
        all.add("multipleOf", "between two multiples", json!(here + step * 0.5));
    }
}
