//! The MCP server: its resource metadata, and which requests it rejects.

use hyper::{
    Method, StatusCode,
    body::Bytes,
    header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE},
    http::request::Parts,
};
use serde_json::{Value, json};

use super::{
    MCP, NOTHING, Origin, RESOURCE_METADATA,
    book::Book,
    documents::{json_reply, marked},
    settings::{Accepts, Calls, Protects},
};
use crate::http::{Body, Reply, empty, request::text};

/// The response, unless the request is let through.
pub fn meet(book: &mut Book, head: &Parts, body: &Bytes) -> Option<Reply> {
    let path = head.uri.path();
    if path != "/mcp" {
        return Some(elsewhere(book, head));
    }
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    let calls = message["method"] == "tools/call";
    if book.settings.protects == Protects::Calls && !calls && !head.headers.contains_key(AUTHORIZATION) {
        return None;
    }
    let given = text(&head.headers, AUTHORIZATION.as_str()).and_then(|value| value.split_once(' '));
    let token = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
    let Some(token) = token.filter(|token| accepts(book, token)) else {
        return Some(marked(refusal(book, 401, given.is_some().then_some("invalid_token"), None), MCP));
    };
    let scope = book.access.get(token).map(|access| access.scope.clone()).unwrap_or_default();
    let has = |wanted: &str| scope.split(' ').any(|scope| scope == wanted);
    match book.settings.calls {
        Calls::Scope(wanted) if calls && !has(wanted) => {
            Some(marked(refusal(book, 403, Some("insufficient_scope"), Some(wanted)), MCP))
        }
        Calls::Never(wanted) if calls => {
            Some(marked(refusal(book, 403, Some("insufficient_scope"), Some(wanted)), MCP))
        }
        Calls::Forbidden if calls => Some(marked(empty(StatusCode::FORBIDDEN), MCP)),
        _ => {
            book.accepted += 1;
            book.first.get_or_insert_with(|| token.to_owned());
            None
        }
    }
}

fn accepts(book: &Book, token: &str) -> bool {
    let Some(access) = book.access.get(token) else { return false };
    let is_first = book.first.as_deref().is_none_or(|first| first == token);
    match book.settings.accepts {
        Accepts::Nothing => false,
        Accepts::Until(times) if is_first && book.accepted >= times => false,
        _ => access.since.elapsed() < book.settings.lasts,
    }
}

fn elsewhere(book: &Book, head: &Parts) -> Reply {
    let (path, settings) = (head.uri.path(), book.settings);
    let reply = match () {
        () if head.method != Method::GET => empty(StatusCode::NOT_FOUND),
        () if settings.resource_at.contains(&path) => {
            if let Some(text) = settings.no_metadata {
                let mut reply = empty(StatusCode::OK);
                let media = if text.starts_with('<') { "text/html" } else { "application/json" };
                reply.headers_mut().insert("content-type", HeaderValue::from_static(media));
                *reply.body_mut() = Body::Whole(Some(text.into()));
                reply
            } else {
                let servers: Vec<String> =
                    settings.servers.iter().map(|server| book.filled(server, Origin::As1)).collect();
                json_reply(200, &metadata(book, &servers, true))
            }
        }
        () if settings.decoy_at.contains(&path) => {
            json_reply(200, &metadata(book, &[book.origin(Origin::Decoy).to_owned()], false))
        }
        () => empty(StatusCode::NOT_FOUND),
    };
    let about =
        if path.contains("/.well-known/") || reply.status() == StatusCode::OK { RESOURCE_METADATA } else { NOTHING };
    marked(reply, about)
}

fn metadata(book: &Book, servers: &[String], right: bool) -> Value {
    let resource = if right { book.settings.resource } else { "{mcp}/mcp" };
    let mut metadata = json!({
        "resource": book.filled(resource, Origin::As1),
        "authorization_servers": servers,
        "bearer_methods_supported": ["header"],
        "resource_name": "a protected server",
    });
    if !book.settings.resource_scopes.is_empty() {
        metadata["scopes_supported"] = json!(book.settings.resource_scopes);
    }
    metadata
}

/// The challenge of the world. One of status 403 is the same in all worlds.
fn refusal(book: &Book, status: u16, error: Option<&str>, scope: Option<&str>) -> Reply {
    let metadata = format!("{}{}", book.origin(Origin::Mcp), book.settings.named);
    let challenge = book.settings.challenge.replace("{metadata}", &metadata);
    let error = error.map(|error| format!(", error=\"{error}\"")).unwrap_or_default();
    let challenge = match scope {
        Some(scope) => format!("Bearer resource_metadata=\"{metadata}\", scope=\"{scope}\"{error}"),
        None if challenge.ends_with('"') => challenge + &error,
        None => challenge,
    };
    let mut reply = empty(StatusCode::from_u16(status).unwrap_or(StatusCode::UNAUTHORIZED));
    for line in challenge.lines() {
        if let Ok(value) = HeaderValue::from_str(line) {
            reply.headers_mut().append(WWW_AUTHENTICATE, value);
        }
    }
    reply
}
