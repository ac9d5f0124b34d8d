//! One thing seen on the wire, in either direction.
//!
//! A frame that is not a message is kept, too: a lenient reader would hide the faults that are reported. Rules see the
//! serialized form as `$transcript` and a transcript file contains it, so its field names are part of the suite
//! language.

use std::borrow::Borrow;

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{Cause, Exit, Transport, message::Message};
use crate::revision::Revision;

/// The sender of a frame, or the side that a suite judges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    Client,
    #[default]
    Server,
    /// A proxy: a server to the client and a client to the server. It is never the sender of a frame.
    Gateway,
    /// The issuer of access tokens for servers. It speaks HTTP, and no MCP.
    AuthorizationServer,
}

impl Side {
    pub const ALL: [Self; 4] = [Self::Server, Self::Client, Self::Gateway, Self::AuthorizationServer];

    /// The recipient of what it sends.
    #[must_use]
    pub fn other(self) -> Self {
        if self == Self::Client { Self::Server } else { Self::Client }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameKind {
    /// A JSON object or array: `message` holds it.
    Message,
    /// Bytes that are not JSON: `text` holds their beginning, `why` the error.
    Junk,
    /// Bytes that may be a message, but exceed a limit of length, depth or size: fields as for `Junk`, but not a fault.
    Unread,
    /// The head of an HTTP request: `http` holds it.
    HttpRequest,
    /// The head of an HTTP response: `http` holds it.
    HttpResponse,
    /// The body of an HTTP response that cannot be a message, such as a metadata document: in `message` if it is JSON,
    /// else its beginning in `text`.
    Document,
    /// The result of listing a node of a walk, in `message`. `by` is the suite, and `text` the name that the walk is
    /// saved as. Only for visits beyond those that are saved.
    Visit,
    /// What `generate` made and judged, in `message`; `text` says what it is. It belongs to no connection.
    Generated,
    /// The gathering stopped here, for the reason in `text`. Requests that had waited less than the `patience_ms` in
    /// `message` do not count against the server. With a `by`, that suite instead repeats all its unanswered requests.
    CutShort,
    /// An event other than traffic: a process exit, the end of a stream, an exceeded limit. In `text`.
    Note,
}

/// The sender (`by`) of requests that check whether the server still responds.
pub const PROBE: &str = "probe";

/// Replaces a secret value.
pub const SHOWN_INSTEAD: &str = "(given by the user)";

/// The head of an HTTP request or response. Header values from the user are never stored here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpHead {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// In the order sent; a repeated header is listed twice. Names are as sent in a request, and in lower case in a
    /// response.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
}

impl HttpHead {
    /// All headers by lower-case name; the values of a repeated header are joined.
    pub fn by_name(&self) -> IndexMap<String, String> {
        let mut named = IndexMap::<String, String>::new();
        for (name, value) in &self.headers {
            let join = |earlier: &mut String| *earlier = format!("{earlier}, {value}");
            named.entry(name.to_ascii_lowercase()).and_modify(join).or_insert_with(|| value.clone());
        }
        named
    }

    /// The media type without its parameters.
    pub fn media_type(&self) -> Option<String> {
        Some(self.value("content-type")?.split(';').next()?.trim().to_ascii_lowercase())
    }

    /// The first value of a header.
    pub fn value(&self, wanted: &str) -> Option<&str> {
        self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.as_str())
    }
}

/// The fields of the event that carried a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<u64>,
    /// The URL for messages that an event of HTTP+SSE names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

/// How an event stream, request or process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The stream: as HTTP normally ends a response.
    Complete,
    /// The stream: in the middle, by the server or the network.
    Broken,
    /// The stream: dropped by the client.
    Dropped,
    /// The request: no server accepted it.
    Unsent,
    /// The process: before its stdin was closed, or while an HTTP request was open.
    Unasked,
    /// The process: when its stdin was closed.
    StdinClosed,
    /// The process: only after SIGTERM.
    Terminated,
    /// The process: only after SIGKILL, if at all.
    Killed,
}

impl Ended {
    /// Whether the process failed: it exited on its own, or with an error when its stdin was closed.
    pub fn is_failure(self, exit: Option<&Exit>) -> bool {
        self == Self::Unasked || (self == Self::StdinClosed && exit.is_some_and(|exit| !exit.is_success()))
    }
}

/// One frame of the run. Fields that do not apply to its kind are absent. While it is recorded, it borrows its message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "M: Deserialize<'de>"))]
pub struct Frame<M = Value> {
    /// Its number in the run, from 1, over all connections and both directions.
    pub frame: u64,
    /// Microseconds since the run began.
    pub at: u64,
    /// The connection it belongs to.
    pub link: u32,
    pub from: Side,
    pub kind: FrameKind,
    /// On frames of the client: the suite that caused it, or `handshake`, `probe`, `answer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Length on the wire, without the delimiter.
    #[serde(default)]
    pub bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub message: Option<M>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// On bytes that could not be read: `why` as a code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Defects in the bytes of an otherwise readable message, by name: `crlf`, `bom`, `invalid-utf8`, `duplicate-key`,
    /// `unterminated`, `blank-lines`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaws: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpHead>,
    /// The HTTP exchange that carried it: all frames of one request and its response share the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
    /// On a note that records an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// On a note that records the exit of a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
}

/// What can be known of a frame without parsing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameIndex {
    pub frame: u64,
    pub at: u64,
    pub link: u32,
    pub from: Side,
    pub kind: FrameKind,
    pub ended: Option<Ended>,
    pub post: Option<u64>,
    /// Whether it has requests of the server for the client.
    pub asks: bool,
}

impl<M: Borrow<Value>> Frame<M> {
    pub fn index(&self) -> FrameIndex {
        let Self { frame, at, link, from, kind, ended, post, .. } = *self;
        let sent = self.message.as_ref().filter(|_| from == Side::Server).map(|message| Message::of(message.borrow()));
        FrameIndex { frame, at, link, from, kind, ended, post, asks: sent.is_some_and(|message| message.asks()) }
    }
}

impl Frame {
    /// Whether it is a line that was meant as a message, but cannot be read: one that takes several lines, for example.
    pub fn is_garbled_message(&self) -> bool {
        self.kind == FrameKind::Junk && self.text.as_ref().is_some_and(|text| text.contains("\"jsonrpc\""))
    }

    /// Whether a suite wrote it byte by byte, as no client would send it.
    pub fn is_raw(&self) -> bool {
        self.kind == FrameKind::Junk || self.text.is_some() || self.why.is_some()
    }

    /// Everything but the message.
    #[must_use]
    pub fn head(&self) -> Self {
        let Self { frame, at, link, from, kind, bytes, post, ended, cause, .. } = *self;
        let (by, text, why, flaws) = (self.by.clone(), self.text.clone(), self.why.clone(), self.flaws.clone());
        let (http, event, exit) = (self.http.clone(), self.event.clone(), self.exit.clone());
        let blank = Self::blank(link, from, kind);
        Self { frame, at, by, bytes, text, why, cause, flaws, http, post, event, ended, exit, ..blank }
    }
}

impl<M> Frame<M> {
    /// A frame that has nothing but its kind.
    pub fn blank(link: u32, from: Side, kind: FrameKind) -> Self {
        Self {
            frame: 0,
            at: 0,
            link,
            from,
            kind,
            by: None,
            bytes: 0,
            message: None,
            text: None,
            why: None,
            cause: None,
            flaws: Vec::new(),
            http: None,
            post: None,
            event: None,
            ended: None,
            exit: None,
        }
    }
}

/// Distinguishes a field that is `null` from an absent one.
fn present<'de, D: Deserializer<'de>, M: Deserialize<'de>>(deserializer: D) -> Result<Option<M>, D::Error> {
    M::deserialize(deserializer).map(Some)
}

/// One connection of the run: a process, or a session over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub link: u32,
    pub transport: Transport,
    /// Absent until the handshake has negotiated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// If a client gave that revision up for an earlier one: the last frame before it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// Opened for one request, and closed after its response.
    #[serde(default)]
    pub brief: bool,
    /// If a client is judged: the scenario in which it opened the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// If a gateway is judged: whether the gateway opened the connection, to its upstream.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub behind: bool,
    /// How the process ended, or the event stream that the connection consists of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// Its beginning was not recorded, so the negotiated revision is unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

impl Link {
    /// A new connection without any frame.
    pub fn new(link: u32, transport: Transport) -> Self {
        Self {
            link,
            transport,
            revision: None,
            until: None,
            brief: false,
            scenario: None,
            behind: false,
            ended: None,
            late: false,
        }
    }
}
