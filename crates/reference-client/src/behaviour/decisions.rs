//! Decisions of the client during a run. It decides correctly; then a fault may change the decision.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    options::Transport,
    report::{Failure, Outcome},
};
use conform_model::revision::Revision;

/// The state of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing was sent, or only a probe.
    Closed,
    /// `initialize` was sent, `notifications/initialized` was not.
    Opening,
    Open,
}

/// The information that a hook gets about the client.
#[derive(Clone, Debug)]
pub struct Scene {
    /// `None` until it is negotiated.
    pub revision: Option<Revision>,
    /// Messages currently have a modern version.
    pub modern: bool,
    pub transport: Transport,
    pub phase: Phase,
    pub session: Option<String>,
    /// The capabilities of the server, null before they are known.
    pub server: Value,
    /// The capabilities that the client declares.
    pub own: Value,
    /// Id and method of the client's open requests, oldest first.
    pub open: Vec<(Value, String)>,
}

impl Scene {
    pub fn legacy(&self) -> bool {
        !self.modern
    }
}

/// How a received message is handled.
pub enum Heard {
    /// It is handled as usual.
    Message,
    /// It is dropped.
    Nothing,
    /// These are sent, and it is handled as usual.
    And(Vec<Value>),
    /// These are sent, and the message is not handled.
    Instead(Vec<Value>),
    /// Like an uncaught exception: a trace on stderr, and the process exits.
    Crash,
    /// The connection is closed in order.
    Disconnect,
    /// Nothing is handled any more; requests time out.
    Deaf,
    /// Nothing is handled any more, and requests wait forever.
    Hang,
    /// Like an exception in the reader of one event stream, which is read no further. Over stdio nothing is read any
    /// more.
    Break,
    /// All open requests fail.
    Fail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initialized {
    After,
    /// Sent together with `initialize`.
    Early,
    /// Sent after the first request.
    Late,
    Never,
}

#[derive(Clone, Debug)]
pub struct Handshake {
    /// `server/discover` is sent first.
    pub probe: bool,
    pub initialize: bool,
    /// The version in `initialize`.
    pub offer: Value,
    /// The client waits for the response to `initialize` before it sends anything else.
    pub awaits: bool,
    pub initialized: Initialized,
    /// The stream of a GET is opened before `initialize`.
    pub early_stream: bool,
    /// The time limit of the response to `initialize`.
    pub timeout: Option<Duration>,
    /// The time limit of the response to the probe.
    pub probe_timeout: Option<Duration>,
    /// After an error, `initialize` is repeated this many times, at this interval.
    pub repeats: u32,
    pub pause: Duration,
}

/// The consequence of the response to `initialize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settlement {
    GoOn(Revision),
    Disconnect(String),
}

/// The consequence of the response to the probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Era {
    Modern(Revision),
    /// `initialize` with this version.
    Legacy(Revision),
    /// The same, on a new process or connection.
    LegacyAnew(Revision),
    /// The probe again, after this time.
    Again(Duration),
    GiveUp(String),
}

/// How the probe ended.
pub enum Probed<'a> {
    Result(&'a Value),
    Failure(&'a Failure),
}

/// One traversal of the pages of a list.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    pub method: String,
    /// The parameters besides the cursor.
    pub scope: Map<String, Value>,
    pub requests: usize,
    /// The cursors sent, in order.
    pub sent: Vec<Value>,
    /// The cursor of the latest page, null if it had none.
    pub latest: Value,
    pub items: usize,
    /// Number of items of the latest page.
    pub on_page: usize,
    /// The latest page was an error.
    pub failed: bool,
}

/// Whether another page is requested, and with which parameters.
pub type NextPage = Option<Map<String, Value>>;

/// A node in the walk through the resources.
#[derive(Clone, Debug)]
pub struct Node {
    pub resource: Value,
    pub depth: usize,
    pub visited: bool,
    /// How many scoped lists there were so far.
    pub lists: usize,
    /// The URI by which it would be listed.
    pub uri: Value,
}

/// A stream that ended before all its responses were received.
#[derive(Clone, Debug)]
pub struct Lost {
    /// The requests that wait for it; empty for the stream of a GET.
    pub ids: Vec<Value>,
    pub method: String,
    pub last_event_id: Option<String>,
    /// The first event id of the stream.
    pub first_event_id: Option<String>,
    pub retry: Option<Duration>,
    /// How often it was already resumed.
    pub attempts: u32,
}

#[derive(Clone, Debug)]
pub struct Resumption {
    pub again: bool,
    pub wait: Duration,
    pub last_event_id: Option<String>,
    /// The message is sent again with POST.
    pub repost: bool,
    /// The client does not notice, and the requests time out.
    pub unnoticed: bool,
}

/// The stream of a GET without `Last-Event-ID`.
#[derive(Clone, Debug)]
pub struct Standalone {
    pub open: bool,
    /// The whole connection is closed.
    pub disconnect: bool,
    pub wait: Duration,
    /// How often it was already opened, and the last status.
    pub attempts: u32,
    pub status: u16,
}

/// The session has ended, or the process has exited.
#[derive(Clone, Debug)]
pub struct Restart {
    pub again: bool,
    pub wait: Duration,
    /// The old session id is sent with `initialize`.
    pub keeps_id: bool,
    /// A handshake is performed first.
    pub handshake: bool,
    /// Open subscriptions are opened again.
    pub listens: bool,
    /// How often this was already done.
    pub attempts: u32,
}

#[derive(Clone, Debug)]
pub struct Shutdown {
    /// Sent before anything else.
    pub last_words: Vec<Value>,
    /// How many DELETE requests end the session.
    pub deletes: u32,
    pub close_stdin: bool,
    pub wait: Duration,
    pub term: bool,
    pub wait_after_term: Duration,
    pub kill: bool,
}

/// How a request is cancelled.
#[derive(Clone, Debug)]
pub struct Abort {
    pub notify: bool,
    pub close_stream: bool,
    pub disconnect: bool,
    pub timed_out: bool,
}

/// Whether a request is repeated after it ended.
#[derive(Clone, Debug)]
pub struct Retry {
    pub again: bool,
    /// The tools are listed first.
    pub refresh: bool,
    pub wait: Duration,
    pub same_id: bool,
    /// How often it was already repeated.
    pub attempts: u32,
}

/// A task that the client follows.
#[derive(Clone, Debug)]
pub struct Following {
    /// As it was shown last.
    pub task: Value,
    /// How often it was polled.
    pub polls: u32,
    /// The keys of the inputs that have a response.
    pub responded: Vec<String>,
}

/// What the client does next about a task.
#[derive(Clone, Debug)]
pub struct TaskStep {
    /// Before it.
    pub wait: Duration,
    pub then: Next,
}

#[derive(Clone, Debug)]
pub enum Next {
    Poll,
    /// With tasks/result, until 2025-11-25.
    Fetch,
    /// With tasks/update, since 2026-07-28, to the inputs with these keys.
    Respond(Vec<String>),
    /// This is the outcome of the call.
    Give(Outcome),
}

/// When a fault may do something additional.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    Connected,
    BeforeAction,
    AfterAction,
    BeforeClose,
    /// Every 200 ms.
    Tick,
}

/// An HTTP request before it is sent.
#[derive(Clone, Debug)]
pub struct Posting {
    pub method: String,
    /// Scheme, host, path and query.
    pub url: String,
    /// Names in lower case.
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
    /// The message that the body holds, null if there is none.
    pub message: Value,
}

impl Posting {
    pub fn set(&mut self, name: &str, value: impl Into<Vec<u8>>) {
        self.remove(name);
        self.headers.push((name.to_owned(), value.into()));
    }

    pub fn remove(&mut self, name: &str) {
        self.headers.retain(|(header, _)| header != name);
    }

    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_slice())
    }

    /// The JSON-RPC method of the message, empty if there is none.
    pub fn rpc(&self) -> &str {
        self.message.get("method").and_then(Value::as_str).unwrap_or_default()
    }
}

/// The head of an HTTP response before it is handled.
#[derive(Clone, Debug)]
pub struct Head {
    pub status: u16,
    /// The media type without parameters, in lower case.
    pub media: Option<String>,
    /// The unchanged value of `Content-Type`.
    pub content_type: Option<String>,
    pub session: Option<String>,
    /// Each line of `WWW-Authenticate`.
    pub challenges: Vec<String>,
    /// The names of the headers in their original case.
    pub spelling: Vec<String>,
    /// The body is read.
    pub reads_body: bool,
    /// The requests time out.
    pub unnoticed: bool,
    /// The connection is closed.
    pub disconnect: bool,
}

/// What the client does at a message that the fault selects.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reaction {
    /// All open requests fail.
    Fail,
    /// The connection is closed in order.
    Disconnect,
    /// Nothing is handled any more; requests time out.
    Deaf,
    /// Nothing is handled any more, and requests wait forever.
    Hang,
}

impl From<Reaction> for Heard {
    fn from(reaction: Reaction) -> Self {
        match reaction {
            Reaction::Fail => Self::Fail,
            Reaction::Disconnect => Self::Disconnect,
            Reaction::Deaf => Self::Deaf,
            Reaction::Hang => Self::Hang,
        }
    }
}
