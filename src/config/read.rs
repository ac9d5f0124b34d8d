//! From the tree of the file to targets and facts.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::target::{self, Described};
use crate::suite::{
    decode::{Decode, OneOrMany, Pairs, mapping, member, refuse_unknown},
    diagnostic::{Problems, suggestion},
    yaml::{At, Tree, Yaml},
};

const FACTS: [(&str, Fact); 8] = [
    ("missing_uri", text),
    ("prefix", text),
    ("outside_file", text),
    ("second_identity", text),
    ("arguments", arguments),
    ("children", children),
    ("change", change_of_one),
    ("list_change", change),
];

/// Notes what is wrong with a fact.
type Fact = fn(&Tree, &mut Problems);

pub fn config(tree: &Tree, directory: &Path, problems: &mut Problems) -> Option<(Vec<Described>, Value)> {
    let members = mapping(tree, problems)?;
    refuse_unknown(
        members,
        "the configuration",
        &["targets", "facts", "tools", "prompts"].map(str::to_owned),
        problems,
    );
    let targets = member::<Pairs<Tree>>(members, "targets", problems).map(|pairs| pairs.0).unwrap_or_default();
    let targets: Vec<Described> =
        targets.iter().filter_map(|(name, tree)| target::read(name, tree, directory, problems)).collect();
    for second in targets.iter().filter(|target| target.default).skip(1) {
        problems.add(second.at, "one target alone can be the default");
    }

    let mut facts = match member::<Tree>(members, "facts", problems) {
        Some(tree) => self::facts(&tree, directory, problems),
        None => Map::new(),
    };
    if let Some(Tree { value: Yaml::Map(facts), .. }) = find(members, "facts")
        && let Some(Tree { value: Yaml::String(name), at }) = find(facts, "second_identity")
        && !targets.iter().any(|target| target.name == *name)
    {
        let help = suggestion(name, targets.iter().map(|target| target.name.as_str()));
        problems.add_with(*at, format!("there is no target `{name}`"), help);
    }
    for (section, noun) in [("tools", "a tool"), ("prompts", "a prompt")] {
        let Some(tree) = find(members, section) else { continue };
        for (_, tree) in mapping(tree, problems).into_iter().flatten() {
            let Some(members) = mapping(tree, problems) else { continue };
            refuse_unknown(members, noun, &["with".to_owned()], problems);
            member::<Pairs<Yaml>>(members, "with", problems);
        }
        facts.insert(section.to_owned(), Value::from(tree));
    }
    Some((targets, Value::Object(facts)))
}

fn facts(tree: &Tree, directory: &Path, problems: &mut Problems) -> Map<String, Value> {
    let Some(members) = mapping(tree, problems) else { return Map::new() };
    refuse_unknown(members, "`facts`", &FACTS.map(|(name, _)| name.to_owned()), problems);
    let mut facts = Map::new();
    for (name, tree) in members {
        if let Some((_, check)) = FACTS.iter().find(|(known, _)| *known == name.value) {
            check(tree, problems);
        }
        let mut fact = Value::from(tree);
        if let Some(fact) = fact.as_object_mut().filter(|fact| fact.contains_key("command")) {
            fact.insert("directory".to_owned(), json!(directory));
        }
        facts.insert(name.value.clone(), fact);
    }
    facts
}

fn text(tree: &Tree, problems: &mut Problems) {
    String::decode(tree, problems);
}

/// The values of the variables of each template.
fn arguments(tree: &Tree, problems: &mut Problems) {
    for (_, values) in mapping(tree, problems).into_iter().flatten() {
        Pairs::<OneOrMany<String>>::decode(values, problems);
    }
}

/// The resources in each listable resource.
fn children(tree: &Tree, problems: &mut Problems) {
    Pairs::<Vec<String>>::decode(tree, problems);
}

/// A change of one resource, which is named.
fn change_of_one(tree: &Tree, problems: &mut Problems) {
    change(tree, problems);
    if let Yaml::Map(members) = &tree.value
        && find(members, "uri").is_none()
    {
        problems.add(tree.at, "`change` needs the `uri` of what changes");
    }
}

/// What brings a change about: a tool, a command or an HTTP request.
fn change(tree: &Tree, problems: &mut Problems) {
    let Some(members) = mapping(tree, problems) else { return };
    let known = ["uri", "tool", "with", "command", "http"];
    refuse_unknown(members, "a change", &known.map(str::to_owned), problems);
    let causes: Vec<&str> =
        ["tool", "command", "http"].into_iter().filter(|cause| find(members, cause).is_some()).collect();
    if causes.len() != 1 {
        problems.add(tree.at, "a change comes of one of `tool`, `command` and `http`");
    }
    member::<String>(members, "uri", problems);
    member::<String>(members, "tool", problems);
    member::<Pairs<Yaml>>(members, "with", problems);
    member::<Vec<String>>(members, "command", problems);
    let Some(http) = find(members, "http") else { return };
    let Some(members) = mapping(http, problems) else { return };
    refuse_unknown(members, "`http`", &["method", "url", "body"].map(str::to_owned), problems);
    member::<String>(members, "method", problems);
    if member::<String>(members, "url", problems).is_none() {
        problems.add(http.at, "`http` needs `url`");
    }
}

fn find<'t>(members: &'t [(At<String>, Tree)], key: &str) -> Option<&'t Tree> {
    members.iter().find(|(name, _)| name.value == key).map(|(_, tree)| tree)
}
