//! What was not sent any more because requests like it had got no reply, in words.

use serde_json::json;

use crate::{
    evidence::RunContext,
    outcome::{RuleResult, Status},
    plan::lacking,
    session::{GivenUp, Kind},
    suite::Suite,
};

/// The fact that holds it, by suite.
const FACT: &str = "given_up";

/// Keeps it with what is known of the server; the value are notes on it.
pub fn keep(scene: &mut RunContext, given_up: Vec<(Kind, GivenUp)>) -> Vec<String> {
    let mut by_suite = json!({});
    let mut notes = Vec::new();
    for (Kind { text, awaited, .. }, GivenUp { sent, suites }) in given_up {
        for suite in &suites {
            by_suite[suite][&text] = json!(sent);
        }
        let sent = if awaited {
            format!("`{text}` was expected {sent} times and was not received")
        } else {
            format!("`{text}` was sent {sent} times without a response")
        };
        notes.push(format!("{sent}; given up in {}", suites.join(", ")));
    }
    if !notes.is_empty() {
        scene.facts[FACT] = by_suite;
    }
    notes
}

/// Adds it to the reasons why rules of such suites could not be judged, unless something is to be given first.
pub fn explain(rules: &mut [RuleResult], scenes: &[RunContext], suites: &[Suite]) {
    for result in rules.iter_mut().filter(|rule| rule.status == Status::NotExercised && rule.checked == 0) {
        let Some(scene) = scenes.iter().find(|scene| scene.revision == result.revision) else { continue };
        let kinds = scene.facts[FACT][&result.suite].as_object().into_iter().flatten();
        let kinds: Vec<_> = kinds.map(|(kind, _)| kind.as_str()).collect();
        let rule = suites.iter().flat_map(|suite| &suite.rules).find(|rule| rule.id == result.id);
        let lacks = rule.is_some_and(|rule| lacking(&rule.applies, scene).is_some());
        if let (Some(reason), false) = (&mut result.reason, lacks || kinds.is_empty()) {
            *reason += &format!("; skipped after two without a response: {}", kinds.join(", "));
        }
    }
}
