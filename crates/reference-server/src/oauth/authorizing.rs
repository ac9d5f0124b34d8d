//! The authorization endpoint. The user consents at once.

use hyper::{
    StatusCode,
    header::{HeaderValue, LOCATION},
};
use serde_json::json;

use super::{
    AUTHORIZATION, Origin, State,
    book::{Book, Grant},
    documents::{json_reply, marked},
    form::{Form, with_query},
};
use crate::http::{Reply, empty};

pub fn authorize(book: &mut Book, at: Origin, query: &str) -> Reply {
    let settings = book.settings;
    let form = Form::read(query.as_bytes());
    let Some(redirect) = form.get("redirect_uri").filter(|uri| uri.starts_with("http")) else {
        return marked(json_reply(400, &json!({ "error": "invalid_request" })), AUTHORIZATION);
    };
    let mut response = Vec::new();
    if let Some(error) = settings.denied {
        response.push(("error", error.to_owned()));
    } else {
        response.push(("code", code(book, at, query, form.get("scope"))));
    }
    match (settings.state, form.get("state")) {
        (State::Returned, Some(state)) => response.push(("state", state.to_owned())),
        (State::Changed, Some(state)) => response.push(("state", format!("{state}-forged"))),
        _ => {}
    }
    let iss = book.filled(settings.iss, at);
    if !iss.is_empty() {
        response.push(("iss", iss));
    }
    let mut reply = empty(StatusCode::FOUND);
    match HeaderValue::try_from(with_query(redirect, &response)) {
        Ok(location) => _ = reply.headers_mut().insert(LOCATION, location),
        Err(_) => *reply.status_mut() = StatusCode::BAD_REQUEST,
    }
    marked(reply, AUTHORIZATION)
}

/// The same request gets the same code.
fn code(book: &mut Book, at: Origin, query: &str, scope: Option<&str>) -> String {
    if let Some(code) = book.codes.get(&(at, query.to_owned())) {
        return code.clone();
    }
    let code = book.issue("code", "code", at);
    book.codes.insert((at, query.to_owned()), code.clone());
    book.grants.insert(code.clone(), Grant { issuer: at, scope: scope.map(str::to_owned), redeemed: false });
    code
}
