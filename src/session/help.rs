//! Explains why a session could not be opened, and how to fix it.

use serde_json::Value;

use super::handshake::PATIENCE;
use crate::{
    evidence::{End, Reply},
    revision::Revision,
    target::{Limits, Start},
    wire,
};

/// How to fix a handshake that ended like this; `banner`: the server wrote something other than messages.
pub fn help(start: &Start, reply: &Reply, banner: bool, limits: &Limits) -> String {
    match (start, reply.end) {
        (Start::Stdio { .. }, _) if banner => {
            "write only JSON-RPC messages to stdout, one per line; write logs and banners to stderr. Is this \
             the command that starts the server over stdio?"
                .into()
        }
        (Start::Stdio { .. }, End::Closed) => {
            "run the command by hand; it must keep running and read requests from stdin. Is it built, are its dependencies \
             installed where this command looks for them (the `python` of a virtualenv), are its variables set (--env)?"
                .into()
        }
        (Start::Stdio { .. }, End::Timeout) => format!(
            "the server must reply to `initialize` on stdout, one JSON message per line; to give it more time, use \
             --timeout (now {} s, and {PATIENCE} times that for a start)",
            limits.request.as_secs_f32()
        ),
        (Start::Http { .. }, End::Closed) => reply
            .cause
            .and_then(wire::help)
            .unwrap_or("start the server first and check host, port and path of the URL")
            .into(),
        (Start::Http { headers, .. } | Start::Sse { headers, .. }, _) if requires_authorization(reply) => entry(headers),
        (Start::Http { .. } | Start::Sse { .. }, _) if elsewhere(reply).is_some() => {
            "redirects are not followed; use the target URL if that is the server to test".into()
        }
        (Start::Http { .. }, End::Answered | End::Malformed) => reply
            .cause
            .and_then(wire::help)
            .unwrap_or("check the path of the URL (often /mcp); use --sse URL for the older HTTP+SSE transport")
            .into(),
        (Start::Http { .. }, End::Timeout) => {
            "the port is open but does not respond; give a slow server more time with --timeout".into()
        }
        (_, End::Result) => {
            let known: Vec<_> =
                Revision::ALL.into_iter().filter(|known| !known.is_modern()).map(Revision::as_str).collect();
            format!("reply to `initialize` with one of {}", known.join(", "))
        }
        (Start::Sse { .. }, _) => "check the path of the URL (often /sse)".into(),
        _ => "reply to `initialize` with a result that has `protocolVersion`, `capabilities` and `serverInfo`".into(),
    }
}

/// Where the server redirects its client.
fn elsewhere(reply: &Reply) -> Option<&str> {
    let http = reply.http.as_ref().filter(|http| (300..400).contains(&http.status))?;
    http.headers.get("location").map(String::as_str)
}

/// How to get authorization.
fn entry(headers: &[(String, String)]) -> String {
    if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
        return "the server rejected the credentials: are they for this server, and still valid?".into();
    }
    "the server requires authorization: pass a token with --bearer-token-command COMMAND or --header 'Authorization: Bearer ...', or \
     with `auth` of the target in mcp-conform.toml"
        .into()
}

/// A 403 without a challenge may be about the host or origin of the client.
pub fn requires_authorization(reply: &Reply) -> bool {
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
                format!("`protocolVersion` is \"{version}\", which is not a known MCP revision")
            }
            _ => format!("{status}the result {result}"),
        },
        (End::Timeout, ..) => format!("no response: {why}"),
        (End::Malformed, ..) => format!("{status}an invalid JSON-RPC message: {why}"),
        (End::Answered, ..) => format!("{status}no JSON-RPC message"),
        _ => format!("{status}{why}"),
    }
}
