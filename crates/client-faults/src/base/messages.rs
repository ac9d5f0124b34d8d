//! Faults in the form of messages, independent of their content.

use serde_json::{Value, json};

use super::edits::is_list;
use conform_reference_client::behaviour::{Behaviour, EVERYWHERE};

pub static FAULTS: &[Behaviour] = &[
    #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
    Behaviour {
        id: Some(|_, number, method| match method {
            "server/discover" => json!(number),
            _ => json!(1_790_000_000.25 + number as f64),
        }),
        // It breaks the connection or every request, so any rule may fail.
        ..Behaviour::new("ids-are-timestamps", "ids are numbers with a fraction", EVERYWHERE)
    },
    Behaviour {
        id: Some(|_, number, method| if method.ends_with("/list") { json!({ "n": number }) } else { json!(number) }),
        ..Behaviour::new("ids-are-objects", "ids of lists are objects", EVERYWHERE)
    },
    Behaviour {
        id: Some(|memory, number, _| if memory.first("id") { Value::Null } else { json!(number) }),
        timeout: Some(|_, _, _, limit| *limit = Some(std::time::Duration::from_secs(1))),
        ..Behaviour::new("first-id-null", "the id of the first request is null", EVERYWHERE)
    },
    Behaviour {
        id: Some(|memory, _, method| json!(memory.tally(method))),
        ..Behaviour::new("id-counter-per-method", "ids are counted for each method", EVERYWHERE)
    },
    Behaviour {
        id: Some(|_, number, _| json!((number - 1) % 4 + 1)),
        ..Behaviour::new("id-counter-wraps", "ids begin anew after four requests", EVERYWHERE)
    },
    Behaviour {
        id: Some(|_, _, _| json!(1)),
        ..Behaviour::new("id-always-one", "every request has the id 1", EVERYWHERE)
    },
    Behaviour {
        spell: Some(|_, message, bytes| {
            let newline = bytes.last() == Some(&b'\n');
            *bytes = message.to_string().chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
            if newline {
                bytes.push(b'\n');
            }
        }),
        ..Behaviour::new("messages-in-latin-1", "messages are encoded in Latin-1", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, scene, messages| {
            let batches = scene.revision.is_some_and(|revision| revision.features().batches);
            if is_list(&messages[0]) && !batches {
                *messages = vec![Value::Array(std::mem::take(messages))];
            }
        }),
        ..Behaviour::new("messages-as-batches", "requests for lists are sent as batches", EVERYWHERE)
    },
];
