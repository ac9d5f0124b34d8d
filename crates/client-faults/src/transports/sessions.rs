//! Faults in eras and sessions of Streamable HTTP, and in the endpoint of HTTP+SSE.

use std::time::Duration;

use serde_json::json;

use conform_model::revision::Revision;
use conform_reference_client::{
    behaviour::{
        Behaviour, EVERYWHERE, HTTP, SSE, WEB,
        decisions::{Era, Heard, Posting, Probed},
    },
    report::SESSION_OVER,
    transport::streams::StreamWays,
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        era: Some(|_, _, probed, era| {
            if matches!(probed, Probed::Failure(_)) {
                *era = Era::Legacy(Revision::NEWEST_LEGACY);
            }
        }),
        ..Behaviour::modern("any-error-is-legacy", "any error of the probe leads to initialize", EVERYWHERE)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if let Some(id) = session(posting) {
                // An id without capital letters is converted to capitals.
                let lower = id.to_ascii_lowercase();
                posting.set(SESSION, if lower == id { id.to_ascii_uppercase() } else { lower });
            }
        }),
        ..Behaviour::legacy("session-id-lower-cased", "the session id is sent in another case", HTTP)
    },
    Behaviour {
        post: Some(|memory, _, posting| {
            if let Some(id) = session(posting) {
                let first = memory.values.entry("session").or_insert(json!(id)).clone();
                posting.set(SESSION, first.as_str().unwrap_or_default());
            }
        }),
        ..Behaviour::legacy("session-id-of-first-session", "the id of the first session is used for all sessions", HTTP)
    },
    Behaviour {
        head: Some(|memory, _, _, head| {
            if let Some(id) = &head.session {
                memory.keep("session", json!(id));
            }
        }),
        post: Some(|memory, _, posting| {
            if let Some(id) = memory.kept("session").as_str() {
                posting.set(SESSION, id);
            }
        }),
        ..Behaviour::modern("session-id-echoed-in-modern", "a session id is sent back in a stateless revision", HTTP)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| plan.deletes = 0),
        ..Behaviour::legacy("session-never-deleted", "the session is left open at the end", HTTP)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| plan.deletes *= 5),
        ..Behaviour::legacy("delete-repeated", "DELETE is sent five times", HTTP)
    },
    Behaviour {
        restart: Some(|_, _, next| next.again = false),
        ..Behaviour::legacy("session-not-restarted", "after the end of a session every request fails", HTTP)
    },
    Behaviour {
        post: Some(|memory, _, posting| match session(posting) {
            Some(id) => memory.keep("session", json!(id)),
            None => {
                if let (Some(id), "initialize") = (memory.kept("session").as_str(), posting.rpc()) {
                    posting.set(SESSION, id);
                }
            }
        }),
        ..Behaviour::legacy("dead-session-id-on-initialize", "initialize has the id of the session that is over", HTTP)
    },
    Behaviour {
        restart: Some(|_, _, next| (next.again, next.wait) = (next.attempts < 200, Duration::ZERO)),
        retry: Some(|_, _, _, outcome, retry| {
            retry.again |= outcome.as_ref().is_err_and(|failure| failure.kind == SESSION_OVER);
        }),
        ..Behaviour::legacy("session-restarted-forever", "a new session is started whenever one is over", HTTP)
    },
    Behaviour {
        standalone: Some(|_, _, next| next.disconnect = next.status == 405),
        ..Behaviour::legacy("get-405-disconnects", "status 405 for GET ends the connection", HTTP)
    },
    Behaviour {
        standalone: Some(|_, _, next| (next.open, next.wait) = (next.attempts < 200, Duration::ZERO)),
        ..Behaviour::legacy("get-reopened-at-once", "the stream of a GET is opened again without a pause", HTTP)
    },
    Behaviour {
        guesses_endpoint: true,
        ..Behaviour::legacy("posts-before-endpoint", "messages are sent to a guessed endpoint", SSE)
    },
    Behaviour {
        endpoint: Some(|stream, data| rooted(stream, data.split('?').next().unwrap_or_default())),
        ..Behaviour::legacy("endpoint-without-query", "the query of the endpoint is dropped", SSE)
    },
    Behaviour {
        endpoint: Some(|stream, data| format!("{stream}/{}", data.trim_start_matches('/'))),
        ..Behaviour::legacy("endpoint-appended", "the endpoint is appended to the URL of the stream", SSE)
    },
    Behaviour {
        endpoint: Some(|stream, data| rooted(stream, &data.replace('%', "%25"))),
        ..Behaviour::legacy("endpoint-encoded-anew", "escaped characters of the endpoint are escaped once more", SSE)
    },
    Behaviour {
        head: Some(|_, _, posting, head| {
            let text = head.media.as_deref().is_some_and(|media| media == "text/plain");
            head.disconnect = posting.method == "POST" && text && head.status < 300;
        }),
        ..Behaviour::legacy("accepted-text-parsed", "the body of the response to a POST is parsed as JSON", SSE)
    },
    Behaviour {
        event: Some(
            |memory, _, event| {
                if memory.first("event") && event.name != "endpoint" { Heard::Break } else { Heard::Message }
            },
        ),
        ..Behaviour::legacy("endpoint-must-come-first", "another event before the endpoint ends the client", SSE)
    },
    Behaviour {
        streams: StreamWays { idle: Some(Duration::from_millis(300)), ..StreamWays::USUAL },
        ..Behaviour::legacy("idle-stream-closed", "a stream that brings nothing for 300 ms is closed", SSE)
    },
    Behaviour {
        ignores_loss: true,
        timeout: Some(|_, _, _, limit| *limit = None),
        ..Behaviour::legacy("sse-loss-unnoticed", "requests wait for a stream that has ended", SSE)
    },
    Behaviour {
        restart: Some(|_, _, next| next.handshake = false),
        ..Behaviour::legacy("sse-stream-reopened-silently", "a new stream is used without initialize", SSE)
    },
    Behaviour {
        head: Some(|_, _, _, head| head.unnoticed = head.status >= 400),
        timeout: Some(|_, _, method, limit| {
            if method != "server/discover" && method != "initialize" {
                *limit = None;
            }
        }),
        ..Behaviour::new("http-error-unnoticed", "requests wait for a response after an HTTP error", WEB)
    },
];

const SESSION: &str = "mcp-session-id";

fn session(posting: &Posting) -> Option<String> {
    posting.get(SESSION).map(|id| String::from_utf8_lossy(id).into_owned())
}

/// A path at the server of a stream.
fn rooted(stream: &str, path: &str) -> String {
    if path.contains("://") {
        return path.to_owned();
    }
    let host = stream.split('/').take(3).collect::<Vec<_>>().join("/");
    format!("{host}/{}", path.trim_start_matches('/'))
}
