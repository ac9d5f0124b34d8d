//! Converts YAML nodes to the types of `file`, and reports every mistake.
//!
//! This does not use serde, because a deserializer stops at the first mistake and an author wants to see all of them.
//! Here an invalid field is reported and skipped.

mod names;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

pub use crate::{keys, schema_like};
pub use names::new_name;

use conform_source::{
    diagnostic::{Problems, suggestion_or_all},
    yaml::{At, Position, Text, Tree, Yaml},
};

pub trait Decode: Sized {
    /// `None` if the node has another type; then the mistake has been reported.
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self>;
}

/// What every struct of `keys!` records about its source.
#[derive(Debug)]
pub struct Typed {
    /// The noun for messages: "a rule needs ...".
    pub noun: &'static str,
    pub at: Position,
    /// The keys as written, valid or not.
    pub keys: Vec<At<Text>>,
}

impl Typed {
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|typed| typed.value == key)
    }

    /// How many of these keys were typed.
    pub fn count(&self, keys: &[&str]) -> usize {
        keys.iter().filter(|key| self.has(key)).count()
    }

    /// Reports a missing key.
    pub fn needs(&self, key: &str, problems: &mut Problems) {
        if !self.has(key) {
            problems.add(self.at, format!("{} needs `{key}`", self.noun));
        }
    }

    /// The position of the key, or else of the whole mapping.
    pub fn place(&self, key: &str) -> Position {
        self.keys.iter().find(|typed| typed.value == key).map_or(self.at, |typed| typed.at)
    }
}

/// One value, or a list of them.
#[derive(Debug)]
pub struct OneOrMany<T>(pub Vec<T>);

/// A mapping with keys of the author's choice: the valid ones in the order they were typed, and the number of all.
#[derive(Debug)]
pub struct Pairs<T>(pub Vec<(At<String>, T)>, pub usize);

/// A value together with the tree that it was read from.
#[derive(Debug)]
pub struct WithTree<T> {
    pub tree: Tree,
    pub typed: T,
}

/// Declares the keys of one mapping: a struct in which every key is optional. The lint reports missing keys, since it
/// knows the reason; `needs [KEYS]` reports those that need no reason. Keys have hyphens; with `snake_case`, for tables
/// of a TOML file, they have underscores.
#[macro_export]
macro_rules! keys {
    (snake_case $($rest:tt)*) => {
        $crate::keys! { @ "snake_case" $crate::decode::key_of_table; $($rest)* }
    };
    (@ $case:literal $key_of:path; $(#[$about:meta])* $name:ident, $noun:literal $(, needs [$($needed:ident),*])? {
        $($(#[$attribute:meta])* $key:ident: $type:ty,)*
    }) => {
        #[derive(Debug, schemars::JsonSchema)]
        #[schemars(rename_all = $case, deny_unknown_fields)]
        $(#[$about])*
        pub struct $name {
            #[schemars(skip)]
            #[allow(dead_code)]
            pub typed: $crate::decode::Typed,
            $($(#[$attribute])* pub $key: Option<$type>,)*
        }

        impl $name {
            /// The keys as they are written.
            pub fn keys() -> &'static [String] {
                static KEYS: std::sync::LazyLock<Vec<String>> =
                    std::sync::LazyLock::new(|| vec![$($key_of(stringify!($key))),*]);
                &KEYS
            }
        }

        impl $crate::decode::Decode for $name {
            fn decode(tree: &$crate::yaml::Tree, problems: &mut $crate::diagnostic::Problems) -> Option<Self> {
                use $crate::decode;
                let members = decode::keyed(tree, $noun, problems)?;
                let known = Self::keys();
                decode::refuse_unknown(members, $noun, known, problems);
                let mut each = known.iter();
                let decoded = Self {
                    typed: decode::Typed {
                        noun: $noun,
                        at: tree.at,
                        keys: members.iter().map(|(key, _)| key.clone()).collect(),
                    },
                    $($key: decode::member(members, each.next()?, problems),)*
                };
                $($(decoded.typed.needs(&$key_of(stringify!($needed)), problems);)*)?
                Some(decoded)
            }
        }
    };
    ($($rest:tt)*) => {
        $crate::keys! { @ "kebab-case" $crate::decode::key; $($rest)* }
    };
}

/// The key of a field: `where` for `r#where`, `at-most` for `at_most`.
pub fn key(field: &str) -> String {
    field.trim_start_matches("r#").replace('_', "-")
}

/// The key of a field of a TOML table: `client_id`.
pub fn key_of_table(field: &str) -> String {
    field.to_owned()
}

pub fn member<T: Decode>(members: &[(At<Text>, Tree)], key: &str, problems: &mut Problems) -> Option<T> {
    let (_, tree) = members.iter().find(|(typed, _)| typed.value == key)?;
    T::decode(tree, problems)
}

pub fn mapping<'t>(tree: &'t Tree, problems: &mut Problems) -> Option<&'t [(At<Text>, Tree)]> {
    match &tree.value {
        Yaml::Map(members) => Some(members),
        _ => wrong(tree, "a mapping", problems),
    }
}

/// The mapping of this kind of thing. A lone value in place of a matcher is a common mistake.
pub fn keyed<'t>(tree: &'t Tree, noun: &str, problems: &mut Problems) -> Option<&'t [(At<Text>, Tree)]> {
    let is_single = !matches!(tree.value, Yaml::Null | Yaml::List(_) | Yaml::Map(_));
    if is_single && noun == "a matcher" {
        let help = format!("write `{{ equals: {} }}`", Value::from(tree));
        problems.add_with(tree.at, format!("expected {noun}, received {}", tree.value.noun()), help);
        return None;
    }
    mapping(tree, problems)
}

pub fn refuse_unknown(members: &[(At<Text>, Tree)], noun: &str, known: &[String], problems: &mut Problems) {
    for (key, _) in members.iter().filter(|(key, _)| !known.iter().any(|known| *known == key.value)) {
        let help =
            new_name(noun, &key.value).or_else(|| suggestion_or_all(&key.value, known.iter().map(String::as_str)));
        problems.add_with(key.at, format!("unknown key `{}` in {noun}", key.value), help);
    }
}

pub fn wrong<T>(tree: &Tree, expected: &str, problems: &mut Problems) -> Option<T> {
    problems.add(tree.at, format!("expected {expected}, received {}", tree.value.noun()));
    None
}

/// Parses one of a fixed set of words.
pub fn word<T: Copy>(tree: &Tree, place: &str, words: &[(&str, T)], problems: &mut Problems) -> Option<T> {
    let text = String::decode(tree, problems)?;
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Some(*value);
    }
    let help = new_name(place, &text).or_else(|| suggestion_or_all(&text, words.iter().map(|(word, _)| *word)));
    problems.add_with(tree.at, format!("unknown value `{text}`"), help);
    None
}

impl Decode for Yaml {
    fn decode(tree: &Tree, _: &mut Problems) -> Option<Self> {
        Some(tree.value.clone())
    }
}

impl<T: Decode> Decode for At<T> {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        T::decode(tree, problems).map(|value| Self { at: tree.at, value })
    }
}

impl<T: Decode> Decode for WithTree<T> {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        T::decode(tree, problems).map(|typed| Self { tree: tree.clone(), typed })
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        match &tree.value {
            Yaml::List(items) => Some(items.iter().filter_map(|item| T::decode(item, problems)).collect()),
            _ => wrong(tree, "a list", problems),
        }
    }
}

impl<T: Decode> Decode for OneOrMany<T> {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        match &tree.value {
            Yaml::List(_) => Vec::decode(tree, problems).map(Self),
            _ => T::decode(tree, problems).map(|one| Self(vec![one])),
        }
    }
}

impl<T: Decode> Decode for Pairs<T> {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        let members = mapping(tree, problems)?;
        let valid = members.iter().filter_map(|(key, tree)| Some((key.owned(), T::decode(tree, problems)?)));
        Some(Self(valid.collect(), members.len()))
    }
}

impl Decode for bool {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        match tree.value {
            Yaml::Bool(value) => Some(value),
            _ => wrong(tree, "true or false", problems),
        }
    }
}

impl Decode for usize {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        match &tree.value {
            Yaml::Number(number) => {
                let whole = number.as_u64().and_then(|number| Self::try_from(number).ok());
                if whole.is_none() {
                    problems.add(tree.at, format!("expected an integer, received {number}"));
                }
                whole
            }
            _ => wrong(tree, "a whole number", problems),
        }
    }
}

impl Decode for f64 {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        match &tree.value {
            Yaml::Number(number) => number.as_f64(),
            _ => wrong(tree, "a number", problems),
        }
    }
}

impl Decode for String {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        match &tree.value {
            Yaml::String(text) => Some(text.clone().into_owned()),
            _ => wrong(tree, "a string", problems),
        }
    }
}

impl Decode for Map<String, Value> {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        match Value::from(tree) {
            Value::Object(fields) => Some(fields),
            _ => wrong(tree, "a mapping", problems),
        }
    }
}

impl<T: Decode> Decode for Box<T> {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        T::decode(tree, problems).map(Self::new)
    }
}

/// A schema that is that of another type, in its place.
#[macro_export]
macro_rules! schema_like {
    ($type:ty, $name:expr, $generator:ident => $schema:expr $(, $parameter:ident)?) => {
        impl$(<$parameter: JsonSchema>)? JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

schema_like!(WithTree<T>, T::schema_name(), generator => T::json_schema(generator), T);
schema_like!(OneOrMany<T>, format!("OneOrMany{}", T::schema_name()), generator => {
    let one = generator.subschema_for::<T>();
    json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
}, T);
schema_like!(Pairs<T>, format!("Pairs{}", T::schema_name()), generator => {
    json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<T>() })
}, T);

#[cfg(test)]
mod tests;
