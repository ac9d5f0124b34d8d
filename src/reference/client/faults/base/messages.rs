//! Faults in the form of messages, independent of their content.

use serde_json::{Value, json};

use super::edits::{is, is_list, remove, requests};
use crate::{
    reference::client::{
        faults::behaviour::{Behaviour, EVERYWHERE},
        message,
    },
    revision::Revision,
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| message.get("id").is_none()) {
                remove(message, "jsonrpc");
            }
        }),
        ..Behaviour::legacy("notifications-without-jsonrpc", "notifications lack `jsonrpc`", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, _, responses| responses.iter_mut().for_each(|response| remove(response, "jsonrpc"))),
        ..Behaviour::legacy("responses-without-jsonrpc", "responses lack `jsonrpc`", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| is_list(message)) {
                message["jsonrpc"] = json!(2.0);
            }
        }),
        ..Behaviour::new("jsonrpc-as-number", "`jsonrpc` of some requests is a number", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if is_list(&messages[0]) {
                messages.push(json!({}));
            }
        }),
        ..Behaviour::new("empty-object-as-heartbeat", "empty objects are sent between messages", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if is_list(&messages[0]) {
                messages.insert(0, json!("a list is requested"));
            }
        }),
        ..Behaviour::new("log-line-as-message", "a text is sent between messages", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            for response in responses {
                response["method"] = request["method"].clone();
            }
        }),
        ..Behaviour::legacy("response-repeats-method", "a response has the method of its request", EVERYWHERE)
    },
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
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| is(message, "notifications/initialized")) {
                message["id"] = json!(99_999);
            }
        }),
        ..Behaviour::legacy("initialized-with-id", "notifications/initialized is sent as a request", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| is(message, "notifications/cancelled")) {
                message["id"] = Value::Null;
            }
        }),
        ..Behaviour::new("cancelled-with-null-id", "notifications/cancelled has a null id", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in requests(messages).filter(|message| message.get("params").is_none()) {
                message["params"] = Value::Null;
            }
        }),
        ..Behaviour::legacy("params-null", "`params` is null where there are no parameters", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| is(message, "completion/complete")) {
                message["params"] = json!([message["params"]["ref"], message["params"]["argument"]]);
            }
        }),
        ..Behaviour::new("completion-params-as-array", "`params` of completion/complete is an array", EVERYWHERE)
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
    Behaviour {
        say: Some(|_, _, messages| {
            if is(&messages[0], "tools/list") {
                let mut again = messages[0].clone();
                (again["id"], again["method"]) = (json!("again"), json!("initialize"));
                messages.insert(0, json!([again]));
            }
        }),
        ..with_batches("initialize-in-batch", "initialize is sent once more, as a batch of one")
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if is(&messages[0], "initialize") {
                messages.push(json!([message::notification("notifications/initialized", &Value::Null)]));
            }
        }),
        ..with_batches("initialized-in-early-batch", "a batch is sent before initialize has a response")
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if is_list(&messages[0]) {
                messages.push(json!([]));
            }
        }),
        ..with_batches("empty-batch-sent", "an empty batch is sent")
    },
];

const fn with_batches(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour {
        since: Some(Revision::V2025_03_26),
        until: Some(Revision::V2025_03_26),
        ..Behaviour::new(name, about, EVERYWHERE)
    }
}
