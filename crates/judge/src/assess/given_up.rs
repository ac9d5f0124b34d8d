//! Describes requests that were skipped because similar ones got no reply.

use conform_model::{
    evidence::RunContext,
    outcome::{RuleResult, Status},
};
use conform_suite::{Suite, plan::lacking};

/// Adds this to the reasons of unjudged rules in such suites, unless a rule first needs a fact.
pub fn explain(rules: &mut [RuleResult], contexts: &[RunContext], suites: &[Suite]) {
    for result in rules.iter_mut().filter(|rule| rule.status == Status::NotExercised && rule.checked == 0) {
        let Some(context) = contexts.iter().find(|context| context.revision == result.revision) else { continue };
        let kinds: Vec<_> =
            context.skipped.get(&result.suite).into_iter().flatten().map(|(kind, _)| kind.as_str()).collect();
        if kinds.is_empty() {
            continue;
        }
        let rule = suites.iter().flat_map(|suite| &suite.rules).find(|rule| rule.id == result.id);
        let lacks = rule.is_some_and(|rule| lacking(&rule.applies, context).is_some());
        if let (Some(reason), false) = (&mut result.reason, lacks) {
            *reason += &format!("; skipped after two without a response: {}", kinds.join(", "));
        }
    }
}
