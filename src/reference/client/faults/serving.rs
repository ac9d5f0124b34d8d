//! Faults in roots, sampling, elicitation and other requests of the server.

use serde_json::{Value, json};

use crate::reference::client::{
    faults::behaviour::{Behaviour, EVERYWHERE},
    message,
};

/// A fault in results of every revision.
macro_rules! results {
    ($name:literal, $about:literal, $method:literal, $change:expr $(, $field:ident: $value:expr)*) => {
        Behaviour {
            reply: Some(|_, _, request, responses| in_reply(request, responses, $method, $change)),
            input: Some(|_, _, result, params| in_retry(result, params, $method, $change)),
            $($field: $value,)*
            ..Behaviour::new($name, $about, EVERYWHERE)
        }
    };
}

/// A fault in responses to one request, by its id.
macro_rules! replies {
    ($name:literal, $about:literal, $id:literal, $change:expr $(, $field:ident: $value:expr)*) => {
        Behaviour {
            reply: Some(|_, _, request, responses| {
                if request["id"] == $id {
                    let change: fn(&Value, &mut Vec<Value>) = $change;
                    change(request, responses);
                }
            }),
            $($field: $value,)*
            ..Behaviour::legacy($name, $about, EVERYWHERE)
        }
    };
}

mod edits;
mod forms;
mod sampling;
mod tasks;

pub static SERVING: &[&[Behaviour]] = &[OWN, sampling::FAULTS, forms::FAULTS, tasks::FAULTS];

static OWN: &[Behaviour] = &[
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if message::method(request) == Some("roots/list") {
                for response in responses {
                    if let Some(roots) = response.pointer_mut("/result/roots") {
                        response["result"] = roots.take();
                    }
                }
            }
        }),
        ..Behaviour::legacy("roots-as-array", "the result of `roots/list` is an array", EVERYWHERE)
    },
    Behaviour {
        input: Some(|_, _, result, params| {
            for (key, request) in result["inputRequests"].as_object().into_iter().flatten() {
                if request["method"] == "sampling/createMessage" {
                    params["inputResponses"][key] = json!({ "error": { "code": -1, "message": "User rejected" } });
                }
            }
        }),
        ..Behaviour::modern(
            "sampling-error-as-response",
            "an input response for sampling is an error object",
            EVERYWHERE,
        )
    },
    Behaviour {
        input: Some(|_, _, _, params| {
            if let Some(state) = params.get("requestState").and_then(Value::as_str) {
                params["requestState"] = json!(format!("{state} "));
            }
        }),
        ..Behaviour::modern("request-state-changed", "`requestState` gets a space at its end", EVERYWHERE)
    },
    Behaviour {
        input: Some(|_, _, _, params| drop(params.shift_remove("requestState"))),
        ..Behaviour::modern("request-state-dropped", "`requestState` is not sent back", EVERYWHERE)
    },
    Behaviour {
        input: Some(|memory, _, result, _| memory.keep("state", result["requestState"].clone())),
        params: Some(|memory, _, method, params| {
            let state = memory.kept("state");
            if method == "tools/call" && state.is_string() && params.get("requestState").is_none() {
                params["requestState"] = state;
            }
        }),
        ..Behaviour::modern("request-state-kept", "`requestState` is sent with every call from then on", EVERYWHERE)
    },
    Behaviour {
        input: Some(|_, _, _, params| {
            let responses = params.get_mut("inputResponses").and_then(Value::as_object_mut);
            if let Some(responses) = responses.filter(|responses| responses.len() > 1) {
                let last = responses.keys().next_back().cloned().unwrap_or_default();
                responses.shift_remove(&last);
            }
        }),
        ..Behaviour::modern("last-input-missing", "of several inputs the last is not sent", EVERYWHERE)
    },
    Behaviour {
        input: Some(|_, _, _, params| {
            params.insert("arguments".to_owned(), json!({}));
        }),
        ..Behaviour::modern("retry-without-arguments", "a request with input has no arguments", EVERYWHERE)
    },
    Behaviour {
        input: Some(|memory, _, _, _| {
            let last = memory.kept("last id");
            memory.keep("again", last);
        }),
        id: Some(|memory, number, _| memory.values.remove("again").unwrap_or_else(|| json!(number))),
        ..Behaviour::modern("retry-with-old-id", "a request with input has the id of the first request", EVERYWHERE)
    },
];
