//! Counts of the rules of a report by status.

use std::{cmp::Reverse, collections::HashMap};

use serde::{Serialize, Serializer};

use conform_model::outcome::{Needs, RuleResult, RunReport, Status};

/// The effective status: under `--strict` a warning is a failure, but not what a host only warns about.
pub fn standing(report: &RunReport, rule: &RuleResult) -> Status {
    match rule.status {
        Status::Warn if report.strict && rule.evidence.is_none() => Status::Fail,
        status => status,
    }
}

/// Whether the rule was not exercised because the subject offers or sends nothing that it tests.
pub fn has_nothing(rule: &RuleResult) -> bool {
    rule.status == Status::NotExercised && rule.needs == Some(Needs::Nothing)
}

/// The number of rules that had nothing to test in any revision.
pub fn nothing_to_test(report: &RunReport) -> usize {
    let mut found: HashMap<&str, bool> = HashMap::new();
    for rule in report.rules.iter().filter(|rule| rule.status != Status::NotApplicable) {
        *found.entry(&rule.id).or_insert(true) &= has_nothing(rule);
    }
    found.into_values().filter(|nothing| *nothing).count()
}

/// The rules with this status. Failures with the most findings come first, because they may cause others, and those of the
/// SDK last.
pub fn rules_with_status(report: &RunReport, status: Status) -> Vec<&RuleResult> {
    let mut rules: Vec<_> = report.rules.iter().filter(|rule| standing(report, rule) == status).collect();
    if status == Status::Fail {
        rules.sort_by_key(|rule| {
            let findings = rule.further + rule.findings.iter().map(|finding| 1 + finding.alike).sum::<usize>();
            (rule.is_in_sdk(), Reverse(findings))
        });
    }
    rules
}

/// The worst first.
pub const STATUSES: [Status; 10] = [
    Status::Fail,
    Status::Flaky,
    Status::Known,
    Status::Broken,
    Status::Warn,
    Status::Advice,
    Status::Pass,
    Status::Observed,
    Status::NotExercised,
    Status::NotApplicable,
];

/// The number of rules with each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([usize; 10]);

impl Tally {
    /// A rule counts once, with its worst status in any revision, as in the verdict.
    pub fn of(report: &RunReport) -> Self {
        Self::of_rules(report, &report.rules)
    }

    /// The same for some of the rules of a report.
    pub fn of_rules<'r>(report: &RunReport, rules: impl IntoIterator<Item = &'r RuleResult>) -> Self {
        let rank = |status: Status| STATUSES.iter().position(|known| *known == status).unwrap_or(STATUSES.len());
        let mut worst: HashMap<&str, Status> = HashMap::new();
        for rule in rules {
            let status = standing(report, rule);
            let known = worst.entry(&rule.id).or_insert(status);
            *known = std::cmp::min_by_key(*known, status, |status| rank(*status));
        }
        let mut tally = Self::default();
        for status in worst.into_values() {
            tally.add(status);
        }
        tally
    }

    pub fn add(&mut self, status: Status) {
        self.0[status as usize] += 1;
    }

    pub fn merge(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
    }

    pub fn count(&self, status: Status) -> usize {
        self.0[status as usize]
    }

    /// The statuses that occur, the worst first.
    pub fn counted(&self) -> impl Iterator<Item = (Status, usize)> {
        STATUSES.into_iter().map(|status| (status, self.count(status))).filter(|(_, count)| *count > 0)
    }

    /// Whether some of these rules need attention.
    pub fn is_notable(&self) -> bool {
        use Status::{Advice, Broken, Fail, Flaky, Known, Warn};
        [Fail, Flaky, Known, Broken, Warn, Advice].into_iter().any(|status| self.count(status) > 0)
    }
}

impl Serialize for Tally {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.counted())
    }
}
