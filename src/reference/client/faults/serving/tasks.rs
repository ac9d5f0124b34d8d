//! Faults in tasks, pages and concurrent requests.

use std::time::Duration;

use serde_json::{Value, json};

use super::edits::{FORMS, MODES, error, in_reply, in_retry};
use crate::reference::client::{
    faults::{
        behaviour::{Behaviour, EVERYWHERE},
        decisions::Moment,
        tools::fail_call_at,
    },
    message,
    report::Failure,
};

pub static FAULTS: &[Behaviour] = &[
    results!("url-returned-in-content", "the URL is returned as content", "elicitation/create", |request, result| {
        if request["params"]["mode"] == "url" {
            result["content"] = json!({ "url": request["params"]["url"] });
        }
    }, since: MODES),
    replies!("url-mode-declared-and-rejected", "URL mode is declared and rejected", "mode url", |request, responses| {
        responses[0] = error(request, -32602);
    }, since: MODES),
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
            "a call is cancelled while the user is asked",
            EVERYWHERE,
        )
    },
    replies!("task-for-sampling-undeclared", "sampling as a task gets a task undeclared", "sampling task", |request, responses| {
        responses[0] = message::result(&request["id"], &json!({ "task": { "taskId": "1", "status": "working" } }));
    }, since: MODES),
    replies!("tasks-listed-undeclared", "tasks are listed undeclared", "task list", |request, responses| {
        responses[0] = message::result(&request["id"], &json!({ "tasks": [] }));
    }, since: MODES),
    Behaviour {
        input: Some(|_, _, result, params| {
            in_retry(result, params, "sampling/createMessage", |_, result| {
                *result = json!({ "task": { "taskId": "1", "status": "working" } });
            });
        }),
        ..Behaviour::modern("task-as-input-response", "an input response is a task", EVERYWHERE)
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
    replies!("url-accepted-when-complete", "accept of URL mode waits for the page", "mode url", |_, responses| {
        responses.clear();
    }, since: MODES),
    Behaviour {
        since: MODES,
        hear: Some(|_, scene, heard| fail_call_at(scene, heard, "notifications/elicitation/complete", |_| true)),
        ..Behaviour::legacy("unknown-completion-fails-call", "an unknown completion fails the open call", EVERYWHERE)
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
