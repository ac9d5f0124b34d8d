//! Opens the URL of an `http` step as a browser, in which the user of the configuration logs in.

use serde_json::{Value, json};

use conform_model::evidence::{End, Reply};
use conform_session::Session;
use conform_suite::LoginEnd;
use conform_wire::HttpRequest;

/// The reply is the redirect to the client, or the last response.
pub async fn login(session: &Session, request: &HttpRequest, end: LoginEnd) -> Value {
    let done = session.login(request, end == LoginEnd::Deny).await;
    let ended = if done.http.is_some() { End::Answered } else { End::Closed };
    let mut saved = json!(Reply { http: done.http, frames: done.frames, why: done.why, ..Reply::ended(ended) });
    let pages: Vec<Value> = done.pages.iter().map(|page| json!({ "http": page })).collect();
    saved["login"] = json!({ "pages": pages, "posted": done.posted });
    with_issued(session, saved)
}

/// The reply, with what is known of the code and the tokens in it.
pub fn with_issued(session: &Session, mut reply: Value) -> Value {
    const PLACES: [(&str, &str); 3] = [
        ("code", "/http/redirect/query/code"),
        ("access_token", "/body/access_token"),
        ("refresh_token", "/body/refresh_token"),
    ];
    for (kind, place) in PLACES {
        let token = reply.pointer(place).and_then(Value::as_str);
        if let Some(described) = token.and_then(|token| session.described(token)) {
            reply["issued"][kind] = described;
        }
    }
    reply
}
