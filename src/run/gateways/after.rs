//! The comparison and the measurement that follow the scenarios.

use super::{
    compare::{self, Comparison},
    cost,
    gateway_run::GatewayRun,
};
use crate::{error::Error, outcome::CostRow, suite::Suite};

impl GatewayRun<'_> {
    /// Which verdicts about servers are worse through the gateway, in the newest revision that was tested.
    pub async fn compare(&mut self, servers: &[Suite]) -> Option<Comparison> {
        let revision = self.contexts.last().map(|context| context.revision)?;
        let left = self.job.limits.run.saturating_sub(self.began.elapsed());
        let work = Box::pin(compare::compare(self.job, servers, revision, left));
        self.after(work, "the suites about servers were not run through the gateway").await
    }

    pub async fn cost(&mut self) -> Vec<CostRow> {
        let Some(revision) = self.contexts.last().map(|context| context.revision) else { return Vec::new() };
        let work = Box::pin(cost::cost(self.job, revision));
        self.after(work, "the cost was not measured").await.unwrap_or_default()
    }

    /// Does this within the rest of the time. The report is complete without it.
    async fn after<T>(&mut self, work: impl Future<Output = Result<T, Error>>, undone: &str) -> Option<T> {
        let left = self.job.limits.run.saturating_sub(self.began.elapsed());
        let interrupts = self.job.interrupts.clone();
        let done = tokio::select! {
            done = work => done,
            () = tokio::time::sleep(left) => {
                self.note(format!("{undone}: the run took {:?} (--run-timeout)", self.job.limits.run));
                return None;
            }
            () = interrupts.first() => {
                self.cut_short = Some("interrupted".to_owned());
                return None;
            }
        };
        done.inspect_err(|error| self.note(format!("{undone}: {}", error.in_short()))).ok()
    }
}
