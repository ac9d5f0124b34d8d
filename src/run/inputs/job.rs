//! What a run has to do.

use std::{str::FromStr, sync::Arc};

use serde_json::Value;

use crate::{
    error::Error,
    evidence::{Recorder, Side},
    outcome::RuleResult,
    plan::{Extensions, Proposals},
    revision::Revision,
    run::process::{interrupts::Interrupts, progress::Counts},
    session::ClientProfile,
    target::{Limits, Target},
};

/// Whether a result fails the run.
pub type Fails = dyn Fn(&RuleResult) -> bool + Send + Sync;

/// What to test, and how.
pub struct Job {
    /// A server, or an authorization server.
    pub subject: Side,
    pub target: Target,
    pub limits: Limits,
    pub profile: ClientProfile,
    /// Facts about the server: `$facts`.
    pub facts: Value,
    /// Whether tools may be called that the user did not name and that may have side effects.
    pub call_tools: bool,
    pub revisions: Revisions,
    pub proposals: Proposals,
    /// Extensions to judge even if the server does not declare them.
    pub extensions: Extensions,
    pub strict: bool,
    /// Whether a result ends the run at once: `--fail-fast`.
    pub fail_fast: Option<Box<Fails>>,
    pub interrupts: Interrupts,
    /// The progress of the run.
    pub suites: Arc<Counts>,
}

impl Job {
    /// For the messages of its test.
    pub fn recorder(&self) -> Recorder {
        Recorder::new(self.limits.memory_bytes, self.limits.disk_bytes, self.limits.record_messages)
    }
}

/// Which revisions to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revisions {
    /// The newest revision that the server speaks.
    Auto,
    /// Each revision that the server speaks.
    All,
    One(Revision),
}

impl Revisions {
    /// The one to judge by, where nothing is negotiated.
    pub const fn one(self) -> Revision {
        match self {
            Self::One(revision) => revision,
            Self::Auto | Self::All => Revision::NEWEST,
        }
    }
}

impl FromStr for Revisions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "auto" => Ok(Self::Auto),
            "all" => Ok(Self::All),
            revision => revision.parse().map(Self::One).map_err(|why| Error::usage(format!("{why}, auto, all"))),
        }
    }
}
