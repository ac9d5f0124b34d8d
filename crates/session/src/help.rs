//! Explains why a session could not be opened, and how to fix it.

use std::sync::Arc;

use serde_json::Value;

use super::{conversation::Opener, echo::echo, handshake::PATIENCE, negotiated::Session};
use conform_model::{
    error::Error,
    evidence::{Cause, End, Frame, FrameKind, Reply, Side},
    revision::Revision,
};
use conform_wire as wire;
use conform_wire::{
    last_words,
    target::{Limits, Start},
};

/// Characters shown of a line that is not a message.
const BANNER: usize = 120;

/// How to fix a handshake that ended like this; `banner`: the server wrote something other than messages.
fn help(start: &Start, reply: &Reply, banner: bool, limits: &Limits) -> String {
    let able = start.capabilities();
    let (process, endpoint, http) = (able.process, able.endpoint, able.stream_per_request);
    match reply.end {
        _ if process && banner => {
            "write only JSON-RPC messages to stdout, one per line; write logs and banners to stderr. Is this \
             the command that starts the server over stdio?"
                .into()
        }
        End::Closed if process => {
            "run the command by hand; it must keep running and read requests from stdin. Is it built, are its dependencies \
             installed where this command looks for them (the `python` of a virtualenv), are its variables set (--env)?"
                .into()
        }
        End::Timeout if process => format!(
            "the server must reply to `initialize` on stdout, one JSON message per line; to give it more time, use \
             --timeout (now {} s, and {PATIENCE} times that for a start)",
            limits.request.as_secs_f32()
        ),
        End::Closed if http => reply
            .cause
            .and_then(wire::help)
            .unwrap_or("start the server first and check host, port and path of the URL")
            .into(),
        _ if requires_authorization(reply) => entry(start.headers()),
        _ if elsewhere(reply).is_some() => {
            "redirects are not followed; use the target URL if that is the server to test".into()
        }
        End::Answered | End::Malformed if http => reply
            .cause
            .and_then(wire::help)
            .unwrap_or("check the path of the URL (often /mcp); use --sse URL for the older HTTP+SSE transport")
            .into(),
        End::Timeout if http => {
            "the port is open but does not respond; give a slow server more time with --timeout".into()
        }
        End::Result => {
            let known: Vec<_> =
                Revision::ALL.into_iter().filter(|known| !known.is_modern()).map(Revision::as_str).collect();
            format!("reply to `initialize` with one of {}", known.join(", "))
        }
        _ if endpoint => "check the path of the URL (often /sse)".into(),
        _ => "reply to `initialize` with a result that has `protocolVersion`, `capabilities` and `serverInfo`".into(),
    }
}

impl Opener {
    pub(super) fn not_spoken(&self, asked: Revision, reply: &Reply, session: &Session) -> Error {
        match reply.end {
            End::Result | End::Error if !requires_authorization(reply) => {
                Error::NotSpoken { asked, offered: answer_in_words(reply) }
            }
            _ => self.explain(reply, session),
        }
    }

    pub(super) fn explain(&self, reply: &Reply, session: &Session) -> Error {
        let tried = self.target.name.clone();
        if let Some(line) = echo(&self.recorder) {
            let came = format!("its own input: `{}`", excerpt(&line).unwrap_or_default());
            let help = "this command sends its input back; give the command that starts the MCP server".into();
            return Error::Target { tried, came, help, refused: false };
        }
        let mut came = answer_in_words(reply);
        // A response says more than what the server wrote about an earlier request.
        let stderr = if reply.end == End::Result { String::new() } else { session.stderr_tail() };
        if let Some(words) = last_words(&stderr).filter(|words| !came.contains(words)) {
            came.extend(["; on stderr: ", &words]);
        }
        if let Some(body) = self.body(reply) {
            came.extend([": `", &body, "`"]);
        }
        let banner = self.banner(session);
        if let Some(banner) = &banner {
            came.extend(["; on stdout it wrote `", banner, "`, which is not a JSON-RPC message"]);
        }
        let mut help = help(&self.target.start, reply, banner.is_some(), &self.limits);
        let dies = reply.end == End::Closed && self.target.start.capabilities().process && self.has_spoken();
        if dies {
            came = format!("the server exited during `initialize`: {came}");
            help = "catch exceptions in the handler of `initialize`, and return them as errors".into();
        }
        let refused = reply.cause == Some(Cause::ConnectionRefused);
        Error::Target { tried, came, help, refused }
    }

    /// The body of an HTTP response without a message: often the reason for the rejection.
    fn body(&self, reply: &Reply) -> Option<String> {
        let number = reply.frames.last().filter(|_| reply.end == End::Answered)?;
        let mut frames = self.recorder.frames();
        let frame = frames.find(|frame| frame.frame == *number && frame.kind == FrameKind::Document)?;
        excerpt(&frame.message.as_ref().map(Value::to_string).or_else(|| frame.text.clone())?)
    }

    /// The first line on stdout that is not a message.
    fn banner(&self, session: &Session) -> Option<String> {
        let is_junk = |frame: &Arc<Frame>| {
            frame.link == session.link() && frame.from == Side::Server && frame.kind == FrameKind::Junk
        };
        let junk = self.recorder.frames().filter(is_junk).find_map(|frame| frame.text.clone());
        let line = junk.filter(|_| session.transport().capabilities().process)?;
        excerpt(&line)
    }
}

/// The start of a text, on one line.
fn excerpt(text: &str) -> Option<String> {
    Some(text.trim().chars().filter(|c| !c.is_control()).take(BANNER).collect())
        .filter(|line: &String| !line.is_empty())
}

/// The error of a handshake after a probe that failed in another way than with an unknown method: the server may support
/// only a revision without a handshake.
pub(super) fn with_discovery(error: Error, probe: &Reply) -> Error {
    const METHOD_NOT_FOUND: i64 = -32601;
    let is_told = probe.error.as_ref().is_some_and(|error| error["code"] != METHOD_NOT_FOUND);
    match error {
        Error::Target { tried, came, help, refused } if is_told => {
            let came = format!("{came}; `server/discover`, which was sent first, got {}", answer_in_words(probe));
            Error::Target { tried, came, help, refused }
        }
        error => error,
    }
}

/// The error of a handshake whose response arrived only when stdin was closed.
pub(super) fn explain_held_back(error: Error) -> Error {
    let Error::Target { tried, came, refused, .. } = error else { return error };
    let came = format!("{came}; when stdin was closed, messages arrived");
    let help = "flush stdout after each message: `print(..., flush=True)` in Python, `fflush(stdout)` in C. If the server needs \
                this long to start, give it more time with --timeout"
        .into();
    Error::Target { tried, came, help, refused }
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

fn answer_in_words(reply: &Reply) -> String {
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
