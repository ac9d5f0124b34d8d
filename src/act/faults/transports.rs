//! Faults in stdio, Streamable HTTP and HTTP+SSE.

use std::time::Duration;

use crate::act::{
    faults::behaviour::{Behaviour, HTTP, STDIO, WEB},
    transport::streams::StreamWays,
};

pub static TRANSPORTS: &[Behaviour] = &[
    Behaviour {
        spell: Some(|_, message, bytes| {
            *bytes = serde_json::to_vec_pretty(message).unwrap_or_default();
            bytes.push(b'\n');
        }),
        ..Behaviour::new("stdio-pretty-printed", "messages are written over several lines", STDIO)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| {
            plan.close_stdin = false;
            plan.wait = Duration::ZERO;
            plan.term = false;
            plan.wait_after_term = Duration::ZERO;
        }),
        ..Behaviour::new("stdio-killed-at-once", "the server is killed without closing its stdin first", STDIO)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.method == "POST" {
                posting.set("accept", "application/json");
            }
        }),
        ..Behaviour::new("accept-json-only", "POST requests accept JSON only", HTTP)
    },
    Behaviour {
        streams: StreamWays { line_feeds_only: true, ..StreamWays::USUAL },
        ..Behaviour::new("sse-line-feeds-only", "lines of event streams end in line feeds only", WEB)
    },
];
