//! Worlds: servers that test clients, in addition to the usual server, its faults and its variations.
//!
//! A world may violate the specification: endless cursors, cyclic graphs, requests at unexpected times. Worlds are
//! implemented like faults, and limited to revisions and transports in the same way.

mod base;
mod features;
mod graphs;
mod lists;
mod made;
mod oauth;
mod odd;
mod outputs;
mod passages;
mod processes;
mod resources;
mod responses;
mod rounds;
mod serving;
mod skills;
mod task_extension;
mod tasks;
mod tools;
mod transports;

use crate::faults::{Behaviour, FaultInfo};

/// Worlds that are code, by file.
static FILES: &[&[Behaviour]] = &[
    base::BASE,
    serving::SERVING,
    resources::RESOURCES,
    graphs::GRAPHS,
    lists::LISTS,
    transports::TRANSPORTS,
    processes::PROCESSES,
    responses::RESPONSES,
    tools::TOOLS,
    features::FEATURES,
    rounds::ROUNDS,
    outputs::OUTPUTS,
    passages::PASSAGES,
    tasks::TASKS,
    task_extension::TASK_EXTENSION,
    oauth::OAUTH,
    oauth::SECOND_LOGINS,
    skills::SKILLS,
];

/// All worlds, in the order of the files.
pub fn worlds() -> Vec<FaultInfo> {
    behaviours().map(Behaviour::info).collect()
}

/// Whether a world has authorization.
pub fn has_login(world: &str) -> bool {
    behaviours().any(|behaviour| behaviour.name == world && behaviour.oauth.is_some())
}

/// Whether a world has skills.
pub fn has_skills(world: &str) -> bool {
    skills::SKILLS.iter().any(|behaviour| behaviour.name == world)
}

pub fn behaviours() -> impl Iterator<Item = &'static Behaviour> {
    FILES.iter().copied().flatten()
}
