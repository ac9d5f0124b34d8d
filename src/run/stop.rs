//! What ends the gathering before it is done: the time for the run or for a suite, a record that is full, or the user.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use tokio::time::{interval, sleep, sleep_until};

use super::interrupts::Interrupts;
use crate::{evidence::Recorder, target::Limits};

/// How often to look whether the record is full.
const LOOK: Duration = Duration::from_millis(100);

pub struct Stop {
    began: Instant,
    limits: Limits,
    recorder: Recorder,
    interrupts: Interrupts,
}

impl Stop {
    pub fn new(limits: &Limits, recorder: &Recorder, interrupts: &Interrupts) -> Self {
        let (recorder, interrupts) = (recorder.clone(), interrupts.clone());
        Self { began: Instant::now(), limits: limits.clone(), recorder, interrupts }
    }

    /// Why nothing more is to be gathered, if so.
    pub fn why(&self) -> Option<String> {
        if self.interrupts.code().is_some() {
            return Some("the run was interrupted".to_owned());
        }
        let run = self.limits.run;
        let over = || format!("the time for the whole run was over: {} s (run)", run.as_secs_f32());
        self.recorder.full().or_else(|| (self.began.elapsed() >= run).then(over))
    }

    /// The work, unless everything is to stop before it is done.
    pub async fn unless<T>(&self, work: impl Future<Output = T>) -> Result<T, String> {
        if let Some(why) = self.why() {
            return Err(why);
        }
        let over = sleep_until((self.began + self.limits.run).into());
        let full = async {
            let mut look = interval(LOOK);
            while self.recorder.full().is_none() {
                look.tick().await;
            }
        };
        let done = {
            let (work, full) = (pin!(work), pin!(full));
            tokio::select! {
                biased;
                done = work => Some(done),
                () = self.interrupts.first() => None,
                () = full => None,
                () = over => None,
            }
        };
        done.ok_or_else(|| self.why().unwrap_or_default())
    }

    /// As above, and within the time for one suite.
    pub async fn unless_in_suite<T>(&self, work: impl Future<Output = T>) -> Result<T, String> {
        let within = async {
            tokio::select! {
                done = work => Ok(done),
                () = sleep(self.limits.suite) => {
                    Err(format!("the time for one suite was over: {} s (suite)", self.limits.suite.as_secs_f32()))
                }
            }
        };
        self.unless(within).await?
    }
}
