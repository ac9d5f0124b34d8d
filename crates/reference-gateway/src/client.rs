//! One client and its upstream.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{
    Options,
    cache::Cache,
    clients::{Clients, Down},
    fault::Receiver,
    recovery::{RESTART, Recovery},
};
use conform_faults::{Counters, Fate, Hold, Passing, Sent, Side};
use conform_model::{evidence::Recorder, revision::Revision};
use conform_session::protocol_headers;
use conform_wire::{
    Envelope, HttpRequest, Incoming, Wire,
    target::{Limits, Start, Target},
};

/// The wire needs a record; nothing reads this one.
const RECORD: usize = 1;
const LARGEST: usize = 64 << 20;
/// The id of every call of a gateway that shares ids.
const SHARED: i64 = 1_000_000;

pub struct Upstream {
    pub wire: Wire,
    /// The revision that the upstream returned for `initialize`.
    pub revision: Option<Revision>,
    pub session: Option<String>,
    /// The request of each HTTP exchange.
    pub posts: HashMap<u64, String>,
}

/// Forwards messages until the client or the upstream disconnects. `credentials` are headers of the client for the
/// gateway.
pub async fn relay(
    options: Arc<Options>,
    credentials: Vec<(String, String)>,
    mut up: UnboundedReceiver<Value>,
    down: UnboundedSender<Down>,
    clients: Clients,
) -> Result<(), String> {
    clients.join(&down);
    // The record shows what a client would repeat.
    let limits = Limits { message_bytes: LARGEST, repeats: false, ..Limits::default() };
    let headers = if options.fault.leaks_credentials { credentials } else { Vec::new() };
    let start = Start::over(options.back, options.upstream.clone(), headers);
    let recorder = Recorder::new(RECORD, RECORD, RECORD);
    let (wire, mut inbox) = Wire::open(&Target::new("upstream", start), &limits, &recorder)
        .await
        .map_err(|failure| format!("{}: {}", failure.tried, failure.came))?;
    let (resume, mut resumes) = unbounded_channel();
    let upstream = Upstream { wire, revision: None, session: None, posts: HashMap::new() };
    let mut relay = Relay {
        options,
        upstream,
        open: HashMap::new(),
        asked: HashMap::new(),
        shared: Vec::new(),
        unmarked: false,
        cache: Cache::default(),
        counters: Counters::default(),
        held: Vec::new(),
        recovery: Recovery::new(resume),
        down,
        clients,
    };
    loop {
        tokio::select! {
            message = up.recv() => match message {
                Some(message) => relay.up(message),
                None => break,
            },
            Some(place) = resumes.recv() => relay.resume(place),
            incoming = inbox.recv() => match incoming {
                Some(incoming) => if !relay.incoming(incoming) { break },
                None => break,
            },
        }
    }
    if relay.options.fault.ignores_exit {
        while up.recv().await.is_some() {}
    }
    relay.leave().await;
    Ok(())
}

pub struct Relay {
    pub options: Arc<Options>,
    pub upstream: Upstream,
    /// Open requests of the client, by id.
    pub open: HashMap<String, Value>,
    /// Open requests of the upstream, by id.
    asked: HashMap<String, Value>,
    /// The ids of calls that have the shared one for the upstream.
    shared: Vec<Value>,
    /// Whether event streams of the upstream have no X-Accel-Buffering.
    unmarked: bool,
    cache: Cache,
    counters: Counters,
    held: Vec<(Hold, Down)>,
    pub recovery: Recovery,
    down: UnboundedSender<Down>,
    clients: Clients,
}

pub fn key(id: &Value) -> String {
    id.to_string()
}

impl Relay {
    /// Handles a message of the client.
    pub fn up(&mut self, mut message: Value) {
        let fault = self.options.fault;
        let is_own = message.get("method").is_some() && message.get("id").is_some();
        if fault.one_at_a_time && is_own && !self.open.is_empty() {
            return self.recovery.waiting.push_back(message);
        }
        if fault.stops_at_failure && self.recovery.failed {
            return;
        }
        if let Some(known) = self.cache.known(&message) {
            return self.send_down(known, message.get("id").map(key));
        }
        let is_request = message.get("method").is_some();
        // Without a handshake each request says its revision.
        let stated = message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").and_then(Value::as_str);
        if let Some(revision) = stated.and_then(|stated| stated.parse().ok()) {
            self.upstream.revision = Some(revision);
        }
        if message["method"] == "notifications/cancelled" {
            self.open.remove(&key(&message["params"]["requestId"]));
        }
        if message["method"] == "initialize" {
            self.recovery.opening = Some(message.clone());
        }
        if is_request && let Some(id) = message.get("id") {
            self.open.insert(key(id), message.clone());
            if let Some(kept) = fault.keeps_by_id {
                self.clients.uses(&key(id), &self.down, kept);
            }
        }
        let id = message.get("id").map(key);
        let belongs = if is_request { Some(message.clone()) } else { self.asked.remove(&key(&message["id"])) };
        if fault.shares_ids && message["method"] == "tools/call" {
            self.open.insert(SHARED.to_string(), message.clone());
            self.shared.push(std::mem::replace(&mut message["id"], SHARED.into()));
        }
        let fate = self.pass(Side::Client, belongs.as_ref(), message);
        if let Some(reply) = fate.reply {
            self.send_down(reply, id);
        }
        for message in fate.sent.into_iter().filter_map(Sent::into_message) {
            self.send_up(&message);
        }
    }

    pub fn pass(&mut self, from: Side, request: Option<&Value>, message: Value) -> Fate {
        let fault = self.options.fault;
        if fault.needs_unmarked_stream && !self.unmarked {
            return Fate::unchanged(message);
        }
        let passing = Passing { from, is_own: true, request, revision: self.upstream.revision };
        fault.edit.pass(&mut self.counters, &passing, message)
    }

    pub fn send_up(&mut self, message: &Value) {
        let Upstream { wire, revision, session, posts } = &mut self.upstream;
        let mut headers = if self.options.back.capabilities().stream_per_request {
            protocol_headers(*revision, session.as_deref(), message)
        } else {
            Vec::new()
        };
        // Without a handshake nothing else could be tested.
        let changed = self.options.fault.edit.headers.iter().filter(|_| message["method"] != "initialize");
        for (changed, value) in changed {
            headers.retain(|(name, _)| name != changed);
            headers.extend(value.clone().map(|value| (changed.clone(), value)));
        }
        let envelope = Envelope { by: "relay".to_owned(), headers };
        if let Ok(posted) = wire.send(&envelope, message)
            && let (Some(post), Some(id), true) = (posted.post, message.get("id"), message.get("method").is_some())
        {
            posts.insert(post, key(id));
        }
        if message["method"] == "notifications/initialized" {
            let _ = wire.listen(&envelope);
        }
    }

    /// Handles what the upstream sent; false at the end.
    fn incoming(&mut self, incoming: Incoming) -> bool {
        match incoming {
            Incoming::Message { message, post, .. } => {
                let belongs = post.and_then(|post| self.upstream.posts.get(&post)).cloned();
                match message {
                    Value::Array(batch) => batch.into_iter().for_each(|one| self.one_down(one, belongs.clone())),
                    message => self.one_down(message, belongs),
                }
            }
            Incoming::Head { post, status, .. } => {
                if status.status == 404 {
                    self.session_ended(post);
                }
                if status.status >= 400 {
                    self.recovery.rejected.insert(post);
                }
                let is_stream = status.headers.get("content-type").is_some_and(|kind| kind.contains("event-stream"));
                self.unmarked |= is_stream && !status.headers.contains_key("x-accel-buffering");
                if let Some(session) = status.headers.get("mcp-session-id") {
                    self.upstream.session.get_or_insert_with(|| session.clone());
                }
            }
            Incoming::PostDone { post, failure } => {
                // An HTTP exchange without a response message is continued, or gets an error here.
                let rejected = self.recovery.rejected.remove(&post) || failure.is_some();
                // Over HTTP+SSE the response is on the common stream.
                let is_whole = self.options.back.capabilities().stream_per_request || rejected;
                if let Some(id) = self.upstream.posts.remove(&post).filter(|_| is_whole) {
                    self.without_response(post, id, failure.map(|failure| failure.words).as_deref());
                }
            }
            Incoming::Closed { .. } => {
                if !self.options.fault.ignores_exit {
                    self.fail_open();
                }
                return false;
            }
            Incoming::Junk { .. } | Incoming::Document { .. } | Incoming::Endpoint { .. } => {}
        }
        true
    }

    fn one_down(&mut self, mut message: Value, belongs_to: Option<String>) {
        if let Some(method) = message["method"].as_str() {
            // Over stdio only the token shows the request of a progress notification.
            let token = message["params"].get("progressToken").filter(|_| method == "notifications/progress").cloned();
            let by_token = token.and_then(|token| {
                let mut open = self.open.iter();
                open.find(|(_, asked)| asked.pointer("/params/_meta/progressToken") == Some(&token))
                    .map(|(id, _)| id.clone())
            });
            let only = || (self.open.len() == 1).then(|| self.open.keys().next().cloned()).flatten();
            let is_request = message.get("id").is_some();
            let belongs_to = belongs_to.or(by_token).or_else(|| if is_request { only() } else { None });
            if is_request {
                self.asked.insert(key(&message["id"]), message.clone());
            }
            let fate = self.pass(Side::Server, None, message);
            self.deliver(fate, belongs_to.as_deref());
            return;
        }
        let id = key(&message["id"]);
        if message["id"] == RESTART {
            return self.restarted(&message);
        }
        let asked = self.open.remove(&id).unwrap_or_default();
        if asked["method"] == "initialize" {
            let version = message.pointer("/result/protocolVersion").and_then(Value::as_str);
            self.upstream.revision = version.and_then(|version| version.parse().ok());
        }
        if self.options.fault.caches_lists {
            self.cache.keep(&asked, &message);
        }
        if message["id"] == SHARED
            && let Some(id) = self.shared.pop()
        {
            message["id"] = id;
        }
        let id = key(&message["id"]);
        if self.options.fault.keeps_by_id.is_some() {
            if let Some(client) = self.clients.next_with(&id) {
                let _ = client.send(Down { message, belongs_to: Some(id) });
            }
            return;
        }
        let fate = self.pass(Side::Server, Some(&asked), message);
        let held = std::mem::take(&mut self.held);
        let (early, late): (Vec<_>, Vec<_>) = held.into_iter().partition(|(hold, _)| *hold == Hold::BeforeResponse);
        for (_, down) in early {
            let _ = self.down.send(down);
        }
        self.deliver(fate, Some(&id));
        for (_, down) in late {
            let _ = self.down.send(down);
        }
        self.next_waiting();
    }

    pub fn deliver(&mut self, fate: Fate, belongs_to: Option<&str>) {
        if let Some(reply) = fate.reply {
            self.send_up(&reply);
        }
        let to = self.options.fault.to.filter(|_| fate.selected);
        for message in fate.sent.into_iter().filter_map(Sent::into_message) {
            let receivers = match to {
                Some(Receiver::First) => self.clients.first().into_iter().collect(),
                Some(Receiver::All) => self.clients.others(&self.down),
                None => Vec::new(),
            };
            for other in receivers {
                let _ = other.send(Down { message: message.clone(), belongs_to: None });
            }
            match fate.hold {
                Some(hold) => self.held.push((hold, Down { message, belongs_to: belongs_to.map(str::to_owned) })),
                None if to == Some(Receiver::First) => {}
                None => self.send_down(message, belongs_to.map(str::to_owned)),
            }
        }
    }

    fn send_down(&self, message: Value, belongs_to: Option<String>) {
        let _ = self.down.send(Down { message, belongs_to });
    }

    /// The client has disconnected.
    async fn leave(self) {
        let Upstream { wire, session, revision, .. } = self.upstream;
        if self.options.fault.keeps_session {
            std::future::pending::<()>().await;
        }
        if session.is_some() && self.options.back.capabilities().stream_per_request {
            let headers = protocol_headers(revision, session.as_deref(), &Value::Null);
            let request = HttpRequest { method: "DELETE".to_owned(), headers, ..HttpRequest::default() };
            let _ = wire.http(&request);
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        wire.close().await;
    }
}
