//! The metadata of a protected server, and a small authorization server that grants tokens to the one client that it
//! knows.

use hyper::{
    Method, StatusCode,
    body::Bytes,
    header::{AUTHORIZATION, LOCATION},
    http::request::Parts,
};
use serde_json::{Value, json};

use crate::http::{
    body::{Reply, empty, json as answer},
    guard::{ALL, READ, TOKENS, origin},
    request::text,
};

pub const CLIENT: (&str, &str) = ("reference-client", "ref-secret-60b7e41c95");
const HOUR: u32 = 3600;

/// The response, if the request is about authorization and not about MCP.
pub fn serve(head: &Parts, body: &Bytes) -> Option<Reply> {
    let origin = origin(&head.headers);
    Some(match (&head.method, head.uri.path()) {
        (&Method::GET, "/.well-known/oauth-protected-resource/mcp") => document(&json!({
            "resource": format!("{origin}/mcp"),
            "authorization_servers": [origin],
            "scopes_supported": ALL.split(' ').collect::<Vec<_>>(),
            "bearer_methods_supported": ["header"],
        })),
        (&Method::GET, "/.well-known/oauth-authorization-server" | "/mcp/.well-known/oauth-authorization-server") => {
            document(&json!({
                "issuer": origin,
                "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "client_credentials"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            }))
        }
        (&Method::POST, "/token") => token(head, body),
        (&Method::GET, "/authorize") => authorize(head.uri.query().unwrap_or_default()),
        (&Method::POST, "/register") => register(body),
        _ => return None,
    })
}

fn document(document: &Value) -> Reply {
    answer(200, document.to_string().into_bytes())
}

fn refused(status: u16, error: &str) -> Reply {
    answer(status, json!({ "error": error }).to_string().into_bytes())
}

fn token(head: &Parts, body: &Bytes) -> Reply {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let known = format!("Basic {}", STANDARD.encode(format!("{}:{}", CLIENT.0, CLIENT.1)));
    let form = String::from_utf8_lossy(body);
    let field = |name: &str| form.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    if field("grant_type").is_none() {
        return refused(400, "invalid_request");
    }
    if text(&head.headers, AUTHORIZATION.as_str()) != Some(known.as_str()) {
        return refused(401, "invalid_client");
    }
    if field("grant_type") != Some("client_credentials") {
        return refused(400, "unsupported_grant_type");
    }
    let name = if field("scope") == Some("notes%3Aread") { "narrow" } else { "own" };
    let granted = TOKENS.iter().find(|token| token.name == name);
    let (value, scope) = granted.map_or(("", READ), |token| (token.value, token.scopes));
    document(&json!({ "access_token": value, "token_type": "Bearer", "expires_in": HOUR, "scope": scope }))
}

/// There is no user to consent, so a valid request ends at the login.
fn authorize(query: &str) -> Reply {
    let field = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    let local = field("redirect_uri").is_some_and(|uri| uri.starts_with("http%3A%2F%2Flocalhost"));
    if field("client_id") != Some(CLIENT.0) || !local || field("code_challenge").is_none() {
        return refused(400, "invalid_request");
    }
    let mut reply = empty(StatusCode::FOUND);
    reply.headers_mut().insert(LOCATION, hyper::header::HeaderValue::from_static("/login"));
    reply
}

fn register(body: &Bytes) -> Reply {
    let Ok(wanted) = serde_json::from_slice::<Value>(body) else { return refused(400, "invalid_client_metadata") };
    let uris = wanted["redirect_uris"].as_array().map(Vec::as_slice).unwrap_or_default();
    let fits = |uri: &Value| {
        uri.as_str().is_some_and(|uri| uri.starts_with("https://") || uri.starts_with("http://localhost"))
    };
    if uris.is_empty() || !uris.iter().all(fits) {
        return refused(400, "invalid_redirect_uri");
    }
    answer(201, json!({ "client_id": "registered-1", "redirect_uris": uris }).to_string().into_bytes())
}
