//! The token endpoint. Of what a client has to send only the code or the refresh token decides whether it gets a token.

use hyper::{Method, body::Bytes, header::CACHE_CONTROL, http::request::Parts};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    Origin, Refresh, TOKEN,
    book::{Access, Book, Renewal},
    documents::{json_reply, marked},
    form::Form,
};
use crate::http::Reply;

/// All characters of `token68`.
const ODD: &str = "AZaz09-._~+/";
const ODD_LENGTH: usize = 6000;

pub fn token(book: &mut Book, at: Origin, head: &Parts, body: &Bytes) -> Reply {
    let settings = book.settings;
    let error = |status, error: &str| marked(json_reply(status, &json!({ "error": error })), TOKEN);
    let form = Form::read(body);
    if let Some((status, why)) = settings.token_error {
        return error(status, why);
    }
    if head.method != Method::POST {
        return error(405, "invalid_request");
    }
    let (scope, old) = match form.get("grant_type") {
        Some("authorization_code") => {
            let Some(grant) = form.get("code").and_then(|code| book.grants.get_mut(code)) else {
                return error(400, "invalid_grant");
            };
            if grant.redeemed || grant.issuer != at {
                return error(400, "invalid_grant");
            }
            grant.redeemed = true;
            (grant.scope.clone().unwrap_or_else(|| "mcp:tools".to_owned()), None)
        }
        Some("refresh_token") => {
            let old = form.get("refresh_token").unwrap_or_default();
            let valid = settings.refresh != Refresh::Dead;
            let known = book.refresh.get(old).filter(|known| valid && !known.over && known.issuer == at);
            let Some(renewal) = known else { return error(400, "invalid_grant") };
            (renewal.scope.clone(), Some(old.to_owned()))
        }
        _ => return error(400, "unsupported_grant_type"),
    };
    let scope = settings.granted.map_or(scope, str::to_owned);
    let response = grant(book, at, &scope, old.as_deref());
    let mut reply = json_reply(200, &response);
    reply.headers_mut().insert(CACHE_CONTROL, hyper::header::HeaderValue::from_static("no-store"));
    marked(reply, TOKEN)
}

/// A new access token, and the refresh token that belongs to it.
fn grant(book: &mut Book, at: Origin, scope: &str, old: Option<&str>) -> Value {
    let settings = book.settings;
    let mut access = book.unique("access");
    if settings.odd_token {
        access = access + &ODD.repeat(ODD_LENGTH / ODD.len()) + "==";
    }
    book.keep("access token", access.clone(), at);
    book.access.insert(access.clone(), Access { scope: scope.to_owned(), since: Instant::now() });
    let mut response = json!({ "access_token": access, "token_type": settings.token_type });
    if let Some(seconds) = settings.expires_in {
        response["expires_in"] = json!(seconds);
        response["scope"] = json!(scope);
    }
    let renews = match settings.refresh {
        Refresh::None => false,
        Refresh::Rotates | Refresh::Dead => true,
        Refresh::Keeps => old.is_none(),
    };
    if renews {
        if let Some(old) = old.and_then(|old| book.refresh.get_mut(old)) {
            old.over = true;
        }
        let token = book.issue("refresh token", "refresh", at);
        book.refresh.insert(token.clone(), Renewal { issuer: at, scope: scope.to_owned(), over: false });
        response["refresh_token"] = json!(token);
    }
    response
}
