//! Faults as small functions, for deviations that cannot be written as a patch of a response.

use std::{
    collections::{HashMap, HashSet},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use serde_json::Value;

use crate::{
    content::Content,
    faults::{FaultInfo, Heard, HttpWays, Met, Scene, streams::Streaming, task_extension, tasks},
    http::Reply,
    oauth::Settings,
    options::Transport,
};
use conform_model::revision::Revision;

/// A unique name for one server among all processes, and among all servers of one process.
pub fn unlike_any_other() -> String {
    static SERVERS: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), SERVERS.fetch_add(1, Relaxed))
}

/// The state of faults between messages.
#[derive(Default)]
pub struct Memory {
    pub requests: u64,
    pub responses: u64,
    pub deaf: bool,
    /// A unique name of this server.
    pub own: Option<String>,
    /// The URI of the last scoped list.
    pub scope: Option<Value>,
    /// The last prefix of each method.
    pub prefixes: HashMap<String, Value>,
    /// The last result of each method.
    pub results: HashMap<String, Value>,
    /// Cursors of each method that were received or sent before.
    pub cursors: HashSet<String>,
    /// The last cursor that each method returned, if its last page had one.
    pub places: HashMap<String, String>,
    pub listed: bool,
    /// When a slow operation began.
    pub slow: Option<tokio::time::Instant>,
    /// Counters by name.
    pub counts: HashMap<String, u64>,
    pub unlocked: bool,
    pub reads: u64,
    /// A session is open but not initialized.
    pub early: bool,
    /// Ids of requests that were cancelled.
    pub cancelled: HashSet<String>,
    /// Data of earlier requests, by a name that the fault chooses.
    pub said: HashMap<&'static str, Value>,
    pub tasks: tasks::TaskMemory,
    pub task_extension: task_extension::TaskMemory,
    /// All messages that were sent to models.
    pub history: Vec<Value>,
    /// Keys of requests to the client, and tools that wait for them.
    pub keys: HashSet<String>,
    pub waiting: HashSet<String>,
    /// Text to write to stderr.
    pub stderr: String,
    pub stderr_bytes: Vec<u8>,
}

/// How a batch is handled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    Refused,
    /// Only the first message in it is handled.
    First,
    /// Nothing after an error is handled.
    UntilError,
    /// An array is returned even if it is empty.
    Always,
}

/// How stdin is decoded and split.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    ByLine,
    /// Lines that are read together with a ping, after it, are lost.
    FirstLine,
    /// The bytes of one read are taken for complete lines.
    AsItComes,
    /// Each byte is taken for a character.
    Latin1,
    /// The bytes of one read are decoded before they are split into lines.
    Decoded,
}

/// Messages before and after a message.
type Around = fn(&mut Memory, &Scene, &Value) -> (Vec<Value>, Vec<Value>);

#[derive(Clone, Copy)]
pub struct Behaviour {
    pub name: &'static str,
    pub about: &'static str,
    pub transports: &'static [Transport],
    pub since: Option<Revision>,
    pub until: Option<Revision>,
    /// The proposal that has to be enabled for the fault to show.
    pub proposal: Option<&'static str>,
    /// The extension that has to be enabled for the fault to show.
    pub extension: Option<&'static str>,
    /// The fault only shows on a protected server.
    pub protected: bool,
    /// Rules besides those that name the fault which it also violates; `*` stands for any.
    pub also: &'static [&'static str],
    /// For a variation with which all suites would take too long: the suites that run.
    pub suites: &'static [&'static str],
    /// The message of the server, if the fault prevents every run.
    pub stops: Option<&'static str>,
    /// The usual facts about the reference server do not apply.
    pub without_facts: bool,
    /// The delay before the server reads anything.
    pub start: Duration,
    /// Why the process exits before it reads anything.
    pub ends_at_start: Option<&'static str>,
    /// The additional delay of a response, by its number (from 1).
    pub delay: fn(u64) -> Duration,
    /// Printed before anything else.
    pub banner: Option<&'static str>,
    /// Changes the content before it is served.
    pub prepare: Option<fn(&mut Content)>,
    /// Called for bytes that are not JSON.
    pub noise: Option<fn(&mut Memory, &[u8]) -> Heard>,
    /// Called for a message before it is handled.
    pub hear: Option<fn(&mut Memory, &mut Value) -> Heard>,
    /// Called for a message before it is sent; false suppresses it.
    pub say: Option<fn(&mut Memory, &Scene, &mut Value) -> bool>,
    /// The bytes of a message.
    pub spell: Option<fn(&Value) -> Vec<u8>>,
    pub batch: Option<Batch>,
    /// How stdin is read.
    pub reading: Reading,
    /// A cancelled request gets no response, but its work continues.
    pub works_on: bool,
    /// A cancelled request gets a response nevertheless.
    pub answers_cancelled: bool,
    /// The stream of a subscription ends after its acknowledgement.
    pub cuts_streams: bool,
    /// The process keeps running when stdin is closed.
    pub outlives_stdin: Duration,
    /// How messages are sent over Streamable HTTP.
    pub ways: HttpWays,
    /// The newline after a message is written with the next one.
    pub holds_newlines: bool,
    /// The deviation of event streams.
    pub streaming: Option<Streaming>,
    /// Messages before and after a message.
    pub around: Option<Around>,
    /// Called for an HTTP request before it is handled; it has `method`, `path`, `query`, `headers` and `message`.
    pub meet: Option<fn(&mut Memory, &Value) -> Met>,
    /// Changes the response to such a request.
    pub reply: Option<fn(&mut Memory, &Value, &mut Reply)>,
    /// Whether a message ends the stream of HTTP+SSE, in place of a response.
    pub breaks: Option<fn(&Value) -> bool>,
    /// The beginning of a stream of HTTP+SSE; `$endpoint` stands for the URL for messages.
    pub opening: Option<&'static str>,
    /// Over Streamable HTTP: the query in the URL that clients are given.
    pub query: &'static str,
    /// Over Streamable HTTP: the world has authorization.
    pub oauth: Option<&'static Settings>,
    /// Messages over stdio are written in small pieces.
    pub pieces: bool,
}

impl Behaviour {
    pub const fn new(name: &'static str, about: &'static str, transports: &'static [Transport]) -> Self {
        Self {
            name,
            about,
            transports,
            since: None,
            until: None,
            proposal: None,
            extension: None,
            protected: false,
            also: &[],
            suites: &[],
            stops: None,
            without_facts: false,
            start: Duration::ZERO,
            ends_at_start: None,
            delay: |_| Duration::ZERO,
            banner: None,
            prepare: None,
            noise: None,
            hear: None,
            say: None,
            spell: None,
            batch: None,
            reading: Reading::ByLine,
            works_on: false,
            answers_cancelled: false,
            cuts_streams: false,
            outlives_stdin: Duration::ZERO,
            ways: HttpWays::USUAL,
            holds_newlines: false,
            streaming: None,
            around: None,
            meet: None,
            reply: None,
            breaks: None,
            opening: None,
            query: "",
            oauth: None,
            pieces: false,
        }
    }

    pub fn shows(&self, transport: Transport) -> bool {
        self.transports.contains(&transport)
    }

    pub fn info(&self) -> FaultInfo {
        FaultInfo {
            name: self.name.to_owned(),
            about: self.about.to_owned(),
            since: self.since,
            until: self.until,
            transports: self.transports.to_vec(),
            proposal: self.proposal.map(str::to_owned),
            extension: self.extension.map(str::to_owned),
            protected: self.protected,
            authority: false,
            also: self.also.iter().map(ToString::to_string).collect(),
            suites: self.suites,
            hosts: Vec::new(),
            stops: self.stops,
            without_facts: self.without_facts,
        }
    }
}

pub const EVERYWHERE: &[Transport] = &Transport::ALL;
pub const STDIO: &[Transport] = &[Transport::Stdio];
