//! Faults in messages, lifecycle, metadata, ping, cancellation, progress, logging and timeouts.

mod batches;
mod edits;
mod lifecycle;
mod messages;
mod metadata;
mod odd;
mod responses;
mod sent;

use conform_reference_client::behaviour::Behaviour;

pub static BASE: &[&[Behaviour]] = &[
    messages::FAULTS,
    sent::FAULTS,
    responses::FAULTS,
    lifecycle::FAULTS,
    metadata::FAULTS,
    odd::FAULTS,
    batches::FAULTS,
];
