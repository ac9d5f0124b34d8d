//! Assigns an HTTP request to a part of the server.

use std::{error::Error, fmt, future};

use hyper::{
    HeaderMap, Method, Request, StatusCode,
    body::{Bytes, Incoming},
    header::{ALLOW, CONTENT_TYPE},
    http::request::Parts,
};
use serde_json::Value;

use crate::{
    era,
    faults::{Bodies, HttpRequest, Met},
    http::{
        authority,
        body::{Body, Reply, empty, events_of, json},
        by_id::exchanged,
        headers::VERSION,
        hub::{Hub, Shared, lock},
        legacy::{self, SESSION},
        modern,
        request::{is_foreign, refused, text, whole_body},
        sse,
    },
};
use conform_model::revision::Revision;

/// The connection is closed without a response.
#[derive(Debug)]
pub struct HungUp;

impl fmt::Display for HungUp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("stopped by its fault")
    }
}

impl Error for HungUp {}

pub async fn route(hub: Shared, request: Request<Incoming>) -> Result<Reply, HungUp> {
    let (head, body) = request.into_parts();
    let Some(bytes) = whole_body(body).await else { return Ok(empty(StatusCode::PAYLOAD_TOO_LARGE)) };
    respond(hub, head, bytes).await
}

/// The response to a complete request.
pub async fn respond(hub: Shared, mut head: Parts, bytes: Bytes) -> Result<Reply, HungUp> {
    let exchange = HttpRequest::new(&head, &bytes);
    let overlooked = lock(&hub).server.faults.overlooked_headers(&exchange);
    for name in &overlooked {
        head.headers.remove(name.as_str());
    }
    if lock(&hub).server.faults.hangs_up(&exchange) {
        return Err(HungUp);
    }
    match lock(&hub).server.faults.meet(&exchange) {
        Met::Served => {}
        Met::Answered(reply) => return Ok(reply),
        Met::HungUp => return Err(HungUp),
    }
    let keeps_waiting = lock(&hub).server.faults.keeps_waiting(&exchange);
    if keeps_waiting {
        future::pending::<()>().await;
    }
    let unheard = lock(&hub).server.faults.unheard(&exchange);
    let protected = lock(&hub).guard.is_some();
    let mut reply = match unheard {
        Some(reply) => reply,
        None if protected => guarded(&hub, &head, &bytes, &overlooked, &exchange),
        None => serve(&hub, &head, &bytes, &overlooked),
    };
    let ways = lock(&hub).server.faults.ways();
    if head.method == Method::POST && head.uri.path() == "/mcp" {
        reply = carried(reply, ways.bodies).await;
        let message = exchange.message();
        // Before the handshake, there is no table of requests yet.
        let is_request = message.get("method").is_some_and(|method| method != "initialize");
        if let Some(id) = message.get("id").filter(|_| ways.by_id && is_request) {
            reply = exchanged(&hub, id, reply);
        }
    }
    if let (Body::Events(_, change), Some(event)) = (reply.body_mut(), ways.event) {
        *change = Some(event);
    }
    lock(&hub).server.faults.reword(&exchange, &mut reply);
    Ok(reply)
}

/// The same response with a body in the form that the server always uses.
async fn carried(mut reply: Reply, bodies: Bodies) -> Reply {
    let is_json = reply.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    let is_json = is_json && reply.status().is_success();
    match (bodies, reply.body_mut()) {
        (Bodies::Events, Body::Whole(Some(bytes))) if is_json => {
            let mut stream = events_of(std::slice::from_ref(bytes));
            for (name, value) in reply.headers() {
                if name != CONTENT_TYPE {
                    stream.headers_mut().insert(name, value.clone());
                }
            }
            stream
        }
        (Bodies::Json, Body::Events(events, _)) => {
            let mut last = Bytes::new();
            while let Some(event) = events.recv().await {
                last = event;
            }
            let text = String::from_utf8_lossy(&last);
            let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect::<String>();
            json(200, data.into_bytes())
        }
        _ => reply,
    }
}

/// Admits only requests that the guard accepts, unless the fault disables it.
fn guarded(hub: &Shared, head: &Parts, bytes: &Bytes, overlooked: &[String], exchange: &HttpRequest) -> Reply {
    if let Some(reply) = lock(hub).guard.as_mut().and_then(|guard| authority::serve(&mut guard.grants, head, bytes)) {
        return reply;
    }
    let admitted = {
        let mut hub = lock(hub);
        match (&hub.guard, is_foreign(&head.headers)) {
            (Some(guard), false) => guard.admit(head, exchange.message()),
            _ => Ok(""),
        }
        .or_else(|refusal| if hub.server.faults.unguarded(exchange) { Ok("") } else { Err(refusal) })
    };
    match admitted {
        Ok(user) => {
            let reply = serve(hub, head, bytes, overlooked);
            if let Some(guard) = &mut lock(hub).guard {
                guard.remember(user, &reply);
            }
            reply
        }
        Err(refusal) => *refusal,
    }
}

pub fn serve(hub: &Shared, head: &Parts, bytes: &Bytes, overlooked: &[String]) -> Reply {
    let headers = &head.headers;
    if is_foreign(headers) {
        return empty(StatusCode::FORBIDDEN);
    }
    match (head.uri.path(), &head.method) {
        ("/mcp", &Method::POST) => post(hub, headers, bytes, overlooked),
        ("/mcp", &Method::GET | &Method::DELETE) if lock(hub).server.faults.ways().stateless => not_allowed("POST"),
        ("/mcp", &Method::GET) if has_sessions(hub, headers) => legacy::get(hub, headers),
        ("/mcp", &Method::DELETE) if has_sessions(hub, headers) => legacy::delete(hub, headers),
        ("/sse", &Method::GET) => sse::get(hub, headers),
        ("/messages", &Method::POST) => sse::post(hub, head.uri.query().unwrap_or_default(), bytes),
        ("/mcp", _) => not_allowed("POST, GET, DELETE"),
        ("/sse", _) => not_allowed("GET"),
        ("/messages", _) => not_allowed("POST"),
        _ => empty(StatusCode::NOT_FOUND),
    }
}

fn post(hub: &Shared, headers: &HeaderMap, bytes: &Bytes, overlooked: &[String]) -> Reply {
    if let Some(status) = refused(headers) {
        return empty(status);
    }
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return legacy::unreadable(hub, headers, bytes);
    };
    if is_modern(&lock(hub), headers, &value) {
        modern::post(hub, headers, value, overlooked)
    } else if lock(hub).server.faults.ways().stateless {
        modern::sessionless(hub, headers, value)
    } else if value.get("method").is_some_and(|method| method == "initialize") {
        legacy::open(hub, value)
    } else {
        legacy::post(hub, headers, value)
    }
}

/// A message is modern if its body says so, or if its header does and no session contradicts it.
fn is_modern(hub: &Hub, headers: &HeaderMap, value: &Value) -> bool {
    let modern = hub.server.newest().is_modern();
    if !modern || !has_legacy(hub) {
        return modern;
    }
    let opens = value.get("method").is_some_and(|method| method == "initialize");
    let legacy_header = text(headers, VERSION)
        .is_none_or(|version| version.parse::<Revision>().is_ok_and(|revision| !revision.is_modern()));
    !opens && (era::is_modern(value) || (!headers.contains_key(SESSION) && !legacy_header))
}

fn has_sessions(hub: &Shared, headers: &HeaderMap) -> bool {
    let modern = text(headers, VERSION).is_some_and(|version| version.parse().is_ok_and(Revision::is_modern));
    (!modern || headers.contains_key(SESSION)) && has_legacy(&lock(hub))
}

fn has_legacy(hub: &Hub) -> bool {
    hub.server.revisions.first().is_some_and(|revision| !revision.is_modern())
}

fn not_allowed(methods: &'static str) -> Reply {
    let mut reply = empty(StatusCode::METHOD_NOT_ALLOWED);
    reply.headers_mut().insert(ALLOW, hyper::header::HeaderValue::from_static(methods));
    reply
}
