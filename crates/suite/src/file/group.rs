//! Groups state once what several rules or steps have in common. Here each of them gets it, so that nothing else knows groups.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::{Rule, Step};
use crate::decode::{self, Decode};
use conform_source::{
    diagnostic::Problems,
    yaml::{At, Text, Tree, Yaml},
};

/// The elements of a list, alone or in groups.
#[derive(Debug)]
pub struct Grouped<T>(pub Vec<T>);

pub trait Element: Decode {
    /// The key of a group with its elements.
    const KEY: &'static str;
    /// Keys that a group cannot have.
    const OWN: &'static [&'static str];

    fn elements(self) -> Option<Vec<Tree>>;
}

impl Element for Rule {
    const KEY: &'static str = "rules";
    const OWN: &'static [&'static str] = &["id", "must", "should", "advice", "may", "fail", "warn"];

    fn elements(self) -> Option<Vec<Tree>> {
        self.rules
    }
}

impl Element for Step {
    const KEY: &'static str = "steps";
    const OWN: &'static [&'static str] = &[];

    fn elements(self) -> Option<Vec<Tree>> {
        self.steps
    }
}

impl<T: JsonSchema> JsonSchema for Grouped<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<T>::json_schema(generator)
    }
}

type Fields = Vec<(At<Text>, Tree)>;

impl<T: Element> Decode for Grouped<T> {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        let Yaml::List(entries) = &tree.value else { return decode::wrong(tree, "a list", problems) };
        let mut found = Vec::new();
        for entry in entries {
            let typed = T::decode(entry, problems);
            let Some(shared) = keys_of_group::<T>(entry) else {
                found.extend(typed);
                continue;
            };
            check::<T>(entry, shared, problems);
            for element in typed.and_then(T::elements).unwrap_or_default() {
                if keys_of_group::<T>(&element).is_some() {
                    problems.add(element.at, "a group cannot contain another group");
                }
                found.extend(T::decode(&completed::<T>(element, shared), problems));
            }
        }
        Some(Self(found))
    }
}

/// The keys of a group. `None` for an element without group.
fn keys_of_group<T: Element>(entry: &Tree) -> Option<&Fields> {
    match &entry.value {
        Yaml::Map(fields) => fields.iter().any(|(key, _)| key.value == T::KEY).then_some(fields),
        _ => None,
    }
}

fn check<T: Element>(entry: &Tree, shared: &Fields, problems: &mut Problems) {
    if shared.len() < 2 {
        let message = format!("a group of {} states what they have in common; this one states nothing", T::KEY);
        problems.add(entry.at, message);
    }
    for (key, _) in shared.iter().filter(|(key, _)| T::OWN.contains(&&*key.value)) {
        problems.add(key.at, format!("a group of {} has no `{}`", T::KEY, key.value));
    }
}

/// An element with the keys of its group that it does not have. The clauses of both `where` hold, and `applies` is completed
/// key by key.
fn completed<T: Element>(mut element: Tree, group: &Fields) -> Tree {
    let Yaml::Map(fields) = &mut element.value else { return element };
    for (name, shared) in group.iter().filter(|(name, _)| name.value != T::KEY) {
        let own = fields.iter_mut().find(|(known, _)| known.value == name.value).map(|(_, own)| &mut own.value);
        match (own, &shared.value) {
            (None, _) => fields.push((name.clone(), shared.clone())),
            (Some(Yaml::Map(own)), Yaml::Map(shared)) if name.value == "where" => {
                own.splice(..0, shared.iter().cloned());
            }
            (Some(Yaml::Map(own)), Yaml::Map(shared)) if name.value == "applies" => {
                let missing = |(name, _): &&(At<Text>, Tree)| !own.iter().any(|(known, _)| known.value == name.value);
                let missing: Fields = shared.iter().filter(missing).cloned().collect();
                own.extend(missing);
            }
            (Some(_), _) => {}
        }
    }
    element
}
