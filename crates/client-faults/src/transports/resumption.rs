//! Faults in how the client continues after a stream has ended without the response.

use std::time::Duration;

use conform_reference_client::{
    behaviour::{Behaviour, HTTP, decisions::Heard},
    transport::streams::StreamWays,
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        resume: Some(|_, _, lost, next| next.repost = lost.last_event_id.is_some()),
        ..Behaviour::legacy("last-event-id-on-post", "a stream is resumed by the POST with Last-Event-ID", HTTP)
    },
    Behaviour {
        resume: Some(|_, _, _, next| {
            let encode = |byte: u8| match byte {
                b'0'..=b'9' | b'a'..=b'f' => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            };
            next.last_event_id = next.last_event_id.take().map(|id| id.bytes().map(encode).collect());
        }),
        ..Behaviour::legacy("last-event-id-encoded", "Last-Event-ID is percent-encoded", HTTP)
    },
    Behaviour {
        resume: Some(|memory, _, lost, next| {
            let first = lost.first_event_id.clone();
            let kept = memory.values.entry("first").or_insert(serde_json::json!(first)).clone();
            next.last_event_id = kept.as_str().map(str::to_owned).filter(|_| next.again);
        }),
        ..Behaviour::legacy("first-event-id-kept", "Last-Event-ID is the first id that was received", HTTP)
    },
    Behaviour {
        resume: Some(|memory, _, _, next| next.again &= memory.first("resumption")),
        ..Behaviour::legacy("resumes-once-only", "a stream is resumed once only", HTTP)
    },
    Behaviour {
        resume: Some(|_, _, _, next| next.again = false),
        ..Behaviour::legacy("broken-stream-fails-call", "the end of a stream before its response is an error", HTTP)
    },
    Behaviour {
        resume: Some(|_, _, _, next| next.wait = Duration::ZERO),
        standalone: Some(|_, _, next| next.wait = Duration::from_millis(100) * next.attempts.min(10)),
        ..Behaviour::legacy("retry-ignored", "a stream is resumed at once, whatever `retry` says", HTTP)
    },
    Behaviour {
        resume: Some(|_, _, _, next| next.wait /= 1000),
        ..Behaviour::legacy("retry-in-seconds", "the time in `retry` is divided by 1000", HTTP)
    },
    Behaviour {
        streams: StreamWays { dispatches_empty: true, ..StreamWays::USUAL },
        event: Some(|_, _, event| if event.data.is_empty() { Heard::Fail } else { Heard::Message }),
        ..Behaviour::legacy("empty-event-fails-stream", "an event without data fails the open requests", HTTP)
    },
    Behaviour {
        streams: StreamWays { skips_priming: true, ..StreamWays::USUAL },
        ..Behaviour::legacy("priming-event-skipped", "the id of an event without data is dropped", HTTP)
    },
    Behaviour {
        streams: StreamWays { takes_id_at_once: true, ..StreamWays::USUAL },
        ..Behaviour::legacy("unfinished-event-id-used", "the id of an event that was cut off is used", HTTP)
    },
    Behaviour {
        resume: Some(|_, _, _, next| next.again = false),
        retry: Some(|_, _, method, outcome, retry| {
            let broken = outcome.as_ref().is_err_and(|failure| failure.kind == "closed" && failure.status.is_none());
            retry.again |= broken && method == "tools/call" && retry.attempts < 2;
        }),
        ..Behaviour::legacy("broken-call-repeated", "a call whose stream ended is sent again", HTTP)
    },
    Behaviour {
        retry: Some(|_, _, method, outcome, retry| {
            let broken = outcome.as_ref().is_err_and(|failure| failure.kind == "closed" && failure.status.is_none());
            if broken && (method == "tools/call" || retry.again) && retry.attempts < 2 {
                (retry.again, retry.same_id) = (true, true);
            }
        }),
        ..Behaviour::modern(
            "broken-call-repeated-with-id",
            "a request whose stream ended is sent again with its id",
            HTTP,
        )
    },
    Behaviour {
        resume: Some(|_, _, _, next| next.unnoticed = true),
        timeout: Some(|_, _, _, limit| *limit = None),
        ..Behaviour::new("broken-stream-unnoticed", "requests wait for a response after their stream has ended", HTTP)
    },
];
