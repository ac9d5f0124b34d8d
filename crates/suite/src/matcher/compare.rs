//! Equality of JSON values, and a description of where two differ.
//!
//! Numbers are equal by value (`1` and `1.0`), strings byte by byte, objects whatever the order of their fields.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use super::{Mismatch, Unmet, show};
use crate::path::{Node, push_token};

pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => order(a, b).is_eq(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => a.len() == b.len() && in_pairs(a, b).all(|(_, a, b)| equals_some(a, b)),
        (a, b) => a == b,
    }
}

pub(super) fn equal_ignoring(a: &Value, b: &Value, ignoring: &[String]) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) if !ignoring.is_empty() => {
            let counts = |name: &str| !ignoring.iter().any(|ignored| ignored == name);
            in_pairs(a, b).all(|(name, a, b)| !counts(name) || equals_some(a, b))
                && b.keys().all(|name| !counts(name) || a.contains_key(name))
        }
        (a, b) => equal(a, b),
    }
}

fn equals_some(a: &Value, b: Option<&Value>) -> bool {
    b.is_some_and(|b| equal(a, b))
}

/// Pairs the fields of two objects. They usually have the same order, which is checked first because it is fast.
fn in_pairs<'v>(
    ones: &'v Map<String, Value>,
    others: &'v Map<String, Value>,
) -> impl Iterator<Item = (&'v str, &'v Value, Option<&'v Value>)> {
    let mut same_place = others.iter();
    ones.iter().map(move |(name, one)| {
        let other = same_place.next().filter(|(other, _)| *other == name);
        (name.as_str(), one, other.map(|(_, other)| other).or_else(|| others.get(name)))
    })
}

pub(super) fn equals(node: &Node<'_>, to: &Value, ignoring: &[String]) -> Option<Mismatch> {
    let mut pointer = String::new();
    let difference = first_difference(node.value, to, ignoring, &mut pointer)?;
    let said = difference.to_string();
    let message = if pointer.is_empty() { said } else { format!("differs at {pointer}, which {said}") };
    let shows_more = matches!(to, Value::Object(_) | Value::Array(_) | Value::String(_));
    let values = shows_more.then(|| (node.value.clone(), to.clone()));
    Some(Mismatch { location: format!("{}{pointer}", node.location), unmet: Unmet::Different(message, values) })
}

pub(super) fn differs(node: &Node<'_>, to: &Value, ignoring: &[String]) -> Option<Mismatch> {
    equal_ignoring(node.value, to, ignoring)
        .then(|| Mismatch::new(&node.location, format!("must not be {}", show::value(node.value))))
}

pub(super) fn one_of(node: &Node<'_>, options: &Value) -> Option<Mismatch> {
    let Value::Array(options) = options else {
        let message = format!("cannot be compared: {} is not a list of options", show::described(options));
        return Some(Mismatch::new(&node.location, message));
    };
    if options.iter().any(|option| equal(node.value, option)) {
        return None;
    }
    let unmet = Unmet::NotOneOf { received: node.value.clone(), options: options.clone() };
    Some(Mismatch { location: node.location.clone(), unmet })
}

/// Compares by value, exactly: integers are never rounded.
pub(super) fn order(a: &Number, b: &Number) -> Ordering {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
    }
}

/// The number as an integer, if it is one. An `i128` holds every integer that a JSON number holds here.
pub(super) fn integer(number: &Number) -> Option<i128> {
    if let Some(integer) = number.as_i128() {
        return Some(integer);
    }
    let float = number.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "it was just seen to be integral and in range")]
    (float.fract() == 0.0 && float.abs() < 1e38).then_some(float as i128)
}

enum Difference<'v> {
    Value { received: &'v Value, expected: &'v Value },
    Missing { expected: &'v Value },
    Surplus { received: &'v Value },
    Length { received: usize, expected: usize },
}

impl std::fmt::Display for Difference<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value { received, expected } => {
                let types_differ = std::mem::discriminant(*received) != std::mem::discriminant(*expected);
                if types_differ {
                    return write!(f, "is {}, expected {}", show::described(received), show::described(expected));
                }
                let (received, expected) = show::differing(&received.to_string(), &expected.to_string());
                write!(f, "is {received}, expected {expected}")
            }
            Self::Missing { expected } => write!(f, "is missing, expected {}", show::value(expected)),
            Self::Surplus { received } => write!(f, "is {}, expected nothing", show::value(received)),
            Self::Length { received, expected } => {
                let items = if *received == 1 { "item" } else { "items" };
                write!(f, "has {received} {items}, expected {expected}")
            }
        }
    }
}

/// The first difference; `pointer` then has its location. At the top level, fields named in `ignoring` are skipped.
fn first_difference<'v>(
    received: &'v Value,
    expected: &'v Value,
    ignoring: &[String],
    pointer: &mut String,
) -> Option<Difference<'v>> {
    match (received, expected) {
        (Value::Number(a), Value::Number(b)) if order(a, b).is_eq() => None,
        (Value::Array(a), Value::Array(b)) => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                let length = pointer.len();
                push_token(pointer, &at.to_string());
                if let Some(difference) = first_difference(a, b, &[], pointer) {
                    return Some(difference);
                }
                pointer.truncate(length);
            }
            (a.len() != b.len()).then_some(Difference::Length { received: a.len(), expected: b.len() })
        }
        (Value::Object(a), Value::Object(b)) => members(a, b, ignoring, pointer),
        (a, b) => (a != b).then_some(Difference::Value { received, expected }),
    }
}

fn members<'v>(
    received: &'v Map<String, Value>,
    expected: &'v Map<String, Value>,
    ignoring: &[String],
    pointer: &mut String,
) -> Option<Difference<'v>> {
    let counts = |name: &String| !ignoring.contains(name);
    for (name, expected) in expected.iter().filter(|(name, _)| counts(name)) {
        let length = pointer.len();
        push_token(pointer, name);
        let difference = match received.get(name) {
            Some(received) => first_difference(received, expected, &[], pointer),
            None => Some(Difference::Missing { expected }),
        };
        if difference.is_some() {
            return difference;
        }
        pointer.truncate(length);
    }
    let (name, received) = received.iter().find(|(name, _)| counts(name) && !expected.contains_key(*name))?;
    push_token(pointer, name);
    Some(Difference::Surplus { received })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn two_values_are_equal_where_no_difference_can_be_named() {
        let values = json!([
            null, 1, 1.0, 1.5, "1", [], [1], [1, 2], {}, { "a": 1 }, { "b": 1 }, { "a": 1, "b": [2] },
            { "b": [2.0], "a": 1.0 }, { "a": 1, "b": [3] }, { "a": { "a": 1, "b": 2 } }, { "a": { "b": 2, "a": 1 } },
            { "a": 1, "b": [2], "c": 3 }, { "c": 4, "b": [2], "a": 1 }
        ]);
        let values = values.as_array().expect("they are listed");
        for (a, b) in values.iter().flat_map(|a| values.iter().map(move |b| (a, b))) {
            for ignoring in [&[][..], &["a".to_owned()], &["b".to_owned(), "c".to_owned()]] {
                let named = first_difference(a, b, ignoring, &mut String::new());
                assert_eq!(equal_ignoring(a, b, ignoring), named.is_none(), "{a} {b} {ignoring:?}");
            }
        }
    }
}
