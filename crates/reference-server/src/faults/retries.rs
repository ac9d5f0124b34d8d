//! Faults in the handling of repeated requests and of the forms in them.

use serde_json::{Value, json};

use crate::faults::{
    Heard,
    asking::{accepted, answers, is_retry, modern, refused, remember},
    behaviour::{Behaviour, EVERYWHERE, Memory, STDIO},
};
use conform_model::revision::Revision;

/// The requests of one tool that are sent together.
const PAIR: [&str; 2] = ["person", "places"];

pub static RETRIES: &[Behaviour] = &[
    modern(Behaviour {
        hear: Some(take_last_call),
        also: &["mrtr-missing-responses-requested-again"],
        ..Behaviour::new("retry-by-connection", "a retry is matched with the last call of its connection", STDIO)
    }),
    modern(Behaviour {
        hear: Some(|_, message| {
            let given = message.pointer("/params/inputResponses").and_then(Value::as_object);
            let part = given.is_some_and(|given| {
                PAIR.iter().any(|key| given.contains_key(*key)) && !PAIR.iter().all(|key| given.contains_key(*key))
            });
            if part { refused(message, "Some input responses are missing.") } else { Heard::Message }
        }),
        say: Some(remember),
        ..Behaviour::new("part-of-answers-refused", "a retry with some of the input responses is rejected", EVERYWHERE)
    }),
    Behaviour {
        since: Some(Revision::V2025_06_18),
        hear: Some(|_, message| {
            let empty = |answer: &&mut Value| answer["action"] == "accept" && answer["content"] == json!({});
            answers(message).into_iter().filter(empty).for_each(|answer| *answer = accepted());
            Heard::Message
        }),
        ..Behaviour::new("form-missing-fields-taken", "missing fields of a form are filled in", EVERYWHERE)
    },
];

/// Replaces the tool in a retry with the tool that was called last.
fn take_last_call(memory: &mut Memory, message: &mut Value) -> Heard {
    if message["method"] != "tools/call" {
        return Heard::Message;
    }
    if !is_retry(message) {
        memory.said.insert("call", message["params"]["name"].clone());
    } else if let Some(last) = memory.said.get("call") {
        message["params"]["name"].clone_from(last);
    }
    Heard::Message
}
