//! Access control of the protected server, which is an OAuth resource server.

use std::collections::HashMap;

use hyper::{
    HeaderMap, StatusCode,
    header::{AUTHORIZATION, WWW_AUTHENTICATE},
    http::request::Parts,
};
use serde_json::Value;

use crate::http::{
    body::{Body, Reply, empty},
    grants::Grants,
    legacy::SESSION,
    request::text,
};

/// A token that a client may send.
pub struct Token {
    pub name: &'static str,
    pub value: &'static str,
    user: &'static str,
    pub scopes: &'static str,
    /// It is valid, and was issued for this server.
    good: bool,
}

const fn token(name: &'static str, value: &'static str, scopes: &'static str) -> Token {
    Token { name, value, user: "ada", scopes, good: true }
}

/// A token with nothing valid except the signature.
const fn bad(name: &'static str, value: &'static str) -> Token {
    Token { name, value, user: "ada", scopes: ALL, good: false }
}

pub const READ: &str = "notes:read";
pub const ALL: &str = "notes:read notes:write notes:share";

/// The tokens of the authorization server, and those of other issuers.
pub const TOKENS: [Token; 10] = [
    token("own", "ref-tok-own-5f1c2a90d7", ALL),
    token("narrow", "ref-tok-narrow-81b3c6e2f4", READ),
    token("broad", "ref-tok-broad-27d9e0a6b1", "notes:read notes:admin"),
    // Its audience is this server, in capitals.
    token("upper", "ref-tok-upper-c40f8b53ea", ALL),
    Token { user: "bob", ..token("second", "ref-tok-second-9ae7d15c02", ALL) },
    bad("expired", "ref-tok-expired-3b68f7c1d9"),
    bad("foreign", "ref-tok-foreign-e52a90b4c8"),
    bad("unbound", "ref-tok-unbound-706d1f3eb5"),
    bad("alien", "ref-tok-alien-4c9b82e7a0"),
    bad("orphaned", "ref-tok-orphaned-d83e5a61f7"),
];

/// The tool that needs more than the scope for reading, and the argument that selects a private drawer of Ada.
const GUARDED: &str = "touch";
const DRAWER: &str = "drawer-of-ada";

#[derive(Default)]
pub struct Guard {
    /// The owner of each session, by its id.
    owners: HashMap<String, &'static str>,
    /// The owner of each task, by its id.
    tasks: HashMap<String, &'static str>,
    /// What its authorization server granted.
    pub grants: Grants,
}

impl Guard {
    /// The user of the request, or the response that rejects it.
    pub fn admit(&self, head: &Parts, message: &Value) -> Result<&'static str, Box<Reply>> {
        let headers = &head.headers;
        let Some(given) = headers.get(AUTHORIZATION) else { return Err(refusal(headers, 401, None, READ)) };
        let given = given.to_str().unwrap_or_default();
        let Some((scheme, value)) = given.split_once(' ').filter(|(_, value)| !value.trim().is_empty()) else {
            return Err(refusal(headers, 400, Some("invalid_request"), READ));
        };
        let known = TOKENS.iter().find(|token| token.value == value && token.good);
        let Some(token) = known.filter(|_| scheme.eq_ignore_ascii_case("bearer")) else {
            return Err(refusal(headers, 401, Some("invalid_token"), READ));
        };
        let owner = text(headers, SESSION).and_then(|id| self.owners.get(id));
        if owner.is_some_and(|owner| *owner != token.user) {
            return Err(empty(StatusCode::NOT_FOUND).into());
        }
        let task = message["params"]["taskId"].as_str().and_then(|id| self.tasks.get(id));
        if task.is_some_and(|owner| *owner != token.user) {
            return Err(empty(StatusCode::FORBIDDEN).into());
        }
        let holds = |scope: &str| token.scopes.split(' ').any(|held| held == scope || held == "notes:admin");
        let calls = |name: &str| message["method"] == "tools/call" && message["params"]["name"] == name;
        if calls(GUARDED) && !ALL.split(' ').all(holds) {
            return Err(refusal(headers, 403, Some("insufficient_scope"), ALL));
        }
        if calls("echo") && message["params"]["arguments"]["text"] == DRAWER && token.user != "ada" {
            return Err(empty(StatusCode::FORBIDDEN).into());
        }
        Ok(token.user)
    }

    pub fn remember(&mut self, user: &'static str, reply: &Reply) {
        if let Some(id) = text(reply.headers(), SESSION) {
            self.owners.insert(id.to_owned(), user);
        }
        let Body::Whole(Some(bytes)) = reply.body() else { return };
        let answer: Value = serde_json::from_slice(bytes).unwrap_or_default();
        if let Some(id) = answer.pointer("/result/taskId").and_then(Value::as_str) {
            self.tasks.entry(id.to_owned()).or_insert(user);
        }
    }
}

/// The address that the client used.
pub fn origin(headers: &HeaderMap) -> String {
    format!("http://{}", text(headers, "host").unwrap_or("127.0.0.1"))
}

fn refusal(headers: &HeaderMap, status: u16, error: Option<&str>, scope: &str) -> Box<Reply> {
    let origin = origin(headers);
    let error = error.map(|error| format!("error=\"{error}\", ")).unwrap_or_default();
    let metadata = format!("{origin}/.well-known/oauth-protected-resource/mcp");
    let challenge = format!("Bearer {error}scope=\"{scope}\", resource_metadata=\"{metadata}\"");
    let mut reply = empty(StatusCode::from_u16(status).unwrap_or(StatusCode::UNAUTHORIZED));
    if let Ok(challenge) = challenge.parse() {
        reply.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    reply.into()
}
