//! What a scenario is, and what its rules know about it.

use serde_json::json;

use crate::{
    evidence::{RunContext, Side, Transport},
    outcome::World,
    reference::server::has_skills,
    revision::Revision,
    session::ClientProfile,
    suite::{Do, Scenario},
};

/// The extension that clients declare in scenarios with skills.
const SKILLS: &str = "io.modelcontextprotocol/skills";

/// In an order that is not that of their names.
const ROOTS: [&str; 3] = ["file:///", "file:///z%20%C3%A4", "file:///a"];

/// The client of a scenario: one that declares everything, unless `answers` has `capabilities: none`.
pub fn profile(scenario: &Scenario) -> ClientProfile {
    let profile = match scenario.answers["capabilities"].as_str() {
        Some("none") => ClientProfile::bare(),
        _ => ClientProfile { roots: Some(ROOTS.map(str::to_owned).to_vec()), ..ClientProfile::default() },
    };
    let extension = has_skills(&scenario.world).then(|| SKILLS.to_owned());
    // Everything that it sends can be read, so each response has an id.
    ClientProfile { decorated: true, needs_ids: true, extension, ..profile }
}

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
