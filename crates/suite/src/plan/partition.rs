//! One of several parts of a run, for several machines: the rules that it reports, and what else it must do so that
//! their verdicts equal those of the whole run.

use std::collections::HashSet;

use super::Filter;
use crate::{Rule, Suite};
use conform_model::partition::Partition;

/// The part of a filter's selection for one machine.
#[derive(Clone, Debug)]
pub struct Share {
    /// The rules that the part reports.
    pub rules: HashSet<String>,
    /// The suites that must be gathered and judged for them.
    pub suites: HashSet<String>,
}

impl Share {
    /// The part of what the filter selects.
    pub(super) fn of(part: Partition, filter: &Filter, suites: &[Suite]) -> Self {
        let all = suites.iter().flat_map(|suite| suite.rules.iter().map(move |rule| (suite, rule)));
        let selected: Vec<(&Suite, &Rule)> = all.clone().filter(|(suite, rule)| filter.selects(suite, rule)).collect();
        let number = selected.len();
        let ours = selected.into_iter().enumerate().filter(|(place, (_, rule))| part.takes(&rule.id, *place, number));
        let ours: Vec<(&Suite, &Rule)> = ours.map(|(_, both)| both).collect();
        let rules: HashSet<String> = ours.iter().map(|(_, rule)| rule.id.clone()).collect();
        // A rule over the whole run needs the whole run.
        let needs_all = ours.iter().any(|(_, rule)| rule.looks_at_whole_run() || rule.after.iter().any(|id| id == "*"));
        let is_cause = |rule: &Rule| rule.form || ours.iter().any(|(_, ours)| ours.after.contains(&rule.id));
        let needed = all.filter(|(_, rule)| needs_all || rules.contains(&rule.id) || is_cause(rule));
        Self { suites: needed.map(|(suite, _)| suite.id.clone()).collect(), rules }
    }
}
