//! From the parsed file to targets and facts.

use std::{path::Path, sync::Arc};

use serde_json::{Map, Value, json};

use super::{
    Config, Origin, Settings, auth_server, client, folder, is_profile_file,
    keys::{File, LimitTable, Profiles, Usable},
    levels, target, within,
};
use crate::{
    cli::MOST_RETRIES,
    suite::{
        decode::{OneOrMany, Pairs, WithTree},
        diagnostic::{Problems, suggestion},
        facts::Facts,
    },
    target::Limits,
};

/// Facts that are tables of their own, whose entries a later file adds to.
const TABLES: [&str; 2] = ["tools", "prompts"];

/// Adds the contents of a file, which override those of the files before.
pub fn add(config: &mut Config, file: File, origin: &Arc<Origin>, problems: &mut Problems) {
    let directory = folder(&origin.file);
    let described = file.targets.map(|pairs| pairs.0).unwrap_or_default();
    let inherited = config.targets.iter().map(|target| target.name.clone());
    let names: Vec<String> = inherited.chain(described.iter().map(|(name, _)| name.value.clone())).collect();
    let facts = Known { facts: file.facts, tools: file.tools, prompts: file.prompts }.read(directory, &names, problems);
    for (name, value) in facts {
        match (config.facts.get_mut(&name), value) {
            (Some(Value::Object(of_all)), Value::Object(own)) if TABLES.contains(&&*name) => of_all.extend(own),
            (_, value) => config.facts[name] = value,
        }
    }
    let mut targets = Vec::new();
    for (name, WithTree { tree, typed: mut keys }) in described {
        let known = Known { facts: keys.facts.take(), tools: keys.tools.take(), prompts: keys.prompts.take() };
        let Some(mut target) = target::read(&name, keys, Value::from(&tree), origin, problems) else { continue };
        target.facts = known.read(directory, &names, problems);
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
    let clients = file.clients.map(|pairs| pairs.0).into_iter().flatten();
    let clients: Vec<_> = clients.filter_map(|(name, keys)| client::read(name, keys, origin, problems)).collect();
    config.clients.retain(|inherited| clients.iter().all(|client| client.name != inherited.name));
    config.clients.extend(clients);
    let servers = file.auth_servers.map(|pairs| pairs.0).into_iter().flatten();
    let servers: Vec<_> = servers.filter_map(|(name, keys)| auth_server::read(name, keys, origin, problems)).collect();
    config.auth_servers.retain(|inherited| servers.iter().all(|server| server.name != inherited.name));
    config.auth_servers.extend(servers);
    let suites = file.suites.map(|suites| suites.0).unwrap_or_default();
    config.suites.extend(suites.into_iter().map(|path| directory.join(path)));
    if let Some(table) = &file.limits {
        limits(table, &mut config.limits, problems);
    }
    let levels = file.rules.map(|pairs| pairs.0).into_iter().flatten();
    let levels: Vec<_> = levels.filter_map(|(rule, keys)| levels::read(rule, keys, origin, problems)).collect();
    config.levels.retain(|inherited| levels.iter().all(|level| level.rule.value != inherited.rule.value));
    config.levels.extend(levels);
    if let Some(sdk) = file.accept.and_then(|accept| accept.sdk) {
        config.settings.accept_sdk = sdk;
    }
    if let Some(Profiles { names, fail, .. }) = file.profiles {
        if let Some(OneOrMany(names)) = names {
            let named = |name: String| match is_profile_file(&name) {
                true => within(directory, Path::new(&name)).display().to_string(),
                false => name,
            };
            config.settings.profiles = names.into_iter().map(named).collect();
        }
        config.settings.fail_on_profile = fail.unwrap_or(config.settings.fail_on_profile);
    }
    if let Some(retries) = &file.retries {
        match u8::try_from(retries.value).ok().filter(|number| *number <= MOST_RETRIES) {
            Some(number) => config.settings.retries = Some(number),
            None => problems.add(retries.at, format!("`retries` must be at most {MOST_RETRIES}")),
        }
    }
    config.settings.flaky = file.flaky.or(config.settings.flaky);
    settings((file.strict, file.report, file.baseline), directory, &mut config.settings);
}

/// Options of `run`. Their paths start where the file is.
fn settings(
    (strict, report, baseline): (Option<bool>, Option<OneOrMany<String>>, Option<String>),
    directory: &Path,
    settings: &mut Settings,
) {
    settings.strict = strict.unwrap_or(settings.strict);
    if let Some(OneOrMany(report)) = report {
        let report = report.into_iter().map(|report| match report.split_once('=') {
            Some((format, path)) if path != "-" => {
                format!("{format}={}", within(directory, Path::new(path)).display())
            }
            _ => report,
        });
        settings.report = report.collect();
    }
    if let Some(baseline) = baseline {
        settings.baseline = Some(within(directory, Path::new(&baseline)));
    }
}

fn limits(LimitTable(table): &LimitTable, limits: &mut Limits, problems: &mut Problems) {
    for (name, value) in table.0.iter().filter(|(name, _)| Limits::NAMES.contains(&&*name.value)) {
        if let Err(why) = limits.set(&name.value, &Value::from(value).to_string()) {
            problems.add(value.at, format!("`{}` {why}", name.value));
        }
    }
}

/// The facts about one server, or about all.
struct Known {
    facts: Option<WithTree<Facts>>,
    tools: Option<WithTree<Pairs<Usable>>>,
    prompts: Option<WithTree<Pairs<Usable>>>,
}

impl Known {
    /// As rules see them.
    fn read(self, directory: &Path, targets: &[String], problems: &mut Problems) -> Map<String, Value> {
        let mut facts = match self.facts {
            Some(WithTree { tree, typed }) => {
                checked(&typed, targets, problems);
                Value::from(&tree)
            }
            None => json!({}),
        };
        for fact in facts.as_object_mut().into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
            if fact.contains_key("command") {
                fact.insert("directory".to_owned(), json!(directory));
            }
        }
        for (name, table) in [("tools", self.tools), ("prompts", self.prompts)] {
            facts
                .as_object_mut()
                .zip(table)
                .map(|(facts, table)| facts.insert(name.to_owned(), Value::from(&table.tree)));
        }
        facts.as_object().cloned().unwrap_or_default()
    }
}

fn checked(facts: &Facts, targets: &[String], problems: &mut Problems) {
    if let Some(name) = facts.second_identity.as_ref().filter(|name| !targets.contains(&name.value)) {
        let help = suggestion(&name.value, targets.iter().map(String::as_str));
        problems.add_with(name.at, format!("unknown target `{}`", name.value), help);
    }
    let others = [&facts.list_change, &facts.tool_list_change, &facts.prompt_list_change].into_iter().flatten();
    let changes = facts.change.iter().map(|change| &change.typed).chain(others.map(|change| &change.typed));
    for change in changes {
        if change.count(&["tool", "command", "http"]) != 1 {
            problems.add(change.at, "a change needs exactly one of `tool`, `command` and `http`");
        }
    }
}
