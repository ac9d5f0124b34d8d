//! Faults in the handling of responses and event streams over HTTP.

use serde_json::json;

use conform_reference_client::{
    behaviour::{Behaviour, HTTP, WEB, code_of, decisions::Heard},
    message::HEADER_MISMATCH,
    transport::streams::StreamWays,
};

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        head: Some(|_, _, posting, head| {
            // If the handshake failed, the fault would not show.
            if head.media.as_deref() == Some(JSON) && head.status < 300 && posting.rpc() == "tools/call" {
                head.media = Some(EVENTS.to_owned());
            }
        }),
        ..Behaviour::new("json-response-as-event-stream", "every response is read as an event stream", HTTP)
    },
    Behaviour {
        head: Some(|_, _, _, head| {
            let known = [JSON, EVENTS].iter().any(|known| head.content_type.as_deref() == Some(known));
            if !known && head.content_type.is_some() {
                head.media = Some("unknown".to_owned());
            }
        }),
        ..Behaviour::new("json-type-compared-whole", "a media type with parameters is not known", HTTP)
    },
    Behaviour {
        head: Some(|_, _, posting, head| {
            if posting.method == "POST" && head.media.as_deref() == Some(EVENTS) {
                head.media = Some("unknown".to_owned());
            }
        }),
        ..Behaviour::new("event-stream-unsupported", "event streams are not read as responses to POST", HTTP)
    },
    Behaviour {
        head: Some(|memory, _, posting, head| {
            let known = head.media.as_deref().is_some_and(|media| media == EVENTS || media == JSON);
            if posting.method == "POST" && known && head.status < 300 {
                let first = memory.values.entry("type").or_insert(json!(head.media)).clone();
                head.media = first.as_str().map(str::to_owned);
            }
        }),
        ..Behaviour::new("first-response-type-kept", "the media type of the first response is expected of all", HTTP)
    },
    Behaviour {
        head: Some(|_, _, _, head| {
            let spelt = head.spelling.iter().find(|name| name.eq_ignore_ascii_case("content-type"));
            // The two forms that servers usually write.
            if spelt.is_some_and(|name| name != "content-type" && name != "Content-Type") {
                head.media = None;
            }
            let spelt = head.spelling.iter().find(|name| name.eq_ignore_ascii_case("mcp-session-id"));
            if spelt.is_some_and(|name| name != "mcp-session-id" && name != "Mcp-Session-Id") {
                head.session = None;
            }
        }),
        ..Behaviour::new("header-names-compared-whole", "header names in unusual case are not known", HTTP)
    },
    Behaviour {
        head: Some(|_, _, posting, head| {
            let known = head.media.as_deref().is_some_and(|media| media == EVENTS || media == JSON);
            head.unnoticed = head.status == 200 && !known && posting.message.get("id").is_some();
        }),
        timeout: Some(|_, _, _, limit| *limit = None),
        ..Behaviour::new("other-type-unnoticed", "requests wait for a response after one of another media type", HTTP)
    },
    Behaviour {
        head: Some(|_, _, _, head| head.reads_body &= head.status < 400),
        ..Behaviour::modern("error-body-not-read", "the body of a response with an error status is not read", HTTP)
    },
    Behaviour {
        head: Some(|_, scene, _, head| head.disconnect = scene.modern && head.status == 404),
        ..Behaviour::modern("status-404-disconnects", "status 404 ends the connection", HTTP)
    },
    Behaviour {
        head: Some(|_, _, _, head| head.disconnect = head.status == 202),
        ..Behaviour::legacy("status-202-disconnects", "status 202 ends the connection", HTTP)
    },
    Behaviour {
        retry: Some(|_, _, _, outcome, retry| {
            if code_of(outcome) == Some(HEADER_MISMATCH) {
                (retry.again, retry.refresh) = (retry.attempts < 50, false);
            }
        }),
        ..Behaviour::modern("mismatch-repeated", "a request is repeated as long as it gets the error -32020", HTTP)
    },
    Behaviour {
        retry: Some(|_, _, _, _, retry| {
            if retry.refresh {
                (retry.again, retry.refresh) = (false, false);
            }
        }),
        ..Behaviour::modern("mismatch-reported", "the error -32020 is reported without another attempt", HTTP)
    },
    Behaviour {
        one_request: true,
        ..Behaviour::new("one-request-at-a-time", "a request waits until no other one is open", HTTP)
    },
    Behaviour {
        event: Some(|_, _, event| if event.standalone { Heard::Nothing } else { Heard::Message }),
        ..Behaviour::legacy("get-stream-not-dispatched", "what comes on the stream of a GET is dropped", HTTP)
    },
    Behaviour {
        event: Some(|_, _, event| {
            let asks = event.data.contains("\"method\"") && event.data.contains("\"id\"");
            if asks && !event.standalone { Heard::Nothing } else { Heard::Message }
        }),
        ..Behaviour::legacy(
            "requests-on-post-streams-ignored",
            "requests of the server on the stream of a POST are dropped",
            HTTP,
        )
    },
    stream(
        "stream-buffered-until-end",
        "an event stream is handled when it has ended",
        StreamWays { waits_for_end: true, ..StreamWays::USUAL },
    ),
    stream(
        "stream-read-to-its-end",
        "a response counts when its event stream has ended",
        StreamWays { waits_for_end: true, ..StreamWays::USUAL },
    ),
    // Since 2026-07-28 only comments come before the response.
    Behaviour {
        until: Some(conform_model::revision::Revision::NEWEST_LEGACY),
        ..stream(
            "first-event-only",
            "only the first events of a stream are read",
            StreamWays { first_event_only: true, first_of_chunk: true, ..StreamWays::USUAL },
        )
    },
    stream(
        "comment-ends-event",
        "a comment ends the event around it",
        StreamWays { comment_ends_event: true, ..StreamWays::USUAL },
    ),
    stream("comment-is-data", "comments count as data", StreamWays { comments_are_data: true, ..StreamWays::USUAL }),
    stream(
        "events-need-lf",
        "events end at two line feeds only",
        StreamWays { line_feeds_only: true, ..StreamWays::USUAL },
    ),
    stream(
        "carriage-return-kept",
        "a carriage return does not end a line and stays in the data",
        StreamWays { keeps_returns: true, ..StreamWays::USUAL },
    ),
    stream(
        "each-data-line-is-a-message",
        "each data line of an event is read as a message",
        StreamWays { each_data_line: true, ..StreamWays::USUAL },
    ),
    stream(
        "last-data-line-only",
        "only the last data line of an event counts",
        StreamWays { last_data_line: true, ..StreamWays::USUAL },
    ),
    stream(
        "each-chunk-is-an-event",
        "each chunk of a body is read as an event",
        StreamWays { chunk_is_event: true, ..StreamWays::USUAL },
    ),
    stream(
        "decodes-each-chunk",
        "each chunk of a body is decoded by itself",
        StreamWays { decodes_chunks: true, ..StreamWays::USUAL },
    ),
    stream(
        "space-after-colon-needed",
        "a field without a space after its colon is dropped",
        StreamWays { needs_space: true, ..StreamWays::USUAL },
    ),
    stream(
        "unknown-field-fails-stream",
        "an unknown field ends the reading of a stream",
        StreamWays { fails_at_unknown_field: true, ..StreamWays::USUAL },
    ),
    stream(
        "byte-order-mark-fails-stream",
        "a byte order mark spoils the first line of a stream",
        StreamWays { keeps_byte_order_mark: true, fails_at_unknown_field: true, ..StreamWays::USUAL },
    ),
    stream(
        "event-buffer-64k",
        "a line of more than 64 KiB ends the reading of a stream",
        StreamWays { longest_line: Some(64 * 1024), ..StreamWays::USUAL },
    ),
    stream(
        "unfinished-event-used",
        "an event that the end of the stream cuts off is used",
        StreamWays { keeps_unfinished: true, ..StreamWays::USUAL },
    ),
    Behaviour {
        event: Some(|_, _, event| if event.name.is_empty() { Heard::Nothing } else { Heard::Message }),
        ..Behaviour::new("named-events-only", "events without a name are dropped", HTTP)
    },
    Behaviour {
        event: Some(|_, _, event| if event.name == "message" { Heard::Nothing } else { Heard::Message }),
        ..Behaviour::new("unnamed-events-only", "events with the name `message` are dropped", HTTP)
    },
    Behaviour {
        event: Some(|_, _, event| match event.name.as_str() {
            "" | "message" | "endpoint" => Heard::Message,
            _ => Heard::Break,
        }),
        ..Behaviour::new("other-event-fails-stream", "an event with another name ends the reading of a stream", WEB)
    },
];

const fn stream(name: &'static str, about: &'static str, streams: StreamWays) -> Behaviour {
    Behaviour { streams, ..Behaviour::new(name, about, WEB) }
}
