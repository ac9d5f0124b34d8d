//! Conditions that stop gathering early: the timeout of the run or of a suite, a full record, a server that rejects
//! every request, or the user.

use std::{
    fmt,
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
    /// The rule that failed, if that ends the run.
    failed: OnceLock<String>,
}

/// Why not all requests of a suite were sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incident {
    /// By the user or the system.
    Interrupted,
    /// With `--fail-fast`, when this rule had failed.
    RuleFailed(String),
    RunTimeout(Duration),
    SuiteTimeout(Duration),
    /// More requests are useless: the record is full, or the server rejects them all.
    Useless(String),
    /// The server or the connection was lost.
    Lost(String),
}

impl Incident {
    /// Whether the user requested this end of the run.
    pub const fn is_requested(&self) -> bool {
        matches!(self, Self::Interrupted | Self::RuleFailed(_))
    }

    /// Whether it ends the whole run.
    pub const fn ends_run(&self) -> bool {
        !matches!(self, Self::SuiteTimeout(_) | Self::Lost(_))
    }
}

impl fmt::Display for Incident {
    fn fmt(&self, words: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => words.write_str("the run was interrupted"),
            Self::RuleFailed(rule) => write!(words, "--fail-fast stopped the run when {rule} had failed"),
            Self::RunTimeout(run) => {
                write!(words, "the run timeout of {} s was reached (--run-timeout)", run.as_secs_f32())
            }
            Self::SuiteTimeout(suite) => {
                write!(words, "the suite timeout of {} s was reached (suite)", suite.as_secs_f32())
            }
            Self::Useless(why) | Self::Lost(why) => words.write_str(why),
        }
    }
}

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
        let _ = self.failed.set(rule.to_owned());
    }

    /// Whether a failed rule has ended the run.
    pub fn has_failed(&self) -> bool {
        self.failed.get().is_some()
    }

    /// Why nothing more is gathered, if so.
    pub fn why(&self) -> Option<Incident> {
        if self.interrupts.code().is_some() {
            return Some(Incident::Interrupted);
        }
        let run = self.limits.run;
        self.no_use().or_else(|| (self.began.elapsed() >= run).then_some(Incident::RunTimeout(run)))
    }

    /// Why more requests are useless, if so.
    fn no_use(&self) -> Option<Incident> {
        let useless = || self.recorder.full().or_else(|| self.known.put_off.why_stop()).map(Incident::Useless);
        self.failed.get().cloned().map(Incident::RuleFailed).or_else(useless)
    }

    /// Does the work, unless a condition stops it first.
    pub async fn unless<T>(&self, work: impl Future<Output = T>) -> Result<T, Incident> {
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
        done.ok_or_else(|| self.why().unwrap_or(Incident::Interrupted))
    }

    /// As above, and within the timeout of a suite.
    pub async fn unless_in_suite<T>(&self, work: impl Future<Output = T>) -> Result<T, Incident> {
        let within = async {
            tokio::select! {
                done = work => Ok(done),
                () = sleep(self.limits.suite) => Err(Incident::SuiteTimeout(self.limits.suite)),
            }
        };
        self.unless(within).await?
    }
}
