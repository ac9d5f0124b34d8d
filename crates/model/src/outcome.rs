//! The result of judging, for reports: verdicts as plain data.
//!
//! The serialized form of [`RunReport`] is the JSON report, a public and versioned format: `reports/README.md`.

mod cost;
pub mod excerpt;
mod level;
mod masked;
mod profile;
mod report;
mod rule;
mod sdk;
mod sender;
mod served;
mod unexercised;
mod world;

pub use self::{
    cost::{Compared, CostRow, Times},
    level::{Flaky, GivenLevel, Level, Status},
    masked::masked,
    profile::{AffectedTool, HostEvidence, InSdk, Loss, OLD_DAYS, ProfileReport, Taken},
    report::{
        CallCounts, Graph, GraphNode, Moment, OutdatedEntry, RunReport, SlowSuite, Subject, TargetReport, Tool, Totals,
    },
    rule::{Finding, Fix, Held, Observation, RuleResult, ShownFrame},
    sdk::{Sdk, SdkDefect},
    sender::Sender,
    served::{Listing, Offer, Served},
    unexercised::{Needs, Unexercised},
    world::World,
};

/// Incremented when a reader of the JSON report would have to change.
pub const REPORT_SCHEMA: u32 = 1;

// Called by serde, which passes a reference.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
