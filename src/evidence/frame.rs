//! One thing seen on the wire, in either direction.
//!
//! A frame that is no message is kept too: a lenient reader would hide the very faults that are reported. The
//! serialised form is what rules see as `$transcript` and what a transcript file holds, so its field names are part of
//! the suite language.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{Cause, Transport};
use crate::revision::Revision;

/// Who put a frame on the wire, and whom a suite judges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    Client,
    #[default]
    Server,
    /// What stands between them: a server to one and a client to the other. No frame is from it.
    Gateway,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameKind {
    /// A JSON object or array: `message` holds it.
    Message,
    /// Bytes that are no JSON: `text` holds their beginning, `why` says what is wrong with them.
    Junk,
    /// Bytes that may be a message, only longer, deeper or larger than is read: as `Junk`, and no fault of the server.
    Unread,
    /// The head of an HTTP request: `http` holds it.
    HttpRequest,
    /// The head of an HTTP response: `http` holds it.
    HttpResponse,
    /// The body of an HTTP response that is no place for messages, such as a metadata document: in `message` if it is
    /// JSON, else its beginning in `text`.
    Document,
    /// What came of listing a node of a walk, in `message`; `by` is the suite, `text` the name that the walk is saved under.
    /// Only visits beyond those that are saved.
    Visit,
    /// The gathering ended here, for the reason in `text`: what was waited for then, for less than the `patience_ms` in
    /// `message`, is held against nobody. Or, where it has a `by`, that suite asks again for all that was not answered.
    CutShort,
    /// Something that is not traffic: a process that ended, a stream that closed, a limit that was reached. In `text`.
    Note,
}

/// What stands in the place of a value that is not told.
pub const SHOWN_INSTEAD: &str = "(given by the user)";

/// The head of an HTTP request or response. Values of headers given by the user are never in here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpHead {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// In the order sent; a repeated header is listed twice. Names are as they were sent in a request, and in lower case in a
    /// response.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
}

impl HttpHead {
    /// All headers by their names in lower case; the values of a repeated header are joined.
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

/// What surrounded a message that came as an event of an event stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<u64>,
}

/// How something came to its end: an event stream, or a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The stream: as HTTP ends a response.
    Complete,
    /// The stream: in the middle, by the server or the network.
    Broken,
    /// The stream: dropped by the client.
    Dropped,
    /// The request: there was nobody to take it.
    Unsent,
    /// The process: before its stdin was closed; or while it had to answer over HTTP.
    Unasked,
    /// The process: when its stdin was closed.
    StdinClosed,
    /// The process: only when it was told to terminate.
    Terminated,
    /// The process: only by force, if at all.
    Killed,
}

/// One frame of the run. Members that do not apply to its kind are absent. One that is about to be recorded borrows its
/// message.
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
    /// On bytes that could not be read: what `why` says in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// What was odd about the bytes of an otherwise readable message, by name: `crlf`, `bom`, `invalid-utf8`,
    /// `duplicate-key`, `unterminated`, `blank-lines`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaws: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpHead>,
    /// The HTTP exchange that carried it: all frames of one request and its response share the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
    /// On a note that tells of an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

impl Frame {
    /// Everything but the message.
    #[must_use]
    pub fn head(&self) -> Self {
        let Self {
            frame,
            at,
            link,
            from,
            kind,
            bytes,
            post,
            ended,
            message: _,
            by,
            text,
            why,
            cause,
            flaws,
            http,
            event,
        } = self;
        let (frame, at, link, from, kind) = (*frame, *at, *link, *from, *kind);
        let (by, text, why, flaws) = (by.clone(), text.clone(), why.clone(), flaws.clone());
        let (http, event, message) = (http.clone(), event.clone(), None);
        Self {
            frame,
            at,
            link,
            from,
            kind,
            bytes: *bytes,
            post: *post,
            ended: *ended,
            message,
            by,
            text,
            why,
            cause: *cause,
            flaws,
            http,
            event,
        }
    }
}

/// A value that is written is there, even where it is `null`.
fn present<'de, D: Deserializer<'de>, M: Deserialize<'de>>(deserializer: D) -> Result<Option<M>, D::Error> {
    M::deserialize(deserializer).map(Some)
}

/// One connection of the run: a process, or a session over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub link: u32,
    pub transport: Transport,
    /// Absent until the handshake has settled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// Opened for one request, and closed with the response to it.
    #[serde(default)]
    pub brief: bool,
    /// Where a client is judged: the scenario in which it opened the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Where a gateway is judged: it opened the connection, to the server that it stands before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub behind: bool,
    /// How the process ended, or the event stream that is the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// Its beginning was not recorded, so that nobody knows what was agreed on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

impl Link {
    /// A connection of which nothing was seen yet.
    pub fn new(link: u32, transport: Transport) -> Self {
        Self { link, transport, revision: None, brief: false, scenario: None, behind: false, ended: None, late: false }
    }
}
