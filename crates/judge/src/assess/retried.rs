//! Rules that failed, and passed when they were tested again.

use crate::judge;
use conform_model::{
    evidence::Evidence,
    outcome::{Finding, RuleResult, Status},
};
use conform_suite::{
    Suite,
    plan::{Filter, plan},
};

/// Marks the rules that fail and that a retry has seen to pass for everything that they had found.
pub fn mark(rules: &mut [RuleResult], retries: &[Evidence], suites: &[Suite]) {
    for (number, retry) in (1..).zip(retries) {
        // A rule that this version does not have cannot be judged again.
        let Ok(filter) = Filter::new(&retry.header.scope.filter, suites) else { continue };
        let saw_all = saw_all(retry, suites);
        for context in &retry.contexts {
            let plan = plan(suites, context, &filter);
            let frames = retry.frames_in(context.revision, context.scenario.as_deref());
            let mut passed = judge(&plan, context, &retry.links, frames);
            passed.retain(|again| again.status == Status::Pass && filter.shows(&again.id));
            for rule in rules.iter_mut().filter(|rule| matches!(rule.status, Status::Fail | Status::Warn)) {
                let same = |again: &&RuleResult| again.id == rule.id && again.revision == rule.revision;
                let is_seen = |again: &&RuleResult| {
                    let passes = |finding: &Finding| saw_all(again, Some(&finding.subject));
                    rule.findings.iter().all(passes) && (rule.further == 0 || saw_all(again, None))
                };
                if passed.iter().find(same).is_some_and(|again| is_seen(&again)) {
                    let times = if number == 1 { "once".to_owned() } else { format!("{number} times") };
                    rule.reason = Some(format!("failed {times}, passed in retry {number}"));
                    rule.status = Status::Flaky;
                }
            }
        }
    }
}

/// Whether a run would have shown that a rule fails for a subject. It saw all unless it was cut short or filtered: then a
/// rule over the messages of all suites may have missed some.
pub fn saw_all(evidence: &Evidence, suites: &[Suite]) -> impl Fn(&RuleResult, Option<&str>) -> bool {
    let is_cut =
        evidence.header.end.cut_short.is_some() || evidence.contexts.iter().any(|context| !context.not_run.is_empty());
    // The same calls are generated for any rules.
    let is_generated = evidence.contexts.iter().any(|context| context.generated.is_some());
    let is_part = !evidence.header.scope.filter.is_empty() && !is_generated;
    move |judged, subject| {
        let mut rules = suites.iter().flat_map(|suite| &suite.rules);
        let passed = || subject.is_some_and(|subject| judged.held.iter().any(|held| held.subject == subject));
        let mut is_whole = || rules.any(|rule| rule.id == judged.id && rule.looks_at_whole_run());
        !is_cut && (!is_part || !is_whole() || passed())
    }
}
