//! What is known of one start of a client besides its messages: `$runs`, `$spawns` and `$actions`.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::{oauth::Views, process::Ran, watched::Spawned};
use crate::{
    evidence::{
        Frame, FrameKind, Kind, Recorder, Side,
        conversation::{Conversation, RequestAt, Said},
    },
    revision::Revision,
};

const SESSION: &str = "mcp-session-id";
/// Maximum number of different requests that are remembered. No world needs as many.
const MOST: usize = 2_000;

/// The result of one start.
pub struct Start {
    pub scenario: String,
    pub run: Run,
    /// Whether the first message of every connection was `initialize`, so that it was not a fallback.
    pub initializes: bool,
    /// Whether it sent server/discover, and never initialize.
    pub only_discovers: bool,
    pub spawns: Vec<Value>,
    pub actions: Vec<Value>,
    /// In a world with authorization: what happened there.
    pub views: Option<Views>,
}

/// One start as rules see it: `$runs[*]`.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    pub world: String,
    /// Whether the client reported its actions.
    pub follows: bool,
    /// Whether only an official scenario said what to do.
    pub carried: bool,
    pub connected: bool,
    pub end: End,
    pub code: Option<i32>,
    pub signal: Option<i32>,
    sent: usize,
    requests: usize,
    storm: usize,
    storm_of: Option<String>,
    pub tasks: usize,
    probes: usize,
    pings: usize,
    requested: Vec<Value>,
    cancelled: Vec<Value>,
    notified: BTreeSet<String>,
    declares_root_changes: bool,
    root_changes: usize,
    roots_differ: Option<bool>,
    sessions: usize,
    initialized: usize,
    open: usize,
    pub stderr: String,
    trace: bool,
    ms: u64,
    session: bool,
    deleted: bool,
    frames: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    Hung,
    /// Its world was over.
    Stopped,
    Signal,
    Exited,
}

/// What a client sent on these connections.
#[derive(Default)]
struct Sent {
    messages: usize,
    /// Whether it sent what is not a message.
    junk: bool,
    requests: usize,
    equal: HashMap<String, usize>,
    /// Requests without a response.
    open: HashSet<RequestAt>,
    /// The params of requests, and of those that were cancelled.
    params: HashMap<RequestAt, Value>,
    cancelled: Vec<Value>,
    /// The params of calls that became tasks as the client wanted.
    tasked: Vec<Value>,
    /// The methods that were requested, each with each `uri`.
    requested: BTreeSet<(String, String)>,
    declares_root_changes: bool,
    /// The lists of roots that it returned, and how many there were at the first change.
    roots: Vec<Value>,
    roots_at_change: Option<usize>,
    first: Option<u64>,
    /// How often each method was sent.
    methods: HashMap<String, usize>,
    /// The methods of the notifications that the server sent.
    notified: BTreeSet<String>,
    /// Responses to initialize with a published revision.
    sessions: usize,
    /// The method of the first message of each connection.
    began: HashMap<u32, Value>,
    /// Connections on which it subscribed since 2026-07-28.
    listened: HashSet<u32>,
    /// Connections on which it called a tool.
    called: HashSet<u32>,
    /// Whether the server assigned a session id.
    assigned: bool,
    /// Whether the client used it, and it is not over, and whether it was deleted.
    session: bool,
    deleted: bool,
}

impl Run {
    /// Whether the client used the extension for skills.
    pub fn uses_skills(&self) -> bool {
        self.requested
            .iter()
            .any(|request| request["method"].as_str().is_some_and(|method| method.starts_with("skills/")))
    }
}

impl Sent {
    /// The head of an HTTP request or response.
    fn pass(&mut self, frame: &Frame) {
        let Some(http) = &frame.http else { return };
        match frame.kind {
            FrameKind::HttpRequest => {
                // One that rejects the version of the server does not use the session.
                self.session |= self.assigned && http.value(SESSION).is_some();
                self.deleted |= http.method.as_deref() == Some("DELETE") && http.value(SESSION).is_some();
            }
            FrameKind::HttpResponse => {
                self.assigned |= http.value(SESSION).is_some();
                self.session &= http.status != Some(404);
            }
            _ => {}
        }
    }

    /// Whether the roots differed after a change; `None` unless they were listed both before and after it.
    fn roots_differ(&self) -> Option<bool> {
        let before = self.roots_at_change.filter(|before| (1..self.roots.len()).contains(before));
        before.map(|_| self.roots.first() != self.roots.last())
    }

    fn take(&mut self, said: &Said) {
        let frame = said.frame;
        for related in &said.messages {
            let message = &related.message;
            match (frame.from, message.kind) {
                (Side::Client, kind) => {
                    self.messages += 1;
                    if !message.method.is_empty() {
                        *self.methods.entry(message.method.to_owned()).or_default() += 1;
                    }
                    self.first.get_or_insert(frame.frame);
                    let changes = message.whole.pointer("/params/capabilities/roots/listChanged");
                    self.declares_root_changes |= changes.and_then(Value::as_bool).unwrap_or_default();
                    self.roots.extend(message.result().get("roots").cloned());
                    if message.method == "notifications/roots/list_changed" {
                        self.roots_at_change.get_or_insert(self.roots.len());
                    }
                    if let Some(cancelled) = related.asked.as_ref().filter(|_| message.cancels().is_some()) {
                        self.cancelled.extend(self.params.get(&cancelled.place).cloned());
                    }
                    self.began.entry(frame.link).or_insert_with(|| message.whole["method"].clone());
                    if kind == Kind::Request {
                        self.requests += 1;
                        match message.method {
                            "subscriptions/listen" => self.listened.insert(frame.link),
                            "tools/call" => self.called.insert(frame.link),
                            _ => false,
                        };
                        let uri = message.params()["uri"].as_str().unwrap_or_default();
                        if self.requested.len() < MOST {
                            self.requested.insert((message.method.to_owned(), uri.to_owned()));
                        }
                        self.params.insert(related.sent, message.params().clone());
                        self.open.insert(related.sent);
                        *self.equal.entry(without_meta(message.whole)).or_default() += 1;
                    }
                }
                (Side::Server, Kind::Notification) => self.notified.extend(Some(message.method.to_owned())),
                (Side::Server, Kind::Result | Kind::Error | Kind::Other) => {
                    let version = message.result()["protocolVersion"].as_str();
                    let legacy =
                        version.and_then(|version| version.parse::<Revision>().ok()).filter(|it| !it.is_modern());
                    self.sessions += usize::from(legacy.is_some());
                    if let Some(asked) = related.responds_to() {
                        self.open.remove(&asked.place);
                        let params = self.params.get(&asked.place);
                        self.tasked.extend(params.filter(|params| becomes_task(params, message.result())).cloned());
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether a call with these params becomes a task by this result, and the client supports tasks.
fn becomes_task(params: &Value, result: &Value) -> bool {
    let extension = "/_meta/io.modelcontextprotocol~1clientCapabilities/extensions/io.modelcontextprotocol~1tasks";
    (params.get("task").is_some() && result.get("task").is_some())
        || (params.pointer(extension).is_some() && params.get("name").is_some() && result["resultType"] == "task")
}

/// The method in what `without_meta` makes of a request.
fn method_of(request: &str) -> String {
    request.split(' ').next().unwrap_or_default().trim_matches('"').to_owned()
}

fn without_meta(request: &Value) -> String {
    let params = request["params"].as_object().into_iter().flatten().filter(|(name, _)| *name != "_meta");
    let params: Vec<String> = params.map(|(name, value)| format!("{name}={value}")).collect();
    format!("{} {}", request["method"], params.join(" "))
}

/// Combines all that is known of one start.
pub fn start(
    scenario: &str,
    world: &str,
    ran: &Ran,
    links: &[u32],
    spawned: &[Spawned],
    (mut actions, follows): (Vec<Value>, bool),
    recorder: &Recorder,
) -> Start {
    let mut sent = Sent::default();
    let mut conversation = Conversation::default();
    for frame in recorder.frames_where(|index| links.contains(&index.link)) {
        sent.take(&conversation.take(&frame));
        sent.junk |= frame.kind == FrameKind::Junk && frame.from == Side::Client;
        sent.pass(&frame);
    }
    let (signal, hung) = (ran.signal(), ran.hung);
    let code = ran.status.and_then(|status| status.code());
    // The action that was running when the client was stopped has timed out. One that exits with 0 leaves in order.
    let cause = match (hung || ran.stopped, signal, code) {
        (true, ..) => Some(("timeout", "the client was stopped while it waited".to_owned())),
        (false, Some(signal), _) => Some(("closed", format!("signal {signal} ended the client"))),
        (false, None, Some(code @ 1..)) => Some(("closed", format!("the client exited with code {code}"))),
        _ => None,
    };
    let running = actions.iter_mut().find(|action| action["end"] == "none").filter(|_| follows);
    if let (Some(action), Some((kind, message))) = (running, cause) {
        action["end"] = json!("failed");
        action["kind"] = json!(kind);
        action["message"] = json!(message);
    }
    for action in actions.iter_mut().filter(|action| action["do"] == "call") {
        let same = |params: &Value, field: &str| params.get(field) == action["action"].get(field);
        action["task"] = json!(sent.tasked.iter().any(|params| same(params, "name") && same(params, "arguments")));
    }
    let end = match (hung, signal) {
        (true, _) => End::Hung,
        _ if ran.stopped => End::Stopped,
        (false, Some(_)) => End::Signal,
        (false, None) => End::Exited,
    };
    let storm = sent.equal.iter().max_by_key(|(_, times)| **times);
    let times = |method: &str| sent.methods.get(method).copied().unwrap_or_default();
    let run = Run {
        world: world.to_owned(),
        follows,
        carried: false,
        connected: sent.messages > 0 || sent.junk,
        end,
        code,
        signal,
        sent: sent.messages,
        requests: sent.requests,
        storm: storm.map(|(_, times)| *times).unwrap_or_default(),
        storm_of: storm.map(|(request, _)| method_of(request)),
        tasks: sent.tasked.len(),
        probes: times("server/discover"),
        pings: times("ping"),
        requested: sent.requested.iter().map(|(method, uri)| json!({ "method": method, "uri": uri })).collect(),
        cancelled: sent.cancelled.clone(),
        notified: sent.notified.clone(),
        declares_root_changes: sent.declares_root_changes,
        root_changes: times("notifications/roots/list_changed"),
        roots_differ: sent.roots_differ(),
        sessions: sent.sessions,
        initialized: times("notifications/initialized"),
        open: sent.open.len(),
        stderr: ran.stderr.clone(),
        trace: ran.shows_trace(),
        ms: u64::try_from(ran.took.as_millis()).unwrap_or(u64::MAX),
        session: sent.session,
        deleted: sent.deleted,
        frames: sent.first.into_iter().collect(),
    };
    let link_of = |spawned: &Spawned| links.get(spawned.number).copied().unwrap_or_default();
    let spawned_by_client = spawned;
    let described = |spawned: &Spawned| {
        let link = link_of(spawned);
        let mut item = spawned.described(link);
        item["first"] = sent.began.get(&link).cloned().unwrap_or_default();
        item["listens"] = json!(sent.listened.contains(&link));
        let mut earlier = spawned_by_client.iter().filter(|other| other.number < spawned.number);
        item["called"] = json!(earlier.clone().any(|other| sent.called.contains(&link_of(other))));
        // A client that exited does not need its subscriptions any more.
        let listened = |other: &Spawned| other.exited_unasked() && sent.listened.contains(&link_of(other));
        item["listened"] = json!(earlier.any(listened));
        item
    };
    let mut spawns: Vec<Value> = spawned.iter().map(described).collect();
    spawns.sort_by_key(|spawn| spawn["nr"].as_u64());
    let initializes = !sent.began.is_empty() && sent.began.values().all(|method| method == "initialize");
    let only_discovers = sent.methods.contains_key("server/discover") && !sent.methods.contains_key("initialize");
    Start { scenario: scenario.to_owned(), run, initializes, only_discovers, spawns, actions, views: None }
}
