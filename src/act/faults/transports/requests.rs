//! Further faults in HTTP requests, their responses and event streams.

use serde_json::json;

use crate::{
    act::{
        faults::{
            behaviour::{Behaviour, HTTP, SSE, WEB},
            decisions::Moment,
        },
        message,
        transport::streams::StreamWays,
    },
    revision::Revision,
};

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        post: Some(|_, _, posting| {
            if let Some(id) = posting.get(SESSION).map(|id| String::from_utf8_lossy(id).into_owned()) {
                // What has no capitals gets some.
                let lower = id.to_ascii_lowercase();
                posting.set(SESSION, if lower == id { id.to_ascii_uppercase() } else { lower });
            }
        }),
        ..Behaviour::legacy("session-id-lower-cased", "the session id is sent in another case", HTTP)
    },
    Behaviour {
        guesses_endpoint: true,
        ..Behaviour::legacy("posts-before-endpoint", "messages are sent to a guessed endpoint", SSE)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.method == "POST" {
                posting.set("content-type", "application/json; charset=iso-8859-1");
            }
        }),
        ..Behaviour::new("content-type-latin1", "bodies are labelled with another charset than UTF-8", HTTP)
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.early_stream = true),
        ..Behaviour::legacy("get-before-initialized", "the stream of a GET is opened before initialize", HTTP)
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        post: Some(|_, _, posting| {
            if message::is_response(&posting.message) {
                posting.remove(VERSION);
            }
        }),
        ..Behaviour::legacy("version-header-missing-on-responses", "responses have no MCP-Protocol-Version", HTTP)
    },
    Behaviour {
        unasked: Some(|_, _, moment| {
            let get = json!({ "do": "http", "method": "GET" });
            if moment == Moment::Connected { vec![get] } else { Vec::new() }
        }),
        ..Behaviour::modern("get-in-modern", "a stream is opened by GET in a stateless revision", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            let length = posting.body.len();
            let characters = String::from_utf8_lossy(&posting.body).chars().count();
            posting.body.truncate(characters.min(length));
        }),
        ..Behaviour::new("length-in-characters", "a body is cut after as many bytes as it has characters", WEB)
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
        streams: StreamWays { skips_priming: true, ..StreamWays::USUAL },
        ..Behaviour::legacy("priming-event-skipped", "the id of an event without data is dropped", HTTP)
    },
    Behaviour {
        streams: StreamWays { takes_id_at_once: true, ..StreamWays::USUAL },
        ..Behaviour::legacy("unfinished-event-id-used", "the id of an event that was cut off is used", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            let method = posting.rpc().replace('/', "%2F");
            posting.set("mcp-method", method);
        }),
        ..Behaviour::modern("mcp-method-slash-encoded", "the slash in Mcp-Method is percent-encoded", HTTP)
    },
    Behaviour {
        tools: Some(|_, _, all, kept| {
            if kept.len() < all.len() {
                kept.clear();
            }
        }),
        ..Behaviour::modern("bad-tool-spoils-list", "one tool with an invalid x-mcp-header spoils the list", HTTP)
    },
    stream(
        "stream-read-to-its-end",
        "a response counts when its event stream has ended",
        StreamWays { waits_for_end: true, ..StreamWays::USUAL },
    ),
    stream(
        "comment-ends-event",
        "a comment ends the event around it",
        StreamWays { comment_ends_event: true, ..StreamWays::USUAL },
    ),
    stream(
        "carriage-return-kept",
        "a carriage return does not end a line and stays in the data",
        StreamWays { keeps_returns: true, ..StreamWays::USUAL },
    ),
    stream(
        "unknown-field-fails-stream",
        "an unknown field ends the reading of a stream",
        StreamWays { fails_at_unknown_field: true, ..StreamWays::USUAL },
    ),
];

const fn stream(name: &'static str, about: &'static str, streams: StreamWays) -> Behaviour {
    Behaviour { streams, ..Behaviour::new(name, about, WEB) }
}
