//! Faults in the content of requests and notifications.

use std::time::Duration;

use serde_json::{Value, json};

use super::edits::{is, requests};
use crate::reference::client::{
    faults::{
        behaviour::{Behaviour, EVERYWHERE, HTTP},
        decisions::Moment,
        habits::Habits,
    },
    message,
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        params: Some(|_, _, method, params| {
            if method.ends_with("/list") && params.get("cursor").is_none() {
                params["cursor"] = Value::Null;
            }
        }),
        ..Behaviour::new("cursor-null", "first pages are requested with a null cursor", EVERYWHERE)
    },
    Behaviour {
        params: Some(|_, _, method, params| {
            if method == "completion/complete" {
                params["argument"] = json!([params["argument"]["name"], params["argument"]["value"]]);
            }
        }),
        ..Behaviour::new("completion-argument-as-list", "the argument of completion/complete is a list", EVERYWHERE)
    },
    Behaviour {
        params: Some(|_, _, method, params| {
            if method == "tools/call" {
                params["arguments"] = json!(params["arguments"].to_string());
            }
        }),
        // It breaks the connection or every request, so any rule may fail.
        ..Behaviour::new("call-arguments-as-text", "the arguments of a call are a JSON text", EVERYWHERE)
    },
    Behaviour {
        params: Some(|_, _, method, params| {
            if method == "tools/call" || method == "prompts/get" {
                params["name"] = json!(7);
            }
        }),
        // It breaks the connection or every request, so any rule may fail.
        ..Behaviour::new("name-as-number", "names of tools and prompts are numbers", EVERYWHERE)
    },
    Behaviour {
        params: Some(|_, _, method, params| {
            if method == "completion/complete" {
                params["context"] = json!({ "arguments": {} });
            }
        }),
        until: Some(crate::revision::Revision::V2025_03_26),
        ..Behaviour::new(
            "completion-context-always-sent",
            "completion/complete has a context in every revision",
            EVERYWHERE,
        )
    },
    Behaviour {
        params: Some(|_, _, method, params| {
            if method == "logging/setLevel" {
                params["level"] = json!("warn");
            }
        }),
        ..Behaviour::legacy("level-warn", "the level of logging/setLevel is `warn`", EVERYWHERE)
    },
    Behaviour {
        params: Some(|_, _, method, params| {
            if method == "logging/setLevel" {
                *params = json!({ "logLevel": params["level"] });
            }
        }),
        ..Behaviour::legacy("level-under-other-name", "logging/setLevel has `logLevel`", EVERYWHERE)
    },
    Behaviour {
        token: Some(|_, number| json!(f64::from(u32::try_from(number).unwrap_or_default()) + 0.5)),
        habits: Habits { wants_progress: true, ..Habits::USUAL },
        // It breaks the connection or every request, so any rule may fail.
        ..Behaviour::new("progress-token-fractional", "progress tokens have a fraction", EVERYWHERE)
    },
    Behaviour {
        token: Some(|_, _| json!("token")),
        habits: Habits { wants_progress: true, ..Habits::USUAL },
        ..Behaviour::new("progress-token-constant", "all requests have the same progress token", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in requests(messages) {
                let token = message.pointer_mut("/params/_meta/progressToken").map(Value::take);
                if let Some(token) = token {
                    message["params"]["progressToken"] = token;
                    super::edits::remove(&mut message["params"]["_meta"], "progressToken");
                }
            }
        }),
        habits: Habits { wants_progress: true, ..Habits::USUAL },
        ..Behaviour::new("progress-token-beside-meta", "progress tokens are beside `_meta`", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| is(message, "notifications/cancelled")) {
                let params = &mut message["params"];
                params["requestId"] = json!(params["requestId"].to_string());
            }
        }),
        ..Behaviour::new("cancel-id-as-text", "a cancellation has the id as a string", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| is(message, "notifications/cancelled")) {
                let params = &mut message["params"];
                params["requestId"] = json!(987_654);
            }
        }),
        ..Behaviour::new("cancel-unknown-id", "a cancellation has an id that was never used", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| is(message, "notifications/cancelled")) {
                let params = &mut message["params"];
                *params = json!({ "id": params["requestId"] });
            }
        }),
        ..Behaviour::new("cancel-without-id", "a cancellation has its id under another name", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| is(message, "notifications/cancelled")) {
                let params = &mut message["params"];
                params["reason"] = json!({ "error": "aborted" });
            }
        }),
        ..Behaviour::new("cancel-reason-as-object", "the reason of a cancellation is an object", EVERYWHERE)
    },
    Behaviour {
        abort: Some(|_, _, _, abort| (abort.notify, abort.close_stream) = (false, false)),
        ..Behaviour::new("abort-not-signalled", "a request is given up without a sign", EVERYWHERE)
    },
    Behaviour {
        abort: Some(|_, _, _, abort| (abort.notify, abort.close_stream) = (false, true)),
        ..Behaviour::legacy("abort-closes-stream-only", "a request is given up by closing its stream alone", HTTP)
    },
    Behaviour {
        abort: Some(|_, _, _, abort| (abort.notify, abort.close_stream) = (true, false)),
        ..Behaviour::modern("abort-notifies-over-http", "a request is given up by a notification over HTTP", HTTP)
    },
    Behaviour {
        abort: Some(|_, _, _, abort| abort.disconnect = true),
        ..Behaviour::new("abort-disconnects", "giving up one request ends the connection", EVERYWHERE)
    },
    Behaviour {
        timeout: Some(|_, _, _, limit| *limit = None),
        ..Behaviour::new("requests-without-timeout", "requests wait for ever", EVERYWHERE)
    },
    Behaviour {
        timeout: Some(|_, _, method, limit| {
            if method != "tools/call" {
                *limit = None;
            }
        }),
        ..Behaviour::new("only-calls-have-timeout", "requests but for calls wait for ever", EVERYWHERE)
    },
    Behaviour {
        retry: Some(|_, _, method, outcome, retry| {
            let failed = outcome.is_err() && method != "ping";
            (retry.again, retry.wait) = (failed && retry.attempts < 50, Duration::from_millis(2));
        }),
        ..Behaviour::new("failed-requests-repeated", "a request that fails is repeated without a pause", EVERYWHERE)
    },
    Behaviour {
        retry: Some(|_, _, _, outcome, retry| {
            if outcome.as_ref().is_err_and(|failure| failure.kind == "error") && retry.attempts == 0 {
                (retry.again, retry.same_id) = (true, true);
            }
        }),
        ..Behaviour::new("id-of-failed-request-reused", "a request that failed is sent again with its id", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| {
            let due = matches!(moment, Moment::Tick | Moment::Connected);
            if due { vec![json!({ "do": "ping" }); 10] } else { Vec::new() }
        }),
        ..Behaviour::legacy("pings-without-pause", "the server is pinged fifty times in a second", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| is(message, "ping")) {
                message["params"] = json!({ "time": 1 });
            }
        }),
        ..Behaviour::legacy("ping-with-params", "ping has a parameter", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| {
            let notify = json!({ "do": "notify", "method": "notifications/roots/list_changed" });
            if moment == Moment::Connected { vec![notify] } else { Vec::new() }
        }),
        ..Behaviour::legacy(
            "roots-change-always-notified",
            "a change of roots is notified after each start",
            EVERYWHERE,
        )
    },
    Behaviour {
        say: Some(|_, scene, messages| {
            // Cancels requests that were just answered.
            let closing = scene.open.len() == 1 && message::is_request(&messages[0]) && !is(&messages[0], "initialize");
            if let Some(last) = messages[0]["id"].as_u64().filter(|&id| closing && id > 2) {
                let params = json!({ "requestId": last - 2 });
                messages.insert(0, message::notification("notifications/cancelled", &params));
            }
        }),
        ..Behaviour::new("finished-requests-cancelled", "requests are cancelled after their response", EVERYWHERE)
    },
];
