//! Why a conversation did not come about, in words, and what may cure it.

use serde_json::Value;

use super::handshake::PATIENCE;
use crate::{
    evidence::{End, Reply},
    revision::Revision,
    target::{Limits, Start},
    wire,
};

/// What to do about a handshake that ended so; `banner`: something else than messages came.
pub fn help(start: &Start, reply: &Reply, banner: bool, limits: &Limits) -> String {
    match (start, reply.end) {
        (Start::Stdio { .. }, _) if banner => {
            "write nothing but JSON-RPC messages to stdout, one a line; logs and banners belong on stderr. Is this \
             the command that starts the server over stdio?"
                .into()
        }
        (Start::Stdio { .. }, End::Closed) => {
            "run the command by hand; it must stay alive, reading requests from stdin. Is it built, is what it needs \
             installed where this command looks for it (the `python` of a virtualenv), are its variables set (--env)?"
                .into()
        }
        (Start::Stdio { .. }, End::Timeout) => format!(
            "the server must answer `initialize` on stdout, one JSON message a line; a slow one gets more time by \
             --timeout (now {} s, and {PATIENCE} times that for a start)",
            limits.request.as_secs_f32()
        ),
        (Start::Http { .. }, End::Closed) => reply
            .why
            .as_deref()
            .and_then(wire::help)
            .unwrap_or("start the server first and check host, port and path of the URL")
            .into(),
        (Start::Http { headers, .. } | Start::Sse { headers, .. }, _) if lets_nobody_in(reply) => entry(headers),
        (Start::Http { .. } | Start::Sse { .. }, _) if elsewhere(reply).is_some() => {
            "no redirection is followed; give the URL that it leads to, if that is the server to be tested".into()
        }
        (Start::Http { .. }, End::Answered | End::Malformed) => {
            "check the path of the URL (often /mcp); a server of the older HTTP+SSE transport needs --sse URL".into()
        }
        (Start::Http { .. }, End::Timeout) => {
            "something listens there but does not answer; a slow server gets more time by --timeout".into()
        }
        (_, End::Result) => {
            let known: Vec<_> =
                Revision::ALL.into_iter().filter(|known| !known.is_modern()).map(Revision::as_str).collect();
            format!("answer `initialize` with one of {}", known.join(", "))
        }
        (Start::Sse { .. }, _) => "check the path of the URL (often /sse)".into(),
        _ => "look at the answer above: it is no MCP handshake".into(),
    }
}

/// Where the server sends its client instead of answering.
fn elsewhere(reply: &Reply) -> Option<&str> {
    let http = reply.http.as_ref().filter(|http| (300..400).contains(&http.status))?;
    http.headers.get("location").map(String::as_str)
}

/// How to get in.
fn entry(headers: &[(String, String)]) -> String {
    if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
        return "it refused the credentials that it was given: are they meant for this server, and still valid?".into();
    }
    "it asks for authorization: give a token by --bearer-token-command COMMAND or --header 'Authorization: Bearer ...', or \
     by `auth` of the target in mcp-conform.toml"
        .into()
}

/// A 403 alone may be about the host or the origin of the client.
pub fn lets_nobody_in(reply: &Reply) -> bool {
    let asks = |status, challenged| status == 401 || (status == 403 && challenged);
    reply.http.as_ref().is_some_and(|http| asks(http.status, !http.challenges.is_empty()))
}

pub fn answer_in_words(reply: &Reply) -> String {
    let why = reply.why.as_deref().unwrap_or_default();
    let to = elsewhere(reply).map(|place| format!(" to {place}")).unwrap_or_default();
    let status = reply.http.as_ref().map(|http| format!("HTTP {}{to} with ", http.status)).unwrap_or_default();
    match (reply.end, &reply.error, &reply.result) {
        (End::Error, Some(error), _) => format!("{status}the error {error}"),
        (End::Result, _, Some(result)) => match &result["protocolVersion"] {
            Value::String(version) if version.parse::<Revision>().is_err() => {
                format!("`protocolVersion` is \"{version}\", which is no revision of MCP that is known here")
            }
            _ => format!("{status}the result {result}"),
        },
        (End::Timeout, ..) => format!("no answer: {why}"),
        (End::Malformed, ..) => format!("{status}something that is no JSON-RPC message: {why}"),
        (End::Answered, ..) => format!("{status}no JSON-RPC message"),
        _ => format!("{status}{why}"),
    }
}
