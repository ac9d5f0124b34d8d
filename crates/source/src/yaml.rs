//! YAML with the position of every node.
//!
//! Suites may use a small part of YAML: one document, no anchors, no merge keys, no tags, only `true` and `false` as
//! booleans, no duplicate keys. Everything else is rejected here, so that later code need not handle it.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Number, Value};
use serde_saphyr::{DefaultMessageFormatter, Error, MergeKeyPolicy, MessageFormatter, Spanned, budget::BudgetBreach};

use super::diagnostic::Problems;

/// Lines and columns count characters, from one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
    pub length: usize,
}

/// A value and where it was typed.
#[derive(Clone, Debug, PartialEq)]
pub struct At<T> {
    pub at: Position,
    pub value: T,
}

impl At<Text> {
    pub fn owned(&self) -> At<String> {
        At { at: self.at, value: self.value.clone().into_owned() }
    }
}

pub type Tree = At<Yaml>;

/// Built-in texts are borrowed from the program.
pub type Text = Cow<'static, str>;

#[derive(Clone, Debug, PartialEq)]
pub enum Yaml {
    Null,
    Bool(bool),
    Number(Number),
    String(Text),
    List(Vec<Tree>),
    Map(Vec<(At<Text>, Tree)>),
}

impl JsonSchema for Yaml {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Anything".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}

/// The schema of the value.
impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Parses a file. Errors are added to `problems`.
pub fn parse(text: &str, problems: &mut Problems) -> Option<Tree> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        reject_unsupported_tags: true,
        merge_keys: MergeKeyPolicy::Error,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_anchors: 0, max_aliases: 0, max_documents: 1, max_depth: 50 },
    };
    match serde_saphyr::from_str_with_options::<Spanned<Yaml>>(text, options) {
        Ok(tree) => Some(tree.into()),
        Err(error) => {
            let at = error.location().map_or(Position { line: 1, column: 1, length: 1 }, Position::from);
            problems.add_with(at, message(&error), advice(&error));
            None
        }
    }
}

fn message(error: &Error) -> String {
    match error.without_snippet() {
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate key `{key}`"),
        Error::MergeKeyNotAllowed { .. } => "suites have no merge keys".to_owned(),
        Error::Budget { breach: BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. }, .. } => {
            "suites have no anchors and aliases".to_owned()
        }
        Error::Budget { breach: BudgetBreach::Documents { .. }, .. } => "a file holds one suite".to_owned(),
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => "nested too deeply".to_owned(),
        other => DefaultMessageFormatter.format_message(other).into_owned(),
    }
}

/// The usual cause of a syntax error. The library has no codes for them, so its words tell them apart.
fn advice(error: &Error) -> Option<String> {
    const CAUSES: [(&str, &str); 4] = [
        ("found a tab", "indent with spaces; this line or the next one begins with a tab"),
        ("block", "check the indentation: all keys of an entry begin in the same column"),
        (
            "flow",
            "within `[ ]` and `{ }`, quote a text that contains one of `[]{},`, such as the path \"$messages[*]\"",
        ),
        ("", "quote a text that contains `: ` or ` #`, or starts with one of `[{*&!|>%@` or a backtick"),
    ];
    let error = error.without_snippet();
    if !matches!(error, Error::ExternalMessage { .. }) {
        return None;
    }
    let words = DefaultMessageFormatter.format_message(error);
    CAUSES.iter().find(|(sign, _)| words.contains(sign)).map(|(_, advice)| (*advice).to_owned())
}

impl From<&Tree> for Value {
    fn from(tree: &Tree) -> Self {
        match &tree.value {
            Yaml::Null => Self::Null,
            Yaml::Bool(bool) => Self::Bool(*bool),
            Yaml::Number(number) => Self::Number(number.clone()),
            Yaml::String(text) => Self::String(text.clone().into_owned()),
            Yaml::List(items) => items.iter().map(Self::from).collect(),
            Yaml::Map(members) => {
                members.iter().map(|(key, tree)| (key.value.clone().into_owned(), Self::from(tree))).collect()
            }
        }
    }
}

impl Yaml {
    /// The noun for messages: "expected a list, this is ...".
    pub const fn noun(&self) -> &'static str {
        match self {
            Self::Null => "empty",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

impl<T> From<Spanned<T>> for At<T> {
    fn from(spanned: Spanned<T>) -> Self {
        Self { at: spanned.referenced.into(), value: spanned.value }
    }
}

impl From<serde_saphyr::Location> for Position {
    fn from(location: serde_saphyr::Location) -> Self {
        let number = |number| usize::try_from(number).unwrap_or(usize::MAX);
        Self {
            line: number(location.line()),
            column: number(location.column()),
            length: number(location.span().len()).max(1),
        }
    }
}

impl<'de> Deserialize<'de> for Yaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyYaml)
    }
}

struct AnyYaml;

impl<'de> Visitor<'de> for AnyYaml {
    type Value = Yaml;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Yaml, E> {
        Ok(Yaml::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Yaml, E> {
        Ok(Yaml::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Yaml, E> {
        Ok(Yaml::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Yaml, E> {
        Ok(Yaml::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Yaml, E> {
        Ok(Number::from_f64(value).map_or(Yaml::Null, Yaml::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Yaml, E> {
        Ok(Yaml::String(value.to_owned().into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Yaml, E> {
        Ok(Yaml::String(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Yaml, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element::<Spanned<Yaml>>()? {
            items.push(item.into());
        }
        Ok(Yaml::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Yaml, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = access.next_entry::<Spanned<String>, Spanned<Yaml>>()? {
            let At { at, value: key } = At::from(key);
            members.push((At { at, value: Text::from(key) }, value.into()));
        }
        Ok(Yaml::Map(members))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(text: &str) -> String {
        let mut problems = Problems::new("x.yaml", text);
        assert_eq!(parse(text, &mut problems), None, "{text}");
        problems.into_diagnostics().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn nodes_keep_value_and_position() {
        let text = "a: { b: \"12\" }\nc:\n  - yes\n  - 1.0\n  - -32601\n  - 18446744073709551615\n  - ~\n  - true\n";
        let mut problems = Problems::new("x.yaml", text);
        let tree = parse(text, &mut problems).expect("it is good");
        let expected = json!({ "a": { "b": "12" }, "c": ["yes", 1.0, -32601, u64::MAX, null, true] });
        assert_eq!(Value::from(&tree), expected);
        let Yaml::Map(members) = &tree.value else { panic!("a mapping") };
        assert_eq!(members[1].0.at, Position { line: 2, column: 1, length: 1 });
        let Yaml::List(items) = &members[1].1.value else { panic!("a list") };
        assert_eq!(items[2].at, Position { line: 5, column: 5, length: 6 });
    }

    #[test]
    fn the_rest_of_yaml_is_refused() {
        assert_eq!(refused("a: 1\na: 2"), "x.yaml:2:1: duplicate key `a`");
        assert_eq!(refused("a: &b 1\nc: *b"), "x.yaml:1:7: suites have no anchors and aliases");
        assert_eq!(refused("<<: { a: 1 }"), "x.yaml:1:1: suites have no merge keys");
        assert_eq!(refused("a: 1\n---\nb: 2"), "x.yaml:2:1: a file holds one suite");
        assert!(refused(&"[".repeat(1000)).starts_with("x.yaml:1:"));
        assert!(refused("a: !tag 1").contains("unsupported tag"));
        assert!(refused("a: .nan").contains("non-finite"));
        assert!(refused("a: [1").contains("unclosed"));
    }
}
