//! Makes arguments smaller as long as they fail in the same way.
//!
//! The JSON itself is shrunk by delta debugging: parts are removed, then values become simpler, then texts shorter.
//! Integrated shrinking, as in Hypothesis and proptest, shrinks the choices of a generator, and so keeps values valid
//! without a check. But a failing call that is stored, typed by a user or taken from `examples` of a schema has no such
//! choices. Here each smaller value is validated before it is sent. That costs microseconds, while a call costs
//! milliseconds. A test that waits for a server cannot be a closure of proptest either, because that is synchronous.

use serde_json::{Map, Value, json};

/// A longer text is halved before its characters are removed one by one.
const LONG: usize = 64;

/// Simpler values, the simplest first.
pub fn simpler(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Object(members) => {
            if members.len() > 8 {
                for half in halves(&members.iter().collect::<Vec<_>>()) {
                    all.push(
                        half.into_iter()
                            .map(|(name, value)| (name.clone(), value.clone()))
                            .collect::<Map<_, _>>()
                            .into(),
                    );
                }
            }
            for name in members.keys().take(100) {
                let mut fewer = members.clone();
                fewer.shift_remove(name);
                all.push(fewer.into());
            }
            for (name, inner) in members.iter().take(100) {
                all.extend(simpler(inner).into_iter().map(|inner| {
                    let mut simpler = members.clone();
                    simpler.insert(name.clone(), inner);
                    Value::from(simpler)
                }));
            }
        }
        Value::Array(items) => {
            if !items.is_empty() {
                all.push(json!([]));
            }
            if items.len() > 3 {
                all.extend(halves(items).into_iter().map(Value::from));
            }
            for index in 0..items.len().min(100) {
                let mut fewer = items.clone();
                fewer.remove(index);
                all.push(fewer.into());
            }
            for (index, inner) in items.iter().enumerate().take(20) {
                all.extend(simpler(inner).into_iter().map(|inner| {
                    let mut simpler = items.clone();
                    simpler[index] = inner;
                    Value::from(simpler)
                }));
            }
        }
        Value::String(text) => all.extend(shorter(text).into_iter().map(Value::from)),
        Value::Number(number) => {
            let small = [0, 1, -1].map(|number| json!(number));
            let value = number.as_f64().unwrap_or_default();
            all.extend(small.into_iter().filter(|small| small.as_f64().is_some_and(|small| small.abs() < value.abs())));
            if let Some(whole) = number.as_i64().filter(|whole| whole.unsigned_abs() > 2) {
                all.extend([json!(whole / 2), json!(whole - whole.signum())]);
            } else if value.fract() != 0.0 {
                all.push(super::numbers::number(value.trunc()));
            }
        }
        Value::Bool(true) => all.push(json!(false)),
        _ => {}
    }
    all
}

fn halves<T: Clone>(items: &[T]) -> [Vec<T>; 2] {
    let (first, second) = items.split_at(items.len() / 2);
    [first.to_vec(), second.to_vec()]
}

fn shorter(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut all = Vec::new();
    if chars.is_empty() {
        return all;
    }
    all.extend(["", "a"].map(str::to_owned));
    if chars.len() > 1 {
        all.extend(halves(&chars).map(|half| half.into_iter().collect()));
        let quarter = (chars.len() / 4).max(1);
        all.push(chars[quarter..].iter().collect());
        all.push(chars[..chars.len() - quarter].iter().collect());
    }
    if chars.len() <= LONG {
        for index in 0..chars.len() {
            all.push(chars.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, c)| *c).collect());
        }
        for index in (0..chars.len()).filter(|index| chars[*index] != 'a') {
            all.push(chars.iter().enumerate().map(|(at, c)| if at == index { 'a' } else { *c }).collect());
        }
    } else if chars.iter().any(|c| *c != 'a') {
        all.push("a".repeat(chars.len()));
    }
    all.retain(|other| other != text && size(&json!(other)) < size(&json!(text)));
    all
}

/// The size of a value: its length, then how unusual its characters are.
fn size(value: &Value) -> (usize, usize) {
    let text = value.to_string();
    (text.chars().count(), text.chars().filter(|c| *c != 'a').map(|c| 1 + c as usize).sum())
}
