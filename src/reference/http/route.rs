//! Which part of the server an HTTP request is for.

use std::convert::Infallible;

use hyper::{HeaderMap, Method, Request, StatusCode, body::Incoming, header::ALLOW, http::request::Parts};
use serde_json::Value;

use crate::{
    reference::{
        era,
        faults::HttpRequest,
        http::{
            body::{Reply, empty},
            headers::VERSION,
            hub::{Hub, Shared, lock},
            legacy::{self, SESSION},
            modern,
            request::{is_foreign, refused, text, whole_body},
            sse,
        },
    },
    revision::Revision,
};

pub async fn route(hub: Shared, request: Request<Incoming>) -> Result<Reply, Infallible> {
    let (mut head, body) = request.into_parts();
    for ignored in lock(&hub).server.faults.ignored_headers() {
        head.headers.remove(ignored.as_str());
    }
    let exchange = HttpRequest::new(&head);
    let unheard = lock(&hub).server.faults.unheard(&exchange);
    let mut reply = match unheard {
        Some(status) => empty(status),
        None => serve(&hub, &head, body).await,
    };
    lock(&hub).server.faults.reword(&exchange, &mut reply);
    Ok(reply)
}

async fn serve(hub: &Shared, head: &Parts, body: Incoming) -> Reply {
    let headers = &head.headers;
    if is_foreign(headers) {
        return empty(StatusCode::FORBIDDEN);
    }
    match (head.uri.path(), &head.method) {
        ("/mcp", &Method::POST) => post(hub, headers, body).await,
        ("/mcp", &Method::GET) if has_sessions(hub, headers) => legacy::get(hub, headers),
        ("/mcp", &Method::DELETE) if has_sessions(hub, headers) => legacy::delete(hub, headers),
        ("/sse", &Method::GET) => sse::get(hub, headers),
        ("/messages", &Method::POST) => match whole_body(body).await {
            Some(bytes) => sse::post(hub, head.uri.query().unwrap_or_default(), &bytes),
            None => empty(StatusCode::PAYLOAD_TOO_LARGE),
        },
        ("/mcp", _) => not_allowed("POST, GET, DELETE"),
        ("/sse", _) => not_allowed("GET"),
        ("/messages", _) => not_allowed("POST"),
        _ => empty(StatusCode::NOT_FOUND),
    }
}

async fn post(hub: &Shared, headers: &HeaderMap, body: Incoming) -> Reply {
    if let Some(status) = refused(headers) {
        return empty(status);
    }
    let Some(bytes) = whole_body(body).await else { return empty(StatusCode::PAYLOAD_TOO_LARGE) };
    let Ok(value) = serde_json::from_slice::<Value>(&bytes) else {
        return legacy::unreadable(hub, headers);
    };
    if is_modern(&lock(hub), headers, &value) {
        modern::post(hub, headers, value)
    } else if value.get("method").is_some_and(|method| method == "initialize") {
        legacy::open(hub, value)
    } else {
        legacy::post(hub, headers, value)
    }
}

/// A message is modern if it says so itself, or if its header does and no session speaks against it.
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
    let modern = text(headers, VERSION).is_some_and(|version| version == Revision::V2026_07_28.as_str());
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
