//! Faults in the content of requests and notifications.

use std::time::Duration;

use serde_json::json;

use super::edits::is;
use conform_reference_client::{
    behaviour::{Behaviour, EVERYWHERE, HTTP, decisions::Moment, habits::Habits},
    message,
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        token: Some(|_, number| json!(f64::from(u32::try_from(number).unwrap_or_default()) + 0.5)),
        habits: Habits { wants_progress: true, ..Habits::USUAL },
        // It breaks the connection or every request, so any rule may fail.
        ..Behaviour::new("progress-token-fractional", "progress tokens have a fraction", EVERYWHERE)
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
            // Cancels requests whose response was just received.
            let closing = scene.open.len() == 1 && message::is_request(&messages[0]) && !is(&messages[0], "initialize");
            if let Some(last) = messages[0]["id"].as_u64().filter(|&id| closing && id > 2) {
                let params = json!({ "requestId": last - 2 });
                messages.insert(0, message::notification("notifications/cancelled", &params));
            }
        }),
        ..Behaviour::new("finished-requests-cancelled", "requests are cancelled after their response", EVERYWHERE)
    },
];
