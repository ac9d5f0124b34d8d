//! The levels that the file gives to rules, with the reasons.

use std::{collections::BTreeMap, sync::Arc};

use super::{Config, Origin, keys::RuleLevel, refused};
use crate::{
    error::Error,
    outcome::{GivenLevel, Level},
    suite::{
        Suite,
        diagnostic::{Problems, suggestion, suggestion_or_all},
        yaml::At,
    },
};

/// An entry of `[rules]`.
#[derive(Debug)]
pub struct DescribedLevel {
    pub rule: At<String>,
    given: GivenLevel,
    origin: Arc<Origin>,
}

/// At the level `may` nothing is judged.
pub const LEVELS: [Level; 3] = [Level::Must, Level::Should, Level::Advice];

pub fn read(
    rule: At<String>,
    keys: RuleLevel,
    origin: &Arc<Origin>,
    problems: &mut Problems,
) -> Option<DescribedLevel> {
    let level = keys.level.and_then(|typed| {
        let level = LEVELS.into_iter().find(|level| level.word() == typed.value);
        if level.is_none() {
            let help = suggestion_or_all(&typed.value, LEVELS.map(Level::word));
            problems.add_with(typed.at, format!("unknown level `{}`", typed.value), help);
        }
        level
    });
    if let Some(blank) = keys.reason.as_ref().filter(|reason| reason.value.trim().is_empty()) {
        problems.add(blank.at, "`reason` must not be empty: the report shows it");
    }
    let given = GivenLevel { level: level?, reason: keys.reason?.value };
    Some(DescribedLevel { rule, given, origin: origin.clone() })
}

impl Config {
    /// The levels by rule. A rule that none of the suites has is an error.
    pub fn levels(&self, suites: &[Suite], color: bool) -> Result<BTreeMap<String, GivenLevel>, Error> {
        let ids = || suites.iter().flat_map(|suite| &suite.rules).map(|rule| rule.id.as_str());
        let mut mistakes = Vec::new();
        for DescribedLevel { rule, origin, .. } in &self.levels {
            if !ids().any(|id| id == rule.value) {
                let mut problems = Problems::new(&origin.file.display().to_string(), &origin.text);
                problems.add_with(rule.at, format!("unknown rule `{}`", rule.value), suggestion(&rule.value, ids()));
                mistakes.extend(problems.into_diagnostics());
            }
        }
        if !mistakes.is_empty() {
            return Err(refused(&mistakes, color));
        }
        Ok(self.levels.iter().map(|entry| (entry.rule.value.clone(), entry.given.clone())).collect())
    }
}
