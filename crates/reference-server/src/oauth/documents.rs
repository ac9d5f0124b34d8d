//! An authorization server: its metadata, and which request is for which endpoint.

use hyper::{Method, StatusCode, body::Bytes, http::request::Parts};
use serde_json::{Value, json};

use super::{
    About, NOTHING, Origin, Registration, SERVER_METADATA, authorizing, book::Book, registering, settings::Document,
    tokens,
};
use crate::http::{Reply, empty};

pub fn serve(book: &mut Book, at: Origin, head: &Parts, body: &Bytes) -> Reply {
    let path = head.uri.path();
    let is_server = at != Origin::Canary;
    let documents = if is_server { book.settings.documents } else { &[] };
    if let Some(document) = documents.iter().find(|document| document.at == path && head.method == Method::GET) {
        return marked(json_reply(200, &metadata(book, at, document)), SERVER_METADATA);
    }
    let endpoint = if is_server { book.endpoint(path) } else { None };
    match (endpoint, &head.method) {
        (Some((_, "/authorize")), &Method::GET) => authorizing::authorize(book, at, head.uri.query().unwrap_or("")),
        (Some((_, "/token")), _) => tokens::token(book, at, head, body),
        (Some((_, "/register")), _) if book.settings.registration != Registration::Absent => {
            registering::register(book, at, head, body)
        }
        _ if path.contains("/.well-known/") => marked(empty(StatusCode::NOT_FOUND), SERVER_METADATA),
        _ => marked(empty(StatusCode::NOT_FOUND), NOTHING),
    }
}

fn metadata(book: &Book, at: Origin, document: &Document) -> Value {
    let settings = book.settings;
    let endpoint = |name: &str| format!("{}{}{name}{}", book.origin(at), document.endpoints, settings.query);
    let mut metadata = json!({
        "issuer": book.filled(settings.issuer, at),
        "authorization_endpoint": endpoint("/authorize"),
        "token_endpoint": endpoint("/token"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": settings.auth_methods,
        "scopes_supported": settings.server_scopes,
        "x_unknown_to_all": { "nested": [1, null] },
    });
    if document.openid {
        metadata["jwks_uri"] = json!(endpoint("/keys"));
        metadata["subject_types_supported"] = json!(["public"]);
        metadata["id_token_signing_alg_values_supported"] = json!(["RS256"]);
        metadata["claims_supported"] = json!(["sub"]);
    }
    if settings.registration != Registration::Absent {
        metadata["registration_endpoint"] = json!(endpoint("/register"));
    }
    let optional = [
        ("code_challenge_methods_supported", json!(settings.challenge_methods)),
        ("authorization_response_iss_parameter_supported", json!(settings.iss_advertised)),
        ("client_id_metadata_document_supported", json!(settings.client_documents)),
    ];
    for (name, value) in optional.into_iter().filter(|(_, value)| !value.is_null()) {
        metadata[name] = value;
    }
    metadata
}

pub fn json_reply(status: u16, value: &Value) -> Reply {
    crate::http::json(status, value.to_string().into_bytes())
}

pub fn marked(mut reply: Reply, about: About) -> Reply {
    reply.extensions_mut().insert(about);
    reply
}
