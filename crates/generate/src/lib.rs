//! Generates calls from what a server publishes. Its schemas define which arguments are valid, and so which are not.
//!
//! ```text
//! schema -> Source (valid, invalid, hostile calls) -> Observer (sends, looks again) -> $calls -> rules of suites
//!                                                            ^                                      |
//!                                                            +---- shrink: smaller arguments <------+
//! ```
//!
//! The verdicts come from rules over `$calls` in `suites/server/generated`. So the rule that failed can judge smaller
//! arguments again. A finding is reported only if its call fails again. What is reported comes from the evidence:
//! every judged call is recorded, and so is the smallest one for each finding.
//!
//! It uses the crates below it, from `conform-model` to `conform-gather` and `conform-judge`.

mod beside;
mod caller;
mod calls;
mod counts;
mod findings;
mod growth;
mod item;
mod ledger;
mod listed;
mod observe;
mod pool;
mod program;
mod prompts;
mod sequences;
mod sessions;
mod smallest;
mod state;
mod store;
mod subject;
mod templates;
mod tester;
#[cfg(test)]
mod tests;
mod things;
mod together;
mod turns;
mod values;

use std::time::Duration;

use tokio::time::Instant;

pub use self::{
    caller::{BY, Caller},
    program::directory,
    store::{Store, Stored},
};
use self::{listed::survey, tester::Tester};
use conform_model::evidence::{RunContext, generated::GeneratedRun};
use conform_suite::plan::Plan;

/// What to generate, and how much of it.
pub struct Settings {
    /// Of each subject.
    pub calls: usize,
    pub time: Duration,
    pub seed: u64,
    /// Call only these, by name; naming a tool permits its calls.
    pub only: Vec<String>,
    /// Tools may be called that are not named and may have side effects.
    pub call_tools: bool,
    /// Tools that the configuration names.
    pub named: Vec<String>,
    /// The directory of the server's program, unless it runs there. Its messages must not disclose it.
    pub program: Option<String>,
    /// Make only this call.
    pub replay: Option<Stored>,
    /// Calls that failed before.
    pub earlier: Vec<Stored>,
    /// Whether the user interrupted the run.
    pub interrupted: Box<dyn Fn() -> bool>,
}

/// What the run adds to its evidence, besides what the record has.
pub struct Generated {
    pub run: GeneratedRun,
    pub notes: Vec<String>,
    /// Why the run ended before all calls were made.
    pub cut_short: Option<String>,
}

/// Lists what the server has, makes calls until a limit is reached, judges them, and shrinks those that fail.
pub async fn generate(mut caller: Caller, context: &mut RunContext, plan: &Plan<'_>, settings: &Settings) -> Generated {
    let clock = Clock { began: Instant::now(), settings };
    survey(&mut caller, context).await;
    let mut tester = Tester::new(caller, context, plan, clock);
    if settings.replay.is_some() {
        tester.learn_usual().await;
    }
    tester.keep_things().await;
    tester.make_calls(Share::Half).await;
    tester.compare().await;
    // What comparing left of its time is for further calls.
    tester.make_calls(Share::Most).await;
    Box::pin(tester.finish()).await
}

/// How much of the time may pass until no more calls are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    Third,
    Half,
    Most,
}

/// The time of the run.
#[derive(Clone, Copy)]
struct Clock<'a> {
    began: Instant,
    settings: &'a Settings,
}

impl Clock<'_> {
    /// The rest of the time is for confirming and shrinking what failed.
    fn is_over(&self) -> bool {
        self.began.elapsed() >= self.settings.time * 3 / 4 || (self.settings.interrupted)()
    }

    /// Whether this share of the time has passed.
    fn has_passed(&self, share: Share) -> bool {
        let part = match share {
            Share::Third => self.settings.time / 3,
            Share::Half => self.settings.time / 2,
            Share::Most => self.settings.time * 3 / 4,
        };
        self.began.elapsed() >= part
    }

    /// When the run should end.
    fn end(&self) -> Instant {
        self.began + self.settings.time
    }
}
