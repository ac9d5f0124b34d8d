//! What is sent to the MCP server.

use conform_model::revision::Revision;
use conform_reference_client::{
    behaviour::{
        Behaviour, HTTP,
        decisions::{Posting, Scene},
        memory::Memory,
    },
    oauth::ways::Ways,
};
use serde_json::json;

const fn posts(name: &'static str, about: &'static str, post: fn(&mut Memory, &Scene, &mut Posting)) -> Behaviour {
    Behaviour { post: Some(post), ..Behaviour::new(name, about, HTTP) }
}

fn token(posting: &Posting) -> Option<String> {
    let value = String::from_utf8_lossy(posting.get("authorization")?).into_owned();
    value.strip_prefix("Bearer ").map(str::to_owned)
}

pub static FAULTS: &[Behaviour] = &[
    posts("token-in-other-header", "the token is sent in a header of the client's own too", |_, _, posting| {
        if let Some(token) = token(posting) {
            posting.set("x-access-token", token.as_str());
        }
    }),
    posts("token-without-scheme", "the scheme of the token is left out in calls", |_, _, posting| {
        if let Some(token) = token(posting).filter(|_| posting.rpc() == "tools/call") {
            posting.set("authorization", token.as_str());
        }
    }),
    posts("token-cut-off", "only the first 4096 characters of a token are kept", |_, _, posting| {
        if let Some(token) = token(posting).filter(|token| token.len() > 4096) {
            posting.set("authorization", format!("Bearer {}", &token[..4096]));
        }
    }),
    posts("token-missing-in-calls", "calls have no token", |_, _, posting| {
        if posting.rpc() == "tools/call" {
            posting.headers.retain(|(name, _)| name != "authorization");
        }
    }),
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        ..posts("token-missing-in-delete", "the session is deleted without a token", |_, _, posting| {
            if posting.method == "DELETE" {
                posting.headers.retain(|(name, _)| name != "authorization");
            }
        })
    },
    posts("token-in-query", "the token is sent in the query too", |_, _, posting| {
        if let Some(token) = token(posting) {
            posting.url = format!("{}?access_token={token}", posting.url);
        }
    }),
    posts("token-in-messages", "the token is sent in `_meta` too", |_, _, posting| {
        if let Some(token) = token(posting).filter(|_| posting.rpc() == "tools/call") {
            posting.message["params"]["_meta"]["token"] = json!(token);
            posting.body = posting.message.to_string().into_bytes();
        }
    }),
    super::decides(
        "refresh-token-sent-to-server",
        "the refresh token is sent to the MCP server",
        Ways { shows_refresh: true, ..Ways::USUAL },
    ),
];
