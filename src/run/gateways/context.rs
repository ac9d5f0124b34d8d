//! What a scenario is, and what its rules know about it.

use serde_json::json;

use crate::{
    evidence::{RunContext, Side, Transport},
    outcome::World,
    revision::Revision,
    suite::{Do, Scenario},
};

/// Whether it has messages of megabytes.
pub fn is_large(scenario: &Scenario) -> bool {
    scenario.drive.iter().any(|action| matches!(action.what, Do::Call { bytes: Some(_), .. }))
}

pub fn context(revision: Revision, transport: Transport, back: Transport, world: Option<World>) -> RunContext {
    RunContext {
        scenario: world.as_ref().map(|world| world.scenario.clone()),
        world,
        server: json!({ "back": back }),
        proposals: crate::reference::server::PROPOSALS.map(str::to_owned).to_vec(),
        ..RunContext::new(revision, Side::Gateway, transport)
    }
}
