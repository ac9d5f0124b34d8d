//! Describes requests that were skipped because similar ones got no reply.

use conform_model::{
    evidence::RunContext,
    outcome::{Needs, RuleResult, Status},
};

/// Adds this to the reasons of unjudged rules in such suites, unless a rule first needs a fact.
pub fn explain(rules: &mut [RuleResult], contexts: &[RunContext]) {
    let needs_fact = |rule: &RuleResult| matches!(rule.needs, Some(Needs::Configuration(_)));
    for result in
        rules.iter_mut().filter(|rule| rule.checked == 0 && rule.status == Status::NotExercised && !needs_fact(rule))
    {
        let Some(context) = contexts.iter().find(|context| context.revision == result.revision) else { continue };
        let kinds: Vec<_> =
            context.skipped.get(&result.suite).into_iter().flatten().map(|(kind, _)| kind.as_str()).collect();
        if let (Some(reason), false) = (&mut result.reason, kinds.is_empty()) {
            *reason += &format!("; skipped after two without a response: {}", kinds.join(", "));
            result.needs = Some(Needs::AnotherRun);
        }
    }
}
