//! Converts YAML nodes to the types of `file`, and reports every mistake.
//!
//! This does not use serde, because a deserializer stops at the first mistake and an author wants to see all of them.
//! Here an invalid field is reported and skipped.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use super::{
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

/// Declares what may be typed at one place: a struct in which every key is optional. Whether it may be absent is for
/// the lint to say, which knows the reason; `needs [KEYS]` says it where none is needed. Keys are written with hyphens,
/// in the tables of a TOML file with underscores: `snake_case`.
macro_rules! keys {
    (snake_case $($rest:tt)*) => {
        $crate::suite::decode::keys! { @ "snake_case" $crate::suite::decode::key_of_table; $($rest)* }
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
            pub typed: $crate::suite::decode::Typed,
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

        impl $crate::suite::decode::Decode for $name {
            fn decode(tree: &$crate::suite::yaml::Tree, problems: &mut $crate::suite::diagnostic::Problems) -> Option<Self> {
                use $crate::suite::decode;
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
        $crate::suite::decode::keys! { @ "kebab-case" $crate::suite::decode::key; $($rest)* }
    };
}
pub(crate) use keys;

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

/// Keys and words of earlier versions, each with its place and its replacement.
const RENAMED: [(&str, &str, &str); 20] = [
    ("a suite", "evidence", "`requires`"),
    ("a suite", "client", "`capabilities`"),
    ("capabilities", "plain", "`basic`"),
    ("capabilities", "bare", "`none`"),
    ("connection", "own", "`isolated`"),
    ("connection", "fresh", "`new`"),
    ("connection", "last", "`final`"),
    ("connection", "alone", "`per-call`"),
    ("a step", "alone", "`connection: new`"),
    ("a step", "beside", "`connection: second`"),
    ("a step", "quiet", "`none-within`, or `pause` in a step of its own"),
    (
        "a step",
        "seconds",
        "`within` (`await`), `cancel-after` (`call`), `poll-for` (`call` with `until`) or `drop-after` (`http`)",
    ),
    ("a step", "answer", "`respond` (`call`) or `reply-to` (`send`)"),
    ("a step", "cancel", "`notify: notifications/cancelled` with a `save`"),
    ("`each`", "at-most", "`at-most` next to `each`"),
    ("`each`", "in-order", "`in-order` next to `each`"),
    ("`facts`", "climbs", "`traversal_prompts`"),
    ("`facts`", "disguised", "`aliased_uris`"),
    ("`facts`", "handle", "`user_owned_call`"),
    ("`facts`", "recased", "`case_swapped_calls`"),
];

/// Keys that authors expect from other tools, each with its place and what to write.
const EXPECTED: [(&str, &str, &str); 17] = [
    ("a suite", "name", "`suite: NAME`"),
    ("a suite", "id", "`suite: NAME`"),
    ("a suite", "title", "`about: TEXT`"),
    ("a suite", "description", "`about: TEXT`"),
    ("a suite", "steps", "`gather`"),
    ("a step", "params", "`with: { ... }`"),
    ("a step", "arguments", "`with: { name: TOOL, arguments: { ... } }`"),
    ("a rule", "title", "the sentence after `must`, `should`, `advice` or `may`"),
    ("a rule", "description", "the sentence after `must`, `should`, `advice` or `may`"),
    ("a rule", "level", "`must`, `should`, `advice` or `may`, with the sentence of the rule"),
    ("a matcher", "contains", "`matches: TEXT`, a regular expression"),
    ("a matcher", "regex", "`matches: TEXT`"),
    ("a matcher", "pattern", "`matches: TEXT`"),
    ("a matcher", "exists", "`present: true`, or `false`"),
    ("a matcher", "in", "`one-of: [...]`"),
    ("a matcher", "min", "`at-least: NUMBER`"),
    ("a matcher", "max", "`at-most: NUMBER`"),
];

/// What to write in place of an old name, or of one that other tools have.
pub fn new_name(place: &str, typed: &str) -> Option<String> {
    let of = |names: &[(&str, &str, &'static str)]| {
        names.iter().find(|(of, name, _)| *of == place && *name == typed).map(|(.., new)| *new)
    };
    let renamed = of(&RENAMED).map(|new| format!("it is now {new}"));
    renamed.or_else(|| Some(format!("write {}", of(&EXPECTED)?)))
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

pub(crate) use schema_like;

schema_like!(Yaml, "Anything", _generator => true.into());
schema_like!(At<T>, T::schema_name(), generator => T::json_schema(generator), T);
schema_like!(WithTree<T>, T::schema_name(), generator => T::json_schema(generator), T);
schema_like!(OneOrMany<T>, format!("OneOrMany{}", T::schema_name()), generator => {
    let one = generator.subschema_for::<T>();
    json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
}, T);
schema_like!(Pairs<T>, format!("Pairs{}", T::schema_name()), generator => {
    json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<T>() })
}, T);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::yaml;

    keys! {
        /// A thing.
        Thing, "a thing" {
            name: At<String>,
            at_most: usize,
            r#where: Pairs<bool>,
            tags: OneOrMany<String>,
        }
    }

    fn read(text: &str) -> (Option<Thing>, Vec<String>) {
        let mut problems = Problems::new("x", text);
        let thing = yaml::parse(text, &mut problems).and_then(|tree| Thing::decode(&tree, &mut problems));
        (thing, problems.into_diagnostics().iter().map(ToString::to_string).collect())
    }

    #[test]
    fn every_mistake_is_noted_and_the_rest_is_read() {
        let (thing, problems) = read("name: 1\natmost: 2\nwhere: { a: yes, b: true }\ntags: x\n");
        let thing = thing.expect("it is a mapping");
        assert!(thing.name.is_none() && thing.at_most.is_none());
        assert_eq!(thing.typed.keys.len(), 4);
        assert_eq!(thing.tags.expect("one tag").0, ["x"]);
        assert_eq!(thing.r#where.expect("one is good").0.len(), 1);
        assert_eq!(
            problems,
            [
                "x:1:7: expected a string, received a number",
                "x:2:1: unknown key `atmost` in a thing",
                "x:3:13: expected true or false, received a string"
            ]
        );
    }

    #[test]
    fn what_is_no_mapping_is_no_thing() {
        let (thing, problems) = read("- 1");
        assert!(thing.is_none());
        assert_eq!(problems, ["x:1:1: expected a mapping, received a list"]);
        assert_eq!(read("at-most: -1").1, ["x:1:10: expected an integer, received -1"]);
    }
}
