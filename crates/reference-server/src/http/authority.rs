//! The metadata of a protected server, and a small authorization server. It grants tokens to the one confidential client
//! that it knows, and to other clients for the codes that its only user approves.

use std::sync::atomic::{AtomicUsize, Ordering};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use hyper::{
    HeaderMap, Method, StatusCode,
    body::Bytes,
    header::{
        AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, COOKIE, HeaderValue, LOCATION, SET_COOKIE, WWW_AUTHENTICATE,
        X_FRAME_OPTIONS,
    },
    http::request::Parts,
};
use serde_json::{Value, json};

use crate::{
    http::{
        body::{Reply, empty, json as answer},
        grants::{Grants, Lax},
        guard::{ALL, READ, TOKENS, origin},
        request::text,
    },
    oauth::form::{Form, with_query},
};

pub const CLIENT: (&str, &str) = ("reference-client", "ref-secret-60b7e41c95");
/// A client without a secret, and its redirect URI.
pub const APP: (&str, &str) = ("reference-app", "http://127.0.0.1:4999/callback");
const HOUR: u32 = 3600;
/// The id of a client that registered has its redirect URIs.
const REGISTERED: &str = "registered-";
/// Such an id ends with this if the client may refresh tokens.
const REFRESHING: &str = ".refreshing";

/// How many clients have registered.
static REGISTRATIONS: AtomicUsize = AtomicUsize::new(1);

/// The response, if the request is about authorization and not about MCP.
pub fn serve(grants: &mut Grants, head: &Parts, body: &Bytes) -> Option<Reply> {
    let origin = origin(&head.headers);
    Some(match (&head.method, head.uri.path()) {
        (&Method::GET, "/.well-known/oauth-protected-resource/mcp") => document(&json!({
            "resource": format!("{origin}/mcp"),
            "authorization_servers": [origin],
            "scopes_supported": ALL.split(' ').collect::<Vec<_>>(),
            "bearer_methods_supported": ["header"],
        })),
        (&Method::GET, "/.well-known/oauth-authorization-server" | "/mcp/.well-known/oauth-authorization-server") => {
            document(&metadata(&origin))
        }
        (&Method::GET, "/.well-known/openid-configuration") => {
            let mut metadata = metadata(&origin);
            metadata["jwks_uri"] = json!(format!("{origin}/keys"));
            metadata["subject_types_supported"] = json!(["public"]);
            metadata["id_token_signing_alg_values_supported"] = json!(["ES256"]);
            document(&metadata)
        }
        (&Method::POST, "/token") => token(grants, head, body),
        (_, "/token") => refused(405, "invalid_request"),
        (&Method::GET, "/authorize") => {
            let query = head.uri.query().unwrap_or_default();
            authorize(grants, &origin, query, is_logged_in(grants, head), None)
        }
        (&Method::POST, "/login") => log_in(grants, &Form::read(body)),
        (&Method::POST, "/consent") if is_logged_in(grants, head) => {
            let form = Form::read(body);
            authorize(grants, &origin, form.get("request").unwrap_or_default(), true, form.get("decision"))
        }
        (_, "/authorize") => empty(StatusCode::METHOD_NOT_ALLOWED),
        (&Method::POST, "/register") => register(&origin, body),
        (&Method::DELETE, path) if path.starts_with("/register/") => empty(StatusCode::NO_CONTENT),
        _ => return None,
    })
}

fn metadata(origin: &str) -> Value {
    json!({
        "issuer": origin,
        "authorization_endpoint": format!("{origin}/authorize"),
        "token_endpoint": format!("{origin}/token"),
        "registration_endpoint": format!("{origin}/register"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "scopes_supported": ALL.split(' ').collect::<Vec<_>>(),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
    })
}

fn document(document: &Value) -> Reply {
    answer(200, document.to_string().into_bytes())
}

fn refused(status: u16, error: &str) -> Reply {
    let mut reply = answer(status, json!({ "error": error }).to_string().into_bytes());
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

fn granted(tokens: &Value) -> Reply {
    let mut reply = document(tokens);
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

fn token(grants: &mut Grants, head: &Parts, body: &Bytes) -> Reply {
    let form = Form::read(body);
    let is_form = text(&head.headers, CONTENT_TYPE.as_str())
        .is_some_and(|media| media.starts_with("application/x-www-form-urlencoded"));
    let Some(grant) = form.get("grant_type").filter(|_| is_form && !form.repeats()) else {
        return refused(400, "invalid_request");
    };
    let Some(id) = authenticated(&head.headers, &form) else {
        let mut reply = refused(401, "invalid_client");
        reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"reference\""));
        return reply;
    };
    match grant {
        "authorization_code" => {
            grants.redeem(&form, id).map_or_else(|error| refused(400, error), |tokens| granted(&tokens))
        }
        "refresh_token" => {
            grants.refresh(&form, id).map_or_else(|error| refused(400, error), |tokens| granted(&tokens))
        }
        "client_credentials" if id == CLIENT.0 => {
            let name = if form.get("scope") == Some("notes:read") { "narrow" } else { "own" };
            let found = TOKENS.iter().find(|token| token.name == name);
            let (value, scope) = found.map_or(("", READ), |token| (token.value, token.scopes));
            granted(&json!({ "access_token": value, "token_type": "Bearer", "expires_in": HOUR, "scope": scope }))
        }
        "client_credentials" => refused(400, "unauthorized_client"),
        _ => refused(400, "unsupported_grant_type"),
    }
}

/// The client of a token request, if it is known.
fn authenticated<'f>(headers: &HeaderMap, form: &'f Form) -> Option<&'f str> {
    let known = format!("Basic {}", STANDARD.encode(format!("{}:{}", CLIENT.0, CLIENT.1)));
    match text(headers, AUTHORIZATION.as_str()) {
        Some(given) => (given == known).then_some(CLIENT.0),
        None => form.get("client_id").filter(|id| redirect_uris(id).is_some()),
    }
}

/// The redirect URIs of a client without a secret.
fn redirect_uris(id: &str) -> Option<Vec<String>> {
    if id == APP.0 {
        return Some(vec![APP.1.to_owned()]);
    }
    let decoded = URL_SAFE_NO_PAD.decode(id.strip_prefix(REGISTERED)?.split('.').next()?).ok()?;
    serde_json::from_slice(&decoded).ok()
}

fn is_logged_in(grants: &Grants, head: &Parts) -> bool {
    text(&head.headers, COOKIE.as_str()).is_some_and(|cookies| grants.is_logged_in(cookies))
}

/// Whether a client may get refresh tokens.
fn refreshes(id: &str) -> bool {
    id == APP.0 || id.ends_with(REFRESHING)
}

fn log_in(grants: &mut Grants, form: &Form) -> Reply {
    let request = form.get("request").unwrap_or_default();
    let Some(cookie) = grants.log_in(form) else { return login_page(request) };
    let mut reply = empty(StatusCode::SEE_OTHER);
    for (name, value) in [(SET_COOKIE, cookie), (LOCATION, format!("/authorize?{request}"))] {
        if let Ok(value) = HeaderValue::try_from(value) {
            reply.headers_mut().insert(name, value);
        }
    }
    reply
}

fn form(action: &str, request: &str, inputs: &str) -> String {
    let request = request.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<form method=\"post\" action=\"{action}\"><input type=\"hidden\" name=\"request\" value=\"{request}\">{inputs}</form>"
    )
}

fn login_page(request: &str) -> Reply {
    let inputs = "<input name=\"username\"><input type=\"password\" name=\"password\"><button>Log in</button>";
    page(200, &format!("Log in.{}", form("/login", request, inputs)))
}

fn consent_page(request: &str, client: &str) -> Reply {
    let button = |name: &str| format!("<button name=\"decision\" value=\"{name}\">{name}</button>");
    let client: String = client.chars().filter(|c| c.is_alphanumeric() || "-._".contains(*c)).collect();
    let inputs = button("allow") + &button("deny");
    page(200, &format!("Do you permit {client} to use your notes?{}", form("/consent", request, &inputs)))
}

/// Without a decision of the user, a valid request ends at the login or at the consent.
fn authorize(grants: &mut Grants, origin: &str, query: &str, is_logged_in: bool, decision: Option<&str>) -> Reply {
    let form = Form::read(query.as_bytes());
    let id = form.get("client_id").unwrap_or_default();
    let known = if id == CLIENT.0 {
        Some(form.get("redirect_uri").filter(|uri| uri.starts_with("http://localhost")).map(str::to_owned))
    } else {
        redirect_uris(id).map(|known| match form.get("redirect_uri") {
            Some(uri) => known.into_iter().find(|known| known == uri || without_port(known) == without_port(uri)),
            None => known.into_iter().next().filter(|_| redirect_uris(id).is_some_and(|known| known.len() == 1)),
        })
    };
    let Some(Some(_)) = known.filter(|_| !form.repeats()) else {
        return page(400, "This request cannot be processed.");
    };
    let redirect = form.get("redirect_uri").unwrap_or(APP.1);
    let scopes = form.get("scope").unwrap_or(READ);
    let resource_fits = |uri: &str| uri.contains("://") && !uri.contains('#');
    let error = match form.get("response_type") {
        None => Some("invalid_request"),
        Some("code") if grants.is_lax(Lax::Challenge) && form.get("code_challenge").is_none() => None,
        Some("code") if form.get("code_challenge").is_none_or(str::is_empty) => Some("invalid_request"),
        Some("code") if form.get("code_challenge_method") != Some("S256") => Some("invalid_request"),
        Some("code") if !form.get("resource").is_none_or(resource_fits) => Some("invalid_target"),
        Some("code")
            if !grants.is_lax(Lax::Scope)
                && !scopes.split(' ').all(|scope| ALL.split(' ').any(|known| known == scope)) =>
        {
            Some("invalid_scope")
        }
        Some("code") => None,
        Some(_) => Some("unsupported_response_type"),
    };
    let outcome = match (error, decision) {
        (Some(error), _) => ("error", error.to_owned()),
        (None, None) if is_logged_in => return consent_page(query, id),
        (None, None) => return login_page(query),
        (None, Some("allow")) => ("code", grants.code(&form, scopes.to_owned(), refreshes(id))),
        (None, Some(_)) => ("error", "access_denied".to_owned()),
    };
    let mut response = vec![outcome, ("iss", origin.to_owned())];
    response.extend(form.get("state").map(|state| ("state", state.to_owned())));
    let mut reply = empty(StatusCode::FOUND);
    if let Ok(location) = HeaderValue::try_from(with_query(redirect, &response)) {
        reply.headers_mut().insert(LOCATION, location);
    }
    reply
}

/// For a loopback address any port is right.
fn without_port(uri: &str) -> Option<String> {
    let (port, path) = uri.strip_prefix("http://127.0.0.1:")?.split_once('/')?;
    port.parse::<u16>().ok().map(|_| path.to_owned())
}

fn page(status: u16, words: &str) -> Reply {
    let mut reply = answer(status, format!("<!doctype html><title>Reference</title><p>{words}").into_bytes());
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    reply
}

fn register(origin: &str, body: &Bytes) -> Reply {
    let Ok(Value::Object(mut client)) = serde_json::from_slice::<Value>(body) else {
        return refused(400, "invalid_client_metadata");
    };
    let uris = client.get("redirect_uris").and_then(Value::as_array).cloned().unwrap_or_default();
    let local = ["http://localhost", "http://127.0.0.1", "http://[::1]"];
    let fits = |uri: &str| {
        let authority = uri.split('/').nth(2).unwrap_or_default();
        let is_plain = !uri.contains('#') && !authority.contains('@');
        is_plain
            && (uri.starts_with("https://")
                || local
                    .iter()
                    .any(|host| uri.starts_with(&format!("{host}:")) || uri.starts_with(&format!("{host}/"))))
    };
    if uris.is_empty() || !uris.iter().all(|uri| uri.as_str().is_some_and(fits)) {
        return refused(400, "invalid_redirect_uri");
    }
    let number = REGISTRATIONS.fetch_add(1, Ordering::Relaxed);
    let wanted = client.get("grant_types").and_then(Value::as_array).cloned().unwrap_or_default();
    let refreshes = wanted.iter().any(|grant| grant == "refresh_token");
    let suffix = if refreshes { REFRESHING } else { "" };
    let id = format!("{REGISTERED}{}.{number}{suffix}", URL_SAFE_NO_PAD.encode(json!(uris).to_string()));
    client.insert("registration_client_uri".to_owned(), json!(format!("{origin}/register/{id}")));
    client.insert("registration_access_token".to_owned(), json!(format!("ref-registration-{number}")));
    client.insert("client_id".to_owned(), json!(id));
    client.insert("token_endpoint_auth_method".to_owned(), json!("none"));
    for (name, usual) in [("grant_types", json!(["authorization_code"])), ("response_types", json!(["code"]))] {
        client.entry(name).or_insert(usual);
    }
    let granted: &[&str] = if refreshes { &["authorization_code", "refresh_token"] } else { &["authorization_code"] };
    client.insert("grant_types".to_owned(), json!(granted));
    let mut reply = answer(201, Value::Object(client).to_string().into_bytes());
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}
