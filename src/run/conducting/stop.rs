//! Conditions that stop gathering early: the timeout of the run or of a suite, a full record, a server that rejects
//! every request, or the user.

use std::{
    pin::pin,
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::time::{Instant, interval, sleep, sleep_until};

use crate::{
    evidence::Recorder,
    run::process::interrupts::Interrupts,
    session::{Known, Opener},
    target::Limits,
};

/// How often to check whether continuing is useful. A guess.
const LOOK: Duration = Duration::from_millis(100);

pub struct Stop {
    began: Instant,
    limits: Limits,
    recorder: Recorder,
    interrupts: Interrupts,
    known: Arc<Known>,
    /// Why a failed rule ends the run.
    failed: OnceLock<String>,
}

const INTERRUPTED: &str = "the run was interrupted";

impl Stop {
    pub fn new(limits: &Limits, opener: &Opener, interrupts: &Interrupts) -> Self {
        let (recorder, known) = (opener.recorder.clone(), Arc::clone(&opener.known));
        Self {
            began: Instant::now(),
            limits: limits.clone(),
            recorder,
            interrupts: interrupts.clone(),
            known,
            failed: OnceLock::new(),
        }
    }

    /// Stops the run because this rule failed.
    pub fn after(&self, rule: &str) {
        let _ = self.failed.set(format!("--fail-fast stopped the run when {rule} had failed"));
    }

    /// Why a failed rule has ended the run, if so.
    pub fn failed(&self) -> Option<&String> {
        self.failed.get()
    }

    /// Whether the user requested this end of the run: a failed rule with `--fail-fast`, or an interruption.
    pub fn is_requested(&self, why: &str) -> bool {
        why == INTERRUPTED || self.failed.get().is_some_and(|failed| failed == why)
    }

    /// Why nothing more is gathered, if so.
    pub fn why(&self) -> Option<String> {
        if self.interrupts.code().is_some() {
            return Some(INTERRUPTED.to_owned());
        }
        let run = self.limits.run;
        let over = || format!("the run timeout of {} s was reached (--run-timeout)", run.as_secs_f32());
        self.no_use().or_else(|| (self.began.elapsed() >= run).then(over))
    }

    /// Why more requests are useless, if so.
    fn no_use(&self) -> Option<String> {
        self.failed.get().cloned().or_else(|| self.recorder.full()).or_else(|| self.known.put_off.why_stop())
    }

    /// Does the work, unless a condition stops it first.
    pub async fn unless<T>(&self, work: impl Future<Output = T>) -> Result<T, String> {
        if let Some(why) = self.why() {
            return Err(why);
        }
        let over = sleep_until(self.began + self.limits.run);
        let in_vain = async {
            let mut look = interval(LOOK);
            while self.no_use().is_none() {
                look.tick().await;
            }
        };
        let done = {
            let (work, in_vain) = (pin!(work), pin!(in_vain));
            tokio::select! {
                biased;
                done = work => Some(done),
                () = self.interrupts.first() => None,
                () = in_vain => None,
                () = over => None,
            }
        };
        done.ok_or_else(|| self.why().unwrap_or_default())
    }

    /// As above, and within the timeout of a suite.
    pub async fn unless_in_suite<T>(&self, work: impl Future<Output = T>) -> Result<T, String> {
        let within = async {
            tokio::select! {
                done = work => Ok(done),
                () = sleep(self.limits.suite) => {
                    Err(format!("the suite timeout of {} s was reached (suite)", self.limits.suite.as_secs_f32()))
                }
            }
        };
        self.unless(within).await?
    }
}
