//! Faults in roots, sampling, elicitation, tasks and other requests of the server.

use std::time::Duration;

use serde_json::{Value, json};

use conform_model::revision::Revision;
use conform_reference_client::{
    behaviour::{Behaviour, EVERYWHERE, decisions::Moment},
    report::Failure,
};

const MODES: Option<Revision> = Some(Revision::V2025_11_25);
const FORMS: Option<Revision> = Some(Revision::V2025_06_18);

pub static SERVING: &[Behaviour] = &[
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
        input: Some(|memory, _, _, _| {
            let last = memory.kept("last id");
            memory.keep("again", last);
        }),
        id: Some(|memory, number, _| memory.values.remove("again").unwrap_or_else(|| json!(number))),
        ..Behaviour::modern("retry-with-old-id", "a request with input has the id of the first request", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|memory, _, request, responses| {
            if request["method"] == "roots/list" && responses[0].get("result").is_some() {
                if memory.kept("roots").is_null() {
                    memory.keep("roots", responses[0]["result"].clone());
                }
                responses[0]["result"] = memory.kept("roots");
            }
        }),
        ..Behaviour::legacy("roots-kept-from-start", "the list of roots is the one of the start", EVERYWHERE)
    },
    Behaviour {
        since: FORMS,
        reply_delay: Some(|_, _| Duration::from_millis(1500)),
        ..Behaviour::legacy("user-blocks-requests", "all requests of the server wait for the user", EVERYWHERE)
    },
    Behaviour {
        since: FORMS,
        unasked: Some(|memory, _, moment| match moment {
            Moment::AfterAction if memory.first("given up") => {
                vec![
                    json!({ "do": "call", "name": "slow", "arguments": { "steps": 20, "milliseconds": 50 }, "timeout": 200 }),
                ]
            }
            _ => Vec::new(),
        }),
        ..Behaviour::legacy(
            "call-cancelled-while-user-thinks",
            "a call is cancelled while the user decides",
            EVERYWHERE,
        )
    },
    Behaviour {
        since: MODES,
        outcome: Some(|_, action, outcome| {
            if action["arguments"]["text"] == "page required" {
                *outcome = Err(Failure::invalid("there is no elicitation"));
            }
        }),
        ..Behaviour::legacy("page-required-without-list-fails", "the error -32042 is not understood", EVERYWHERE)
    },
    Behaviour {
        since: MODES,
        retry: Some(|_, _, _, outcome, retry| {
            let code = outcome.as_ref().err().and_then(Failure::code);
            retry.again |= code == Some(-32042) && retry.attempts < 5;
        }),
        ..Behaviour::new("page-required-retried", "a call with the error -32042 is sent again and again", EVERYWHERE)
    },
    Behaviour {
        since: MODES,
        outcome: Some(|memory, action, outcome| {
            if action["arguments"]["text"] == "mode url" {
                memory.count("page");
            }
            if memory.counts.contains_key("page") && action["arguments"]["text"] == "last" {
                *outcome = Err(Failure::new("timeout", "a page is open"));
            }
        }),
        ..Behaviour::legacy("blocked-until-completion", "calls wait for the page of an elicitation", EVERYWHERE)
    },
];
