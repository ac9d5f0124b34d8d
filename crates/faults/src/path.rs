//! Paths to values of a message.

use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};

use super::select::matches;

/// A JSON Pointer in which `*` stands for any text in a name, `**` for any depth, and `name=text` for what has a field
/// `name` of that value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path(Vec<String>);

impl<'de> Deserialize<'de> for Path {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let Some(rest) = text.strip_prefix('/') else {
            return if text.is_empty() {
                Ok(Self(Vec::new()))
            } else {
                Err(de::Error::custom(format!("`{text}` is not a path: it does not begin with `/`")))
            };
        };
        Ok(Self(rest.split('/').map(|token| token.replace("~1", "/").replace("~0", "~")).collect()))
    }
}

impl Path {
    /// Visits the values at the path, from the innermost.
    pub fn visit(&self, value: &mut Value, work: &mut dyn FnMut(&mut Value)) {
        visit(value, &self.0, work);
    }

    /// Sets a field of the objects that the path without its last name leads to.
    pub fn add(&self, value: &mut Value, new: &Value) {
        let Some((last, parents)) = self.0.split_last() else { return };
        visit(value, parents, &mut |parent| {
            if let Value::Object(fields) = parent {
                fields.insert(last.clone(), new.clone());
            }
        });
    }

    pub fn remove(&self, value: &mut Value) {
        let Some((last, parents)) = self.0.split_last() else { return };
        visit(value, parents, &mut |parent| match parent {
            Value::Object(fields) => fields.retain(|name, field| !fits(last, name, field)),
            Value::Array(items) => {
                let mut at = 0..;
                items.retain(|item| !fits(last, &at.next().unwrap_or(0).to_string(), item));
            }
            _ => {}
        });
    }

    /// Sets the value at the path. Objects on the way are created.
    pub fn set(&self, value: &mut Value, new: &Value) {
        set(value, &self.0, new);
    }
}

fn visit(value: &mut Value, path: &[String], work: &mut dyn FnMut(&mut Value)) {
    let Some((first, rest)) = path.split_first() else { return work(value) };
    if first == "**" {
        each(value, "*", &mut |child| visit(child, path, work));
        return visit(value, rest, work);
    }
    each(value, first, &mut |child| visit(child, rest, work));
}

fn set(value: &mut Value, path: &[String], new: &Value) {
    let Some((first, rest)) = path.split_first() else { return value.clone_from(new) };
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(fields) if !is_pattern(first) => {
            set(fields.entry(first.clone()).or_insert(Value::Null), rest, new);
        }
        value => each(value, first, &mut |child| set(child, rest, new)),
    }
}

/// Calls a function for the fields or elements that a token stands for.
fn each(value: &mut Value, token: &str, work: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Object(fields) => {
            fields.iter_mut().filter(|(name, field)| fits(token, name, field)).for_each(|(_, field)| work(field));
        }
        Value::Array(items) => {
            let fitting = items.iter_mut().enumerate().filter(|(at, item)| fits(token, &at.to_string(), item));
            fitting.for_each(|(_, item)| work(item));
        }
        _ => {}
    }
}

fn is_pattern(token: &str) -> bool {
    token.contains(['*', '='])
}

fn fits(token: &str, name: &str, value: &Value) -> bool {
    let has = |(field, text): (&str, &str)| value.get(field).is_some_and(|found| found == text);
    matches(token, name) || token.split_once('=').is_some_and(has)
}
