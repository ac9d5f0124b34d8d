//! Typed access to the arguments of a tool.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::content::tools::{Trouble, failed};

pub type Arguments = Map<String, Value>;

pub fn string<'a>(arguments: &'a Arguments, name: &str) -> Result<&'a str, Trouble> {
    let value = arguments.get(name).and_then(Value::as_str);
    value.ok_or_else(|| failed(&format!("The argument `{name}` has to be a string.")))
}

pub fn integer(arguments: &Arguments, name: &str) -> Result<i64, Trouble> {
    let value = arguments.get(name).and_then(Value::as_i64);
    value.ok_or_else(|| failed(&format!("The argument `{name}` has to be an integer.")))
}

pub fn within(arguments: &Arguments, name: &str, default: u64, range: RangeInclusive<u64>) -> Result<u64, Trouble> {
    let value = arguments.get(name).map_or(Some(default), Value::as_u64).filter(|value| range.contains(value));
    let limits = || format!("The argument `{name}` goes from {} to {}.", range.start(), range.end());
    value.ok_or_else(|| failed(&limits()))
}
