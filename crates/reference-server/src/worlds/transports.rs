//! Worlds for rules about clients: sessions that end, and streams that are closed.

use hyper::{
    StatusCode,
    header::{CONTENT_TYPE, HeaderValue},
};
use serde_json::{Value, json};

use crate::{
    faults::{Behaviour, EVERYWHERE, Heard, Memory, Met, Streaming},
    http::empty,
    options::Transport,
    worlds::made::{error, method, said},
};
use conform_model::revision::Revision;

const HTTP: &[Transport] = &[Transport::Http];
const SSE: &[Transport] = &[Transport::Sse];
const SESSION: &str = "mcp-session-id";

pub static TRANSPORTS: &[Behaviour] = &[
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        meet: Some(end_session),
        ..Behaviour::new("session-ends", "a call with a certain text ends the session", HTTP)
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        meet: Some(|_, request| {
            let over = request["headers"].get(SESSION).is_some();
            if over { Met::Answered(empty(StatusCode::NOT_FOUND)) } else { Met::Served }
        }),
        ..Behaviour::new("sessions-always-over", "each session ends as soon as it begins", HTTP)
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        streaming: Some(Streaming::ClosesGet),
        ..Behaviour::new("get-stream-closes", "GET streams are closed at once", HTTP)
    },
    Behaviour {
        query: "?tenant=a%20b%2Fc",
        ..Behaviour::new("url-with-query", "the URL that the client is given has a query", HTTP)
    },
    Behaviour {
        streaming: Some(Streaming::Breaks),
        ..Behaviour::new("streams-break", "POST streams end after each event", HTTP)
    },
    Behaviour {
        opening: Some(": hello\n\nevent: greeting\ndata: hi\n\nevent: endpoint\ndata: .$endpoint&note=a%20b%2Fc\n\n"),
        reply: Some(|_, request, reply| {
            if request["method"] == "POST" {
                reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
            }
        }),
        ..Behaviour::new(
            "odd-endpoint",
            "the endpoint is a relative path with a query, and other events precede it",
            SSE,
        )
    },
    Behaviour {
        breaks: Some(|message| said(message) == "break"),
        meet: Some(|_, request| {
            let fails = said(&request["message"]) == "500";
            if fails { Met::Answered(empty(StatusCode::INTERNAL_SERVER_ERROR)) } else { Met::Served }
        }),
        ..Behaviour::new("sse-breaks", "a call with a certain text ends the stream of HTTP+SSE", SSE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|_, message| {
            if method(message) != "server/discover" {
                return Heard::Message;
            }
            let mut heard = error(message, -32022, "Unsupported protocol version");
            if let Heard::Answered(response) = &mut heard {
                response["error"]["data"] = json!({ "supported": [Revision::NEWEST], "requested": Revision::NEWEST });
            }
            heard
        }),
        reply: Some(|_, request, reply| {
            if method(&request["message"]) == "server/discover" {
                *reply.status_mut() = StatusCode::BAD_REQUEST;
            }
        }),
        ..Behaviour::new("probe-unsupported", "server/discover fails, and lists the supported versions", EVERYWHERE)
    },
];

fn end_session(memory: &mut Memory, request: &Value) -> Met {
    let Some(id) = request["headers"][SESSION].as_str() else { return Met::Served };
    if memory.keys.contains(id) {
        return Met::Answered(empty(StatusCode::NOT_FOUND));
    }
    if said(&request["message"]) == "end-session" {
        memory.keys.insert(id.to_owned());
    }
    Met::Served
}
