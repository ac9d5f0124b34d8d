//! Faults in how HTTP responses and event streams are read.

use serde_json::json;

use crate::act::{
    faults::{
        behaviour::{Behaviour, HTTP},
        simple::{reject, said},
    },
    message::HEADER_MISMATCH,
    report::Failure,
    transport::streams::StreamWays,
};

/// What a line buffer of 64 KiB holds.
const BUFFER: usize = 64 << 10;

pub static EVENTS: &[Behaviour] = &[
    Behaviour {
        outcome: Some(|_, action, outcome| {
            if said(action).starts_with("json") {
                reject(outcome, "not an event stream");
            }
        }),
        ..Behaviour::new("json-response-as-event-stream", "JSON is read as an event stream", HTTP)
    },
    Behaviour {
        head: Some(|_, _, _, head| {
            if head.content_type.as_deref().is_some_and(|kind| kind.starts_with("Application")) {
                head.media = None;
            }
        }),
        ..Behaviour::new("json-type-compared-whole", "the type of JSON is compared with its parameters", HTTP)
    },
    Behaviour {
        outcome: Some(|_, action, outcome| {
            if said(action).starts_with("stream") {
                reject(outcome, "not JSON");
            }
        }),
        also: &["client-http-answer-kind-may-change", "client-sse-event-name-message"],
        ..Behaviour::new("event-stream-unsupported", "only JSON is read", HTTP)
    },
    Behaviour {
        streams: StreamWays { waits_for_end: true, ..StreamWays::USUAL },
        ..Behaviour::new("stream-buffered-until-end", "an event stream is read to its end first", HTTP)
    },
    Behaviour {
        streams: StreamWays { first_event_only: true, ..StreamWays::USUAL },
        ..Behaviour::new("first-event-only", "only the first event of a stream is read", HTTP)
    },
    Behaviour {
        outcome: Some(|_, action, outcome| {
            if said(action) == "stream" {
                reject(outcome, "the first response was JSON");
            }
        }),
        also: &["client-http-accepts-event-stream", "client-sse-event-name-message"],
        ..Behaviour::new("first-response-type-kept", "every response has to have the type of the first", HTTP)
    },
    Behaviour {
        outcome: Some(|_, action, outcome| {
            if ["html", "no-type"].contains(&said(action)) {
                *outcome = Err(Failure::new("timeout", "no response in time"));
            }
        }),
        ..Behaviour::new("other-type-unnoticed", "a response of another type does not end its request", HTTP)
    },
    Behaviour {
        head: Some(|_, _, _, head| head.reads_body &= head.status < 400),
        ..Behaviour::modern("error-body-not-read", "the body of an error is not read", HTTP)
    },
    Behaviour {
        head: Some(|memory, _, _, head| {
            if head.status == 404 {
                memory.count("404");
            }
        }),
        outcome: Some(|memory, _, outcome| {
            if memory.counts.contains_key("404") {
                *outcome = Err(Failure::closed("the endpoint is gone"));
            }
        }),
        ..Behaviour::modern("status-404-disconnects", "status 404 ends the connection", HTTP)
    },
    Behaviour {
        retry: Some(|_, _, _, outcome, retry| {
            let mismatch = outcome.as_ref().is_err_and(|failure| failure.code() == Some(HEADER_MISMATCH));
            retry.again |= mismatch && retry.attempts < 8;
        }),
        ..Behaviour::modern("mismatch-repeated", "a request is repeated as long as its headers are rejected", HTTP)
    },
    Behaviour {
        outcome: Some(|_, action, outcome| {
            if said(action) == "quick"
                && let Ok(result) = outcome
            {
                result["content"][0]["text"] = json!("quick after");
            }
        }),
        ..Behaviour::new("one-request-at-a-time", "a request waits until the one before it has ended", HTTP)
    },
    Behaviour {
        head: Some(|_, _, posting, head| {
            if head.status == 202 && posting.rpc() == "notifications/initialized" {
                head.status = 500;
            }
        }),
        ..Behaviour::legacy("status-202-disconnects", "a response without a body is an error", HTTP)
    },
    Behaviour {
        event: Some(|_, _, event| !event.data.contains("ping-on-get")),
        ..Behaviour::legacy("get-stream-not-dispatched", "requests on the stream of GET are not handled", HTTP)
    },
    Behaviour {
        event: Some(|_, _, event| !event.data.contains("ping-on-post")),
        ..Behaviour::legacy("requests-on-post-streams-ignored", "requests on streams of POST are not handled", HTTP)
    },
    streams(
        "comment-is-data",
        "comments are read as data",
        StreamWays { comments_are_data: true, ..StreamWays::USUAL },
    ),
    streams("events-need-lf", "lines end in LF only", StreamWays { line_feeds_only: true, ..StreamWays::USUAL }),
    streams(
        "each-data-line-is-a-message",
        "each data line is a message",
        StreamWays { each_data_line: true, ..StreamWays::USUAL },
    ),
    streams(
        "last-data-line-only",
        "only the last data line counts",
        StreamWays { last_data_line: true, ..StreamWays::USUAL },
    ),
    streams(
        "each-chunk-is-an-event",
        "each chunk is an event",
        StreamWays { chunk_is_event: true, ..StreamWays::USUAL },
    ),
    streams(
        "decodes-each-chunk",
        "each chunk is decoded by itself",
        StreamWays { decodes_chunks: true, ..StreamWays::USUAL },
    ),
    streams(
        "first-event-of-chunk-only",
        "of the events in a chunk only the first is read",
        StreamWays { first_of_chunk: true, ..StreamWays::USUAL },
    ),
    streams("space-after-colon-needed", "a field needs a space", StreamWays { needs_space: true, ..StreamWays::USUAL }),
    streams(
        "byte-order-mark-fails-stream",
        "a byte order mark is part of the first line",
        StreamWays { keeps_byte_order_mark: true, ..StreamWays::USUAL },
    ),
    streams(
        "event-buffer-64k",
        "lines of more than 64 KiB are dropped",
        StreamWays { longest_line: Some(BUFFER), ..StreamWays::USUAL },
    ),
    streams(
        "unfinished-event-used",
        "an event without its end is used",
        StreamWays { keeps_unfinished: true, ..StreamWays::USUAL },
    ),
    Behaviour {
        event: Some(|_, _, event| event.name == "message" || event.data.is_empty()),
        ..Behaviour::new("named-events-only", "events without a name are dropped", HTTP)
    },
    Behaviour {
        event: Some(|memory, _, event| {
            let odd = event.data.contains("\"stream\"") && event.name == "message";
            memory.count("events");
            !odd
        }),
        also: &["client-http-accepts-event-stream", "client-http-answer-kind-may-change"],
        ..Behaviour::new("unnamed-events-only", "an event with a name is dropped", HTTP)
    },
    Behaviour {
        event: Some(|memory, _, event| {
            if event.name == "ping" {
                memory.count("other");
            }
            true
        }),
        outcome: Some(|memory, _, outcome| {
            if memory.counts.remove("other").is_some() {
                reject(outcome, "unknown event");
            }
        }),
        ..Behaviour::new("other-event-fails-stream", "an event of another name is an error", HTTP)
    },
];

const fn streams(name: &'static str, about: &'static str, ways: StreamWays) -> Behaviour {
    Behaviour { streams: ways, ..Behaviour::new(name, about, HTTP) }
}
