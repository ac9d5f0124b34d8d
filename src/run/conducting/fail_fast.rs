//! `--fail-fast`: judges the rules of each suite when it was gathered, and stops the run after the first failure.

use crate::{
    evidence::{Recorder, RunContext},
    judge::judge,
    plan::{Filter, plan},
    run::inputs::job::{Fails, Job},
    suite::Suite,
};

pub struct FailFast<'a> {
    /// Whether a result fails the run; without it, nothing stops the run early.
    fails: Option<&'a Fails>,
    suites: &'a [Suite],
    filter: &'a Filter,
}

impl<'a> FailFast<'a> {
    pub fn new(job: &'a Job, suites: &'a [Suite], filter: &'a Filter) -> Self {
        Self { fails: job.fail_fast.as_deref(), suites, filter }
    }

    /// The first rule of these suites that fails on the evidence so far.
    pub fn failed(&self, of: impl Fn(&Suite) -> bool, scene: &RunContext, recorder: &Recorder) -> Option<String> {
        let fails = self.fails?;
        let mut plan = plan(self.suites, scene, self.filter);
        plan.suites.retain(|planned| planned.runs() && of(planned.suite));
        if plan.suites.is_empty() {
            return None;
        }
        let results = judge(&plan, scene, &recorder.links(), recorder.frames());
        results.into_iter().find(|rule| self.filter.shows(&rule.id) && fails(rule)).map(|rule| rule.id)
    }
}
