//! Faults in progress notifications of the client, and in the handling of batches.

use serde_json::{Value, json};

use crate::{
    reference::client::{
        faults::{
            behaviour::{Behaviour, EVERYWHERE},
            decisions::Heard,
        },
        message,
    },
    revision::Revision,
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        reply: Some(|_, _, request, responses| {
            responses.insert(0, note(&request["id"], &json!(1)));
        }),
        ..legacy("progress-by-request-id", "progress has the id of the request as its token")
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            let token = &request["params"]["_meta"]["progressToken"];
            if !token.is_null() {
                responses.splice(..0, [note(token, &json!(1)), note(token, &json!(1))]);
            }
        }),
        ..legacy("progress-stands-still", "progress is sent twice with the same value")
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            let token = &request["params"]["_meta"]["progressToken"];
            if !token.is_null() {
                responses.insert(0, note(token, &json!("50%")));
            }
        }),
        ..legacy("progress-as-text", "progress is a text")
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            let token = &request["params"]["_meta"]["progressToken"];
            if !token.is_null() {
                responses.push(note(token, &json!(1)));
            }
        }),
        ..legacy("progress-after-response", "progress is sent after the response")
    },
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

fn note(token: &Value, progress: &Value) -> Value {
    message::notification("notifications/progress", &json!({ "progressToken": token, "progress": progress }))
}
