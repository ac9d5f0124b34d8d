//! Faults in the handling of batches.

use serde_json::Value;

use conform_model::revision::Revision;
use conform_reference_client::{
    behaviour::{Behaviour, EVERYWHERE, decisions::Heard},
    message,
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        hear_batch: Some(|_, _, batch| {
            batch.truncate(1);
            Heard::Message
        }),
        ..with_batches("batch-first-element-only", "only the first message of a batch is handled")
    },
    Behaviour {
        hear_batch: Some(|_, _, batch| {
            let known = ["ping", "roots/list", "sampling/createMessage"];
            let unknown = |message: &Value| {
                message::is_request(message) && !message::method(message).is_some_and(|method| known.contains(&method))
            };
            let end = batch.iter().position(unknown).unwrap_or(batch.len());
            batch.truncate(end);
            Heard::Message
        }),
        ..with_batches("batch-ends-at-unknown-request", "a batch is handled up to an unknown request")
    },
    Behaviour {
        hear_batch: Some(|_, _, _| Heard::Nothing),
        ..with_batches("batches-not-understood", "batches are dropped")
    },
];

const fn legacy(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour::legacy(name, about, EVERYWHERE)
}

const fn with_batches(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour { since: Some(Revision::V2025_03_26), until: Some(Revision::V2025_03_26), ..legacy(name, about) }
}
