//! Numbers that a schema allows.

use serde_json::{Map, Number, Value, json};

/// Whole numbers beyond this are not exact in every language.
pub const EXACT: i64 = (1 << 53) - 1;

/// `duration`, `delay_ms`, `sleepSeconds`: a larger number takes longer, as it should.
pub fn says_how_long(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let units = ["ms", "millis", "milliseconds", "seconds", "secs", "minutes"];
    ["duration", "delay", "sleep", "wait", "timeout", "interval"].iter().any(|word| name.contains(word))
        || units.iter().any(|unit| name == *unit || name.ends_with(&format!("_{unit}")))
}

/// Whole numbers that a schema allows, unless there are none.
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

/// Numbers that a schema allows; exclusive bounds of draft 4 are flags.
pub fn bounds(flat: &Map<String, Value>) -> (f64, f64) {
    let given = |keyword: &str| flat.get(keyword).and_then(Value::as_f64);
    let low = given("minimum").unwrap_or(f64::NEG_INFINITY).max(given("exclusiveMinimum").unwrap_or(f64::NEG_INFINITY));
    let high = given("maximum").unwrap_or(f64::INFINITY).min(given("exclusiveMaximum").unwrap_or(f64::INFINITY));
    (low, high)
}

/// A number as JSON writes it, whole ones without a point.
pub fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and exact in a double")]
    if value.fract() == 0.0 && value.abs() < 9.0e15 { json!(value as i64) } else { json!(value) }
}

/// The value with all numbers as small as possible.
pub fn small(value: &Value) -> Value {
    with_numbers(
        value,
        |number| if number.as_f64().is_some_and(|number| number.abs() > 1.0) { json!(1) } else { json!(number) },
    )
}

/// The value with each number slightly smaller.
pub fn nearer(value: &Value) -> Value {
    with_numbers(value, |given| match (given.as_i64(), given.as_f64()) {
        (Some(whole), _) if whole.unsigned_abs() > 1 => json!(whole - whole.signum()),
        (None, Some(other)) => number(other * 0.99),
        _ => json!(given),
    })
}

/// The value with a quarter of each number. A call whose time grows with the square root of a number still takes half
/// as long.
pub fn quarter(value: &Value) -> Value {
    with_numbers(value, |given| match (given.as_i64(), given.as_f64()) {
        (Some(whole), _) => json!(whole / 4),
        (None, Some(other)) => number(other / 4.0),
        _ => json!(given),
    })
}

fn with_numbers(value: &Value, change: fn(&Number) -> Value) -> Value {
    match value {
        Value::Number(number) => change(number),
        Value::Array(items) => items.iter().map(|item| with_numbers(item, change)).collect(),
        Value::Object(members) => {
            let changed = members.iter().map(|(name, value)| (name.clone(), with_numbers(value, change)));
            changed.collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}
