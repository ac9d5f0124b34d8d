//! Profiles: suites about named hosts, which can extend each other.

use std::collections::HashMap;

use serde_json::Value;

use super::{Draft, Known, Origin, lint::Lint};
use crate::{
    decode::Pairs,
    file::{ProfileLevel, SuiteFile},
    model::{LevelWord, Profile, Suite},
};
use conform_model::outcome::GivenLevel;
use conform_source::{
    diagnostic::{Diagnostic, suggestion, suggestion_or_all},
    yaml::{self, At, Tree},
};

/// The keys that only a profile has.
const OF_PROFILES: [&str; 5] = ["as-of", "host", "extends", "levels", "parameters"];
/// The keys that a profile lacks: it sends nothing, and has an id by its name.
const NOT_OF_PROFILES: [&str; 8] =
    ["suite", "subject", "world", "gather", "connection", "capabilities", "requires", "replaces"];

/// Loads the file of a profile, given as name and text. `find` is the profile that it extends, or the message and help why
/// there is none.
pub fn profile(
    (file, text): (&str, &str),
    known: &Known,
    origin: Origin,
    find: impl FnOnce(&str) -> Result<Suite, (String, Option<String>)>,
) -> Result<Suite, Vec<Diagnostic>> {
    let mut draft = Draft::of(file, text, |problems| yaml::parse(text, problems));
    let typed = draft.typed.as_mut();
    let no_profile = typed.as_ref().filter(|typed| typed.profile.is_none()).map(|typed| typed.typed.at);
    if let Some(at) = no_profile {
        draft.problems.add_with(at, "this is not a profile", Some("a profile begins with `profile: NAME`".to_owned()));
        return Err(draft.problems.into_diagnostics());
    }
    let changes = typed.map(|typed| (typed.extends.clone(), typed.levels.take(), typed.parameters.take()));
    let (extends, levels, parameters) = changes.unwrap_or_default();
    let base = extends.and_then(|extends| match find(&extends.value) {
        Ok(base) => Some(base),
        Err((why, help)) => {
            draft.problems.add_with(extends.at, why, help);
            None
        }
    });
    let base_rules = base.iter().flat_map(|base| base.rules.iter().map(|rule| rule.id.clone()));
    let known = Known {
        ids: known.ids.iter().cloned().chain(base_rules).collect(),
        values: base.iter().flat_map(|base| base.values.keys().cloned()).collect(),
        ..known.clone()
    };
    let survey = known.survey.clone();
    let mut drafts = [draft];
    super::ids::check(&mut drafts, &known.ids);
    let [mut draft] = drafts;
    if let Some(typed) = draft.typed.as_ref() {
        let without = [("levels", levels.is_some()), ("parameters", parameters.is_some())];
        for (key, _) in without.iter().filter(|(_, has)| *has && base.is_none() && typed.extends.is_none()) {
            draft.problems.add(typed.typed.place(key), format!("`{key}` needs `extends`"));
        }
    }
    let mut base = base;
    if let Some(base) = &mut base {
        base_with(base, levels, parameters, &mut draft);
    }
    let (own, mistakes) = draft.build(&known, origin, &survey);
    match own {
        Some(own) if mistakes.is_empty() => Ok(extended(own, base)),
        _ => Err(mistakes),
    }
}

/// Gives the rules of the base other levels, and other values to compare with.
fn base_with(
    base: &mut Suite,
    levels: Option<Pairs<ProfileLevel>>,
    parameters: Option<Pairs<Tree>>,
    draft: &mut Draft<'_>,
) {
    let problems = &mut draft.problems;
    let mut given: HashMap<String, (LevelWord, String)> = HashMap::new();
    for (id, typed) in levels.map(|levels| levels.0).into_iter().flatten() {
        if !base.rules.iter().any(|rule| rule.id == id.value) {
            let help = suggestion(&id.value, base.rules.iter().map(|rule| rule.id.as_str()));
            problems.add_with(id.at, format!("unknown rule `{}`", id.value), help);
        } else if let Some(blank) = typed.reason.as_ref().filter(|reason| reason.value.trim().is_empty()) {
            problems.add(blank.at, "`reason` must not be empty: the report shows it");
        } else if let (Some(level), Some(reason)) = (typed.level, typed.reason) {
            given.insert(id.value, (level, reason.value));
        }
    }
    base.rules.retain_mut(|rule| {
        let Some((word, reason)) = given.get(&rule.id) else { return true };
        let Some(level) = word.level() else { return false };
        let GivenLevel { level, reason } = GivenLevel { level, reason: reason.clone() };
        (rule.level, rule.level_reason) = (level, Some(reason));
        true
    });
    for (name, tree) in parameters.map(|parameters| parameters.0).into_iter().flatten() {
        let value = Value::from(&tree);
        match base.values.get_mut(&name.value) {
            None => {
                let help = suggestion_or_all(&name.value, base.values.keys().map(String::as_str));
                problems.add_with(name.at, format!("unknown parameter `{}`", name.value), help);
            }
            Some(rows) => {
                let (is, becomes) = (kind(&rows[0].is), kind(&value));
                if is != becomes {
                    problems.add(tree.at, format!("expected {is} for `{}`, received {becomes}", name.value));
                }
                for row in &mut *rows {
                    row.is = value.clone();
                }
            }
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

/// A profile with the rules and values of the one that it extends, and after them its own.
fn extended(own: Suite, base: Option<Suite>) -> Suite {
    let Some(base) = base else { return own };
    let mut values = base.values;
    values.extend(own.values);
    let rules = base.rules.into_iter().chain(own.rules).collect();
    let untested = base.untested.into_iter().chain(own.untested).collect();
    Suite { values, rules, untested, ..own }
}

impl Lint<'_> {
    /// What makes the suite a profile, if it is one.
    pub fn profile(&mut self, typed: &SuiteFile) -> Option<Profile> {
        let own = &typed.typed;
        let Some(name) = typed.profile.clone() else {
            for key in OF_PROFILES.into_iter().filter(|key| own.has(key)) {
                self.problems.add(own.place(key), format!("`{key}` needs `profile`"));
            }
            return None;
        };
        for key in NOT_OF_PROFILES.into_iter().filter(|key| own.has(key)) {
            self.problems.add(own.place(key), format!("a profile has no `{key}`: it sends nothing"));
        }
        self.check_id(&name);
        let as_of = self.needs(own, "as-of", typed.as_of.clone());
        let host = self.needs(own, "host", typed.host.clone());
        if let Some(as_of) = &as_of {
            self.check_date(as_of);
        }
        let extends = typed.extends.clone().map(|extends| extends.value);
        Some(Profile { name: name.value, as_of: as_of?.value, host: host?.value, extends })
    }

    pub fn check_date(&mut self, date: &At<String>) {
        if date.value.parse::<jiff::civil::Date>().is_ok_and(|parsed| parsed.to_string() == date.value) {
            return;
        }
        self.problems.add(date.at, "expected a date such as 2026-11-29");
    }
}
