//! From the tree of the file to targets and facts.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::target::{self, Described};
use crate::{
    revision::Revision,
    suite::{
        decode::{Decode, OneOrMany, Pairs, mapping, member, refuse_unknown},
        diagnostic::{Problems, suggestion},
        yaml::{At, Tree, Yaml},
    },
};

const FACTS: &[(&str, Fact)] = &[
    ("missing_uri", text),
    ("prefix", text),
    ("outside_file", text),
    ("second_identity", text),
    ("arguments", arguments),
    ("children", children),
    ("change", change_of_one),
    ("list_change", change),
    ("slow", tool_call),
    ("versions", versions),
    ("tool_list_change", change),
    ("prompt_list_change", change),
    ("task", tool_call),
    ("slow_task", tool_call),
    ("task_input", tool_call),
    ("failing_task", tool_call),
    ("broken_task", tool_call),
    ("asking", asking),
    ("outside_roots", outside_roots),
    ("guarded", call),
    ("handle", call),
    ("registration", flag),
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
            refuse_unknown(members, noun, &["with", "fails"].map(str::to_owned), problems);
            member::<Pairs<Yaml>>(members, "with", problems);
            member::<bool>(members, "fails", problems);
        }
        facts.insert(section.to_owned(), Value::from(tree));
    }
    Some((targets, Value::Object(facts)))
}

fn facts(tree: &Tree, directory: &Path, problems: &mut Problems) -> Map<String, Value> {
    let Some(members) = mapping(tree, problems) else { return Map::new() };
    refuse_unknown(members, "`facts`", &FACTS.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>(), problems);
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

/// The protocol revisions that the server speaks.
fn versions(tree: &Tree, problems: &mut Problems) {
    Vec::<Revision>::decode(tree, problems);
}

fn flag(tree: &Tree, problems: &mut Problems) {
    bool::decode(tree, problems);
}

/// A call of a tool; `lacks` are the scopes that a narrow token would need besides its own.
fn call(tree: &Tree, problems: &mut Problems) {
    let Some(members) = mapping(tree, problems) else { return };
    refuse_unknown(members, "a call", &["tool", "with", "lacks"].map(str::to_owned), problems);
    if member::<String>(members, "tool", problems).is_none() {
        problems.add(tree.at, "a call needs `tool`");
    }
    member::<Pairs<Yaml>>(members, "with", problems);
    member::<Vec<String>>(members, "lacks", problems);
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

/// Tools that ask the client for something, by what is known of them.
fn asking(tree: &Tree, problems: &mut Problems) {
    let Some(members) = mapping(tree, problems) else { return };
    let known = ["completes", "sealed", "once"];
    refuse_unknown(members, "`asking`", &known.map(str::to_owned), problems);
    for name in known {
        member::<Vec<String>>(members, name, problems);
    }
}

/// Calls of a tool that have to fail, as they lead outside of the one root that the client gives.
fn outside_roots(tree: &Tree, problems: &mut Problems) {
    let Some(members) = mapping(tree, problems) else { return };
    refuse_unknown(members, "`outside_roots`", &["root", "tool", "with", "escape"].map(str::to_owned), problems);
    for name in ["root", "tool"] {
        if member::<String>(members, name, problems).is_none() {
            problems.add(tree.at, format!("`outside_roots` needs `{name}`"));
        }
    }
    for name in ["with", "escape"] {
        member::<Pairs<Yaml>>(members, name, problems);
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

/// The call of a tool.
fn tool_call(tree: &Tree, problems: &mut Problems) {
    let Some(members) = mapping(tree, problems) else { return };
    refuse_unknown(members, "a call", &["tool", "with"].map(str::to_owned), problems);
    if member::<String>(members, "tool", problems).is_none() {
        problems.add(tree.at, "a call needs the name of its `tool`");
    }
    member::<Pairs<Yaml>>(members, "with", problems);
}

fn find<'t>(members: &'t [(At<String>, Tree)], key: &str) -> Option<&'t Tree> {
    members.iter().find(|(name, _)| name.value == key).map(|(_, tree)| tree)
}
