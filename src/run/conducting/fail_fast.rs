//! `--fail-fast`: judges the rules of each suite when it was gathered, and stops the run after the first failure.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use crate::{
    assess::shown::show_frames,
    evidence::{Frame, FrameKind, Recorder, RunContext, Side},
    judge::judge,
    plan::{Filter, Plan, plan},
    run::inputs::job::{Fails, Job},
    suite::Suite,
    target::Limits,
};

pub struct FailFast<'a> {
    /// Whether a result fails the run; without it, nothing stops the run early.
    fails: Option<&'a Fails>,
    suites: &'a [Suite],
    filter: &'a Filter,
    evidence_frames: usize,
    patience: Duration,
}

impl<'a> FailFast<'a> {
    pub fn new(job: &'a Job, suites: &'a [Suite], filter: &'a Filter) -> Self {
        let Limits { evidence_frames, request: patience, .. } = job.limits;
        Self { fails: job.fail_fast.as_deref(), suites, filter, evidence_frames, patience }
    }

    /// The frames so far, and then the end of every connection: other suites still wait for responses.
    fn as_if_over(&self, recorder: &Recorder) -> impl Iterator<Item = Arc<Frame>> + use<> {
        let patience = json!({ "patience_ms": u64::try_from(self.patience.as_millis()).unwrap_or(u64::MAX) });
        let (last, at) = recorder.indexes().last().map_or((0, 0), |index| (index.frame, index.at));
        let ends = (last + 1..).zip(recorder.links()).map(move |(frame, link)| {
            let message = Some(patience.clone());
            Arc::new(Frame { frame, at, message, ..Frame::blank(link.link, Side::Client, FrameKind::CutShort) })
        });
        recorder.frames().chain(ends)
    }

    /// The first rule of these suites that fails on the evidence so far.
    pub fn failed(&self, of: impl Fn(&Suite) -> bool, context: &RunContext, recorder: &Recorder) -> Option<String> {
        let fails = self.fails?;
        let mut plan = plan(self.suites, context, self.filter);
        plan.suites.retain(|planned| planned.runs() && of(planned.suite));
        if plan.suites.is_empty() {
            return None;
        }
        let judged = |plan: &Plan| judge(plan, context, &recorder.links(), self.as_if_over(recorder));
        let mut results = judged(&plan);
        results.retain(|rule| self.filter.shows(&rule.id) && !rule.findings.is_empty());
        // The subjects by which a baseline knows findings may only be in the frames.
        show_frames(&mut results, recorder.frames(), self.evidence_frames);
        let id = results.into_iter().find(fails)?.id;
        // A rule of another suite may be the cause that the report shows.
        let whole = judged(&self::plan(self.suites, context, self.filter));
        let cause = whole.into_iter().find(|rule| rule.also.contains(&id));
        Some(cause.map_or(id, |cause| cause.id))
    }
}
