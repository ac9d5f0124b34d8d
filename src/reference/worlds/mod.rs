//! Worlds: what a client meets besides the server as it is, its faults and its variations. They provoke clients.
//!
//! A world need not be lawful for a server: endless cursors, cyclic graphs, requests at odd times. They are made as faults are,
//! by the same means and with the same windows.

mod base;
mod graphs;
mod lists;
mod made;
mod odd;
mod passages;
mod processes;
mod resources;
mod responses;
mod serving;
mod tools;
mod transports;

use crate::{
    embedded::WORLDS,
    reference::faults::{Behaviour, FaultInfo, listed},
};

/// Worlds that are code, by the file they stand in.
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
    passages::PASSAGES,
];

/// Every world there is, in the order of the files.
pub fn worlds() -> Vec<FaultInfo> {
    listed(WORLDS.iter().copied(), behaviours())
}

pub fn behaviours() -> impl Iterator<Item = &'static Behaviour> {
    FILES.iter().copied().flatten()
}
