//! Parses TOML, with the position of every node, into the same tree as suites.

use std::{borrow::Cow, ops::Range};

use serde_json::{Number, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::suite::{
    diagnostic::Problems,
    yaml::{At, Position, Text, Tree, Yaml},
};

/// Parses a file; syntax errors are added to `problems`.
pub fn parse(text: &str, problems: &mut Problems) -> Option<Tree> {
    let source = Source::new(text);
    match DeTable::parse(text) {
        Ok(table) => {
            let at = Position { line: 1, column: 1, length: 1 };
            Some(At { at, value: Yaml::Map(members(&source, table.get_ref(), problems)) })
        }
        Err(error) => {
            problems.add(source.position(error.span().unwrap_or(0..1)), error.message().replace('\n', "; "));
            None
        }
    }
}

/// The line that sets a value at a path of keys.
pub fn line(keys: &[&str], value: &Value) -> String {
    let keys: Vec<Cow<str>> = keys.iter().map(|key| as_key(key)).collect();
    format!("{} = {}", keys.join("."), inline(value))
}

/// A JSON value on one line of TOML, which has no null.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{} = {}", as_key(name), inline(value));
            format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::String(text) => toml::Value::from(text.as_str()).to_string(),
        Value::Null => "\"\"".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn as_key(name: &str) -> Cow<'_, str> {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(is_bare) { name.into() } else { toml::Value::from(name).to_string().into() }
}

fn members(source: &Source, table: &DeTable, problems: &mut Problems) -> Vec<(At<Text>, Tree)> {
    // The parser sorts tables by name; this restores their order in the file.
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    let member = |(key, value): (&Spanned<Cow<str>>, &Spanned<DeValue>)| {
        let name = At { at: source.position(key.span()), value: Text::Owned(key.get_ref().to_string()) };
        (name, tree(source, value, problems))
    };
    members.into_iter().map(member).collect()
}

fn tree(source: &Source, value: &Spanned<DeValue>, problems: &mut Problems) -> Tree {
    let at = source.position(value.span());
    let number = |number: Option<Number>| number.map(Yaml::Number);
    let read = match value.get_ref() {
        DeValue::String(text) => Some(Yaml::String(text.to_string().into())),
        DeValue::Boolean(bool) => Some(Yaml::Bool(*bool)),
        DeValue::Integer(integer) => {
            number(i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(Number::from))
        }
        DeValue::Float(float) => number(float.as_str().parse().ok().and_then(Number::from_f64)),
        DeValue::Array(items) => Some(Yaml::List(items.iter().map(|item| tree(source, item, problems)).collect())),
        DeValue::Table(table) => Some(Yaml::Map(members(source, table, problems))),
        DeValue::Datetime(_) => None,
    };
    let value = read.unwrap_or_else(|| {
        problems.add(at, "this value cannot be represented in JSON");
        Yaml::Null
    });
    At { at, value }
}

/// The text, and the offsets of its lines: a file with many targets has many positions.
struct Source<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Source<'t> {
    fn new(text: &'t str) -> Self {
        let starts = [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    fn position(&self, span: Range<usize>) -> Position {
        let line = self.starts.partition_point(|start| *start <= span.start);
        let before = self.text.get(self.starts[line - 1]..span.start).unwrap_or_default();
        let spanned = self.text.get(span).and_then(|spanned| spanned.lines().next()).unwrap_or_default();
        Position { line, column: before.chars().count() + 1, length: spanned.chars().count().max(1) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn nodes_keep_value_order_and_position() {
        let text = "[b]\n\"é\" = \"x\"\n  [b.a]\n  n = -5\n  f = 1.5\n  l = [true, { z = 1, y = 2 }]\n";
        let mut problems = Problems::new("x.toml", text);
        let tree = parse(text, &mut problems).expect("it is good");
        let expected = json!({ "b": { "é": "x", "a": { "n": -5, "f": 1.5, "l": [true, { "z": 1, "y": 2 }] } } });
        assert_eq!(Value::from(&tree), expected);
        let Yaml::Map(members) = &tree.value else { panic!("a table") };
        let Yaml::Map(inner) = &members[0].1.value else { panic!("a table") };
        assert_eq!(inner[0].0.at, Position { line: 2, column: 1, length: 3 });
        assert_eq!(inner[0].1.at, Position { line: 2, column: 7, length: 3 });
    }

    #[test]
    fn what_is_no_toml_is_noted_with_its_place() {
        let mut problems = Problems::new("x.toml", "a = 1\nb = = 2\n");
        assert_eq!(parse("a = 1\nb = = 2\n", &mut problems), None);
        assert_eq!(problems.into_diagnostics()[0].line, 2);
    }
}
