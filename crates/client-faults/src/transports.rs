//! Faults in stdio, Streamable HTTP and HTTP+SSE.

mod mirrors;
mod names;
mod params;
mod posts;
mod responses;
mod resumption;
mod sessions;
mod stdio;

use conform_reference_client::behaviour::Behaviour;

pub static TRANSPORTS: &[&[Behaviour]] = &[
    stdio::FAULTS,
    posts::FAULTS,
    names::FAULTS,
    params::FAULTS,
    responses::FAULTS,
    resumption::FAULTS,
    sessions::FAULTS,
];
