//! From the parsed file to targets and facts.

use std::{path::Path, sync::Arc};

use serde_json::{Map, Value, json};

use super::{Config, Origin, Settings, client, folder, levels, target, within};
use crate::{
    revision::Revision,
    suite::{
        FACTS, Form,
        decode::{Decode, OneOrMany, Pairs, mapping, member, refuse_unknown},
        diagnostic::{Problems, suggestion},
        yaml::{At, Text, Tree, Yaml},
    },
    target::Limits,
};

/// Tables of facts: of the file for all targets, of a target only for it.
pub const KNOWN: [&str; 3] = ["facts", "tools", "prompts"];

/// Reports what is wrong with a fact.
type Check = fn(&Tree, &mut Problems);

/// The check of a fact; `None` if it cannot be in the file.
fn check(form: Form) -> Option<Check> {
    Some(match form {
        Form::Text => text,
        Form::Arguments => arguments,
        Form::Children => children,
        Form::ChangeOfOne => change_of_one,
        Form::Change => change,
        Form::ToolCall => tool_call,
        Form::Versions => versions,
        Form::Asking => asking,
        Form::OutsideRoots => outside_roots,
        Form::Call => call,
        Form::Flag => flag,
        Form::Elsewhere => return None,
    })
}

/// The keys of the file, besides the tables of facts.
pub const KEYS: [&str; 9] =
    ["extends", "targets", "clients", "suites", "limits", "rules", "strict", "report", "baseline"];

/// Adds the contents of a file, which override those of the files before.
pub fn add(config: &mut Config, tree: &Tree, origin: &Arc<Origin>, problems: &mut Problems) {
    let directory = folder(&origin.file);
    let Some(members) = mapping(tree, problems) else { return };
    let keys: Vec<String> = KEYS.iter().chain(&KNOWN).map(|key| (*key).to_owned()).collect();
    refuse_unknown(members, "the configuration", &keys, problems);
    let trees = member::<Pairs<Tree>>(members, "targets", problems).map(|pairs| pairs.0).unwrap_or_default();
    let inherited = config.targets.iter().map(|target| target.name.clone());
    let names: Vec<String> = inherited.chain(trees.iter().map(|(name, _)| name.value.clone())).collect();
    let facts = known(members, directory, &names, problems);
    for (name, value) in facts {
        match (config.facts.get_mut(&name), value) {
            (Some(Value::Object(of_all)), Value::Object(own)) if KNOWN.contains(&&*name) => of_all.extend(own),
            (_, value) => config.facts[name] = value,
        }
    }
    let mut targets = Vec::new();
    for (name, tree) in &trees {
        let Some(mut target) = target::read(name, tree, origin, problems) else { continue };
        if let Yaml::Map(members) = &tree.value {
            target.facts = known(members, directory, &names, problems);
        }
        targets.push(target);
    }
    for second in targets.iter().filter(|target| target.default).skip(1) {
        problems.add(second.at, "only one target can be the default");
    }
    if targets.iter().any(|target| target.default) {
        config.targets.iter_mut().for_each(|inherited| inherited.default = false);
    }
    config.targets.retain(|inherited| targets.iter().all(|target| target.name != inherited.name));
    config.targets.extend(targets);
    let trees = member::<Pairs<Tree>>(members, "clients", problems).map(|pairs| pairs.0).unwrap_or_default();
    let clients: Vec<_> = trees.iter().filter_map(|(name, tree)| client::read(name, tree, origin, problems)).collect();
    config.clients.retain(|inherited| clients.iter().all(|client| client.name != inherited.name));
    config.clients.extend(clients);
    let suites = member::<OneOrMany<String>>(members, "suites", problems).map(|suites| suites.0).unwrap_or_default();
    config.suites.extend(suites.into_iter().map(|path| directory.join(path)));
    if let Some(tree) = find(members, "limits") {
        limits(tree, &mut config.limits, problems);
    }
    let levels = member::<Pairs<Tree>>(members, "rules", problems).map(|pairs| pairs.0).unwrap_or_default();
    let levels: Vec<_> = levels.iter().filter_map(|(rule, tree)| levels::read(rule, tree, origin, problems)).collect();
    config.levels.retain(|inherited| levels.iter().all(|level| level.rule.value != inherited.rule.value));
    config.levels.extend(levels);
    settings(members, directory, &mut config.settings, problems);
}

/// Options of `run`. Their paths start where the file is.
fn settings(members: &[(At<Text>, Tree)], directory: &Path, settings: &mut Settings, problems: &mut Problems) {
    if let Some(strict) = member(members, "strict", problems) {
        settings.strict = strict;
    }
    if let Some(OneOrMany(report)) = member::<OneOrMany<String>>(members, "report", problems) {
        let report = report.into_iter().map(|report| match report.split_once('=') {
            Some((format, path)) if path != "-" => {
                format!("{format}={}", within(directory, Path::new(path)).display())
            }
            _ => report,
        });
        settings.report = report.collect();
    }
    if let Some(baseline) = member::<String>(members, "baseline", problems) {
        settings.baseline = Some(within(directory, Path::new(&baseline)));
    }
}

fn limits(tree: &Tree, limits: &mut Limits, problems: &mut Problems) {
    let Some(members) = mapping(tree, problems) else { return };
    refuse_unknown(members, "`limits`", &Limits::NAMES.map(str::to_owned), problems);
    for (name, value) in members.iter().filter(|(name, _)| Limits::NAMES.contains(&&*name.value)) {
        if let Err(why) = limits.set(&name.value, &Value::from(value).to_string()) {
            problems.add(value.at, format!("`{}` {why}", name.value));
        }
    }
}

/// The facts about one server, or about all.
fn known(
    members: &[(At<Text>, Tree)],
    directory: &Path,
    targets: &[String],
    problems: &mut Problems,
) -> Map<String, Value> {
    let mut facts = match find(members, "facts") {
        Some(tree) => self::facts(tree, directory, problems),
        None => Map::new(),
    };
    if let Some(Tree { value: Yaml::Map(facts), .. }) = find(members, "facts")
        && let Some(Tree { value: Yaml::String(name), at }) = find(facts, "second_identity")
        && !targets.iter().any(|target| target == name)
    {
        let help = suggestion(name, targets.iter().map(String::as_str));
        problems.add_with(*at, format!("unknown target `{name}`"), help);
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
    facts
}

fn facts(tree: &Tree, directory: &Path, problems: &mut Problems) -> Map<String, Value> {
    let Some(members) = mapping(tree, problems) else { return Map::new() };
    let given = FACTS.iter().filter_map(|(name, form)| Some((*name, check(*form)?)));
    let given: Vec<(&str, Check)> = given.collect();
    refuse_unknown(members, "`facts`", &given.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>(), problems);
    let mut facts = Map::new();
    for (name, tree) in members {
        if let Some((_, check)) = given.iter().find(|(known, _)| *known == name.value) {
            check(tree, problems);
        }
        let mut fact = Value::from(tree);
        if let Some(fact) = fact.as_object_mut().filter(|fact| fact.contains_key("command")) {
            fact.insert("directory".to_owned(), json!(directory));
        }
        facts.insert(name.value.clone().into_owned(), fact);
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

/// A tool call; `lacks` are the scopes that a narrow token would additionally need.
fn call(tree: &Tree, problems: &mut Problems) {
    let Some(members) = mapping(tree, problems) else { return };
    refuse_unknown(members, "a call", &["tool", "with", "lacks"].map(str::to_owned), problems);
    if member::<String>(members, "tool", problems).is_none() {
        problems.add(tree.at, "missing `tool`");
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

/// A change of one resource, with its URI.
fn change_of_one(tree: &Tree, problems: &mut Problems) {
    change(tree, problems);
    if let Yaml::Map(members) = &tree.value
        && find(members, "uri").is_none()
    {
        problems.add(tree.at, "`change` needs the `uri` of the resource that changes");
    }
}

/// Tools that send requests to the client, by fact.
fn asking(tree: &Tree, problems: &mut Problems) {
    let Some(members) = mapping(tree, problems) else { return };
    let known = ["completes", "sealed", "once"];
    refuse_unknown(members, "`asking`", &known.map(str::to_owned), problems);
    for name in known {
        member::<Vec<String>>(members, name, problems);
    }
}

/// Tool calls that have to fail, because they access paths outside of the only root of the client.
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

/// The cause of a change: a tool, a command or an HTTP request.
fn change(tree: &Tree, problems: &mut Problems) {
    let Some(members) = mapping(tree, problems) else { return };
    let known = ["uri", "tool", "with", "command", "http"];
    refuse_unknown(members, "a change", &known.map(str::to_owned), problems);
    let causes: Vec<&str> =
        ["tool", "command", "http"].into_iter().filter(|cause| find(members, cause).is_some()).collect();
    if causes.len() != 1 {
        problems.add(tree.at, "a change needs exactly one of `tool`, `command` and `http`");
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

/// A tool call.
fn tool_call(tree: &Tree, problems: &mut Problems) {
    let Some(members) = mapping(tree, problems) else { return };
    refuse_unknown(members, "a call", &["tool", "with"].map(str::to_owned), problems);
    if member::<String>(members, "tool", problems).is_none() {
        problems.add(tree.at, "`tool` must be the name of a tool");
    }
    member::<Pairs<Yaml>>(members, "with", problems);
}

fn find<'t>(members: &'t [(At<Text>, Tree)], key: &str) -> Option<&'t Tree> {
    members.iter().find(|(name, _)| name.value == key).map(|(_, tree)| tree)
}
