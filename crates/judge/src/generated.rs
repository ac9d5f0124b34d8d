//! Judges generated calls and their effects.

use serde_json::Value;

use super::{audience::Audience, fold::fold, tally::Tally};
use conform_model::{evidence::RunContext, outcome::RuleResult};
use conform_suite::{Scope, ground, plan::Plan, views};

/// Verdicts on items under their streamed names, in plan order.
pub fn judge_generated(
    plan: &Plan,
    context: &RunContext,
    items: impl Iterator<Item = (&'static str, Value)>,
) -> Vec<RuleResult> {
    let grounds: Vec<Scope> = plan.suites.iter().map(|planned| ground(context, planned.suite)).collect();
    let mut tallies = Tally::all(plan, &grounds);
    let mut audience = Audience::new(context.revision);
    let judged = tallies.iter_mut().filter(|tally| tally.is_judged());
    let _: Vec<_> = judged.filter_map(|tally| audience.add_rule(tally)).collect();
    for (root, item) in items {
        debug_assert_eq!(views::undeclared(root, &item), None, "a field of ${root} that crates/suite/src/views lacks");
        audience.look(root, &Value::Array(vec![item]));
    }
    audience.leave();
    fold(&mut tallies);
    tallies.into_iter().map(|tally| tally.finish(context)).collect()
}
