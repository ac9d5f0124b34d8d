//! What was not asked again because an answer had not come in time before, in words.

use indexmap::{IndexMap, IndexSet};
use serde_json::{Value, json};

use crate::{
    evidence::Scene,
    outcome::{RuleResult, Status},
    plan::lacking,
    suite::Suite,
};

/// The fact that holds it, by suite.
const FACT: &str = "spared";

/// Keeps it with what is known of the server; the value is a note on it.
pub fn keep(scene: &mut Scene, spared: &IndexMap<String, IndexSet<String>>) -> Option<String> {
    let all: IndexSet<&str> = spared.values().flatten().map(String::as_str).collect();
    if all.is_empty() {
        return None;
    }
    scene.facts[FACT] = json!(spared);
    let suites: Vec<&str> = spared.keys().map(String::as_str).collect();
    let all: Vec<&str> = all.into_iter().collect();
    Some(format!("not asked again in {}, as no answer had come in time: {}", suites.join(", "), all.join(", ")))
}

/// Adds it to the reasons why rules of such suites could not be judged, unless something is to be given first.
pub fn explain(rules: &mut [RuleResult], scenes: &[Scene], suites: &[Suite]) {
    for result in rules.iter_mut().filter(|rule| rule.status == Status::NotExercised && rule.checked == 0) {
        let Some(scene) = scenes.iter().find(|scene| scene.revision == result.revision) else { continue };
        let spared = scene.facts[FACT][&result.suite].as_array().into_iter().flatten();
        let names: Vec<_> = spared.filter_map(Value::as_str).collect();
        let rule = suites.iter().flat_map(|suite| &suite.rules).find(|rule| rule.id == result.id);
        let lacks = rule.is_some_and(|rule| lacking(&rule.applies, scene).is_some());
        if let (Some(reason), false) = (&mut result.reason, lacks || names.is_empty()) {
            *reason += &format!("; not asked again, as no answer had come in time: {}", names.join(", "));
        }
    }
}
