//! Faults in cancelling requests, pings, logging, and what the client does without a common version.

use serde_json::json;

use conform_model::revision::Revision;
use conform_reference_client::{
    behaviour::{
        Behaviour, EVERYWHERE, STDIO,
        decisions::{Era, Heard, Moment, Probed},
    },
    message,
};

pub static GIVEN_UP: &[Behaviour] = &[
    // Requests of the server.
    Behaviour {
        serves_in_turn: true,
        ..Behaviour::legacy(
            "requests-wait-for-own-response",
            "requests of the server wait for the own response",
            EVERYWHERE,
        )
    },
    // Cancelled requests.
    Behaviour {
        abort: Some(|_, _, _, abort| abort.notify = abort.notify && abort.timed_out),
        ..Behaviour::legacy("abort-without-cancellation", "a request that is aborted is not cancelled", EVERYWHERE)
    },
    Behaviour {
        abort: Some(|_, _, _, abort| abort.notify = abort.notify && !abort.timed_out),
        ..Behaviour::legacy("timeout-without-cancellation", "a request that timed out is not cancelled", EVERYWHERE)
    },
    Behaviour {
        abort: Some(|_, _, _, abort| abort.disconnect |= abort.timed_out),
        ..Behaviour::new("timeout-disconnects", "the connection ends with a timeout", EVERYWHERE)
    },
    Behaviour {
        outcome: Some(|memory, action, outcome| {
            if action["do"] == "cancel" {
                memory.count("cancelled");
            }
            if memory.counts.contains_key("cancelled") && action["arguments"]["text"] == "last" {
                *outcome = Err(conform_reference_client::report::Failure::invalid("the id is in use"));
            }
        }),
        ..Behaviour::new("call-refused-after-cancellation", "a call after a cancellation fails", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| match moment {
            Moment::Tick => vec![json!({ "do": "ping", "force": true })],
            _ => Vec::new(),
        }),
        ..Behaviour::legacy("ping-every-200-ms", "a ping is sent every 200 ms", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|memory, _, moment| match moment {
            Moment::AfterAction if memory.first("loop") => {
                (0..25).map(|_| json!({ "do": "list", "of": "tools", "pages": 1 })).collect()
            }
            _ => Vec::new(),
        }),
        ..Behaviour::new("list-in-a-loop", "a list is requested again and again", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| match moment {
            Moment::Connected => {
                vec![json!({ "do": "request", "method": "ping", "params": { "time": 1 }, "force": true })]
            }
            _ => Vec::new(),
        }),
        ..Behaviour::legacy("ping-with-time", "a ping has the time in its params", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, _, messages| {
            if messages.iter().any(|message| message["method"] == "notifications/cancelled") {
                memory.count("cancelled");
            }
        }),
        hear: Some(|memory, scene, heard| {
            let cancelled = memory.counts.get("cancelled").copied().unwrap_or_default() > 0;
            let late =
                message::is_response(heard) && !scene.open.iter().any(|(id, _)| message::same_id(id, &heard["id"]));
            if cancelled && late { Heard::Disconnect } else { Heard::Message }
        }),
        ..Behaviour::new("late-response-disconnects", "a response after a cancellation ends the connection", EVERYWHERE)
    },
    Behaviour {
        abort: Some(|_, _, _, abort| {
            abort.notify = false;
            abort.disconnect = true;
        }),
        restart: Some(|_, _, next| next.again = true),
        ..Behaviour::modern("process-ended-to-cancel", "a request is cancelled by the end of the process", STDIO)
    },
    Behaviour {
        era: Some(|_, _, probed, era| {
            if let Probed::Failure(failure) = probed
                && failure.code() == Some(message::UNSUPPORTED_VERSION)
            {
                *era = Era::Legacy(Revision::NEWEST_LEGACY);
            }
        }),
        ..Behaviour::modern(
            "unsupported-version-leads-to-initialize",
            "the error -32022 leads to initialize",
            EVERYWHERE,
        )
    },
    Behaviour {
        era: Some(|memory, _, probed, era| {
            let fails =
                matches!(probed, Probed::Failure(failure) if failure.code() == Some(message::UNSUPPORTED_VERSION));
            if fails && memory.count("again") < 10 {
                *era = Era::Again(std::time::Duration::ZERO);
            }
        }),
        ..Behaviour::modern(
            "unsupported-version-tried-again",
            "the probe is repeated after the error -32022",
            EVERYWHERE,
        )
    },
];
