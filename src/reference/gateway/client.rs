//! One client and its upstream.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::{
    Options,
    clients::{Clients, Down},
    fault::{Action, Memory},
};
use crate::{
    evidence::Recorder,
    revision::Revision,
    session::protocol_headers,
    target::{Limits, Start, Target},
    wire::{Envelope, HttpRequest, Incoming, Wire},
};

/// The wire needs a record; nothing reads this one.
const RECORD: usize = 1;
const LARGEST: usize = 64 << 20;

struct Upstream {
    wire: Wire,
    /// The revision that the upstream returned for `initialize`.
    revision: Option<Revision>,
    session: Option<String>,
    /// The request of each HTTP exchange.
    posts: HashMap<u64, String>,
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
    let limits = Limits { message_bytes: LARGEST, ..Limits::default() };
    let headers = if options.fault.leaks_credentials { credentials } else { Vec::new() };
    let start = Start::over(options.back, options.upstream.clone(), headers);
    let recorder = Recorder::new(RECORD, RECORD, RECORD);
    let (wire, mut inbox) = Wire::open(&Target::new("upstream", start), &limits, &recorder)
        .await
        .map_err(|failure| format!("{}: {}", failure.tried, failure.came))?;
    let upstream = Upstream { wire, revision: None, session: None, posts: HashMap::new() };
    let mut relay = Relay { options, upstream, memory: Memory::default(), held: Vec::new(), down, clients };
    loop {
        tokio::select! {
            message = up.recv() => match message {
                Some(message) => relay.up(message),
                None => break,
            },
            incoming = inbox.recv() => match incoming {
                Some(incoming) => if !relay.incoming(incoming) { break },
                None => break,
            },
        }
    }
    relay.leave().await;
    Ok(())
}

struct Relay {
    options: Arc<Options>,
    upstream: Upstream,
    memory: Memory,
    held: Vec<Down>,
    down: UnboundedSender<Down>,
    clients: Clients,
}

fn key(id: &Value) -> String {
    id.to_string()
}

impl Relay {
    /// Handles a message of the client.
    fn up(&mut self, mut message: Value) {
        let fault = self.options.fault;
        let is_request = message.get("method").is_some();
        // Without a handshake each request says its revision.
        let stated = message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").and_then(Value::as_str);
        if let Some(revision) = stated.and_then(|stated| stated.parse().ok()) {
            self.upstream.revision = Some(revision);
        }
        if is_request && let Some(id) = message.get("id") {
            self.memory.open.insert(key(id), message.clone());
            if let Some(kept) = fault.keeps_by_id {
                self.clients.uses(&key(id), &self.down, kept);
            }
        }
        let id = message.get("id").map(key);
        let fate = if is_request {
            fault.up.map_or(Action::Pass, |edit| edit(&mut self.memory, &mut message))
        } else {
            let asked = self.memory.asked.remove(&key(&message["id"])).unwrap_or_default();
            fault.answer.map_or(Action::Pass, |edit| edit(&mut self.memory, &mut message, &asked))
        };
        match fate {
            Action::Drop | Action::Hold => {}
            Action::Return(response) => self.send_down(response, id),
            Action::Twice => {
                self.send_up(&message);
                self.send_up(&message);
            }
            Action::Pass | Action::ToFirst | Action::ToAll => self.send_up(&message),
        }
    }

    fn send_up(&mut self, message: &Value) {
        let Upstream { wire, revision, session, posts } = &mut self.upstream;
        let mut headers = if self.options.back.capabilities().stream_per_request {
            protocol_headers(*revision, session.as_deref(), message)
        } else {
            Vec::new()
        };
        if self.options.fault.lacks_version {
            headers.retain(|(name, _)| name != "MCP-Protocol-Version");
        }
        let envelope = Envelope { by: "relay".to_owned(), headers };
        if let Ok(posted) = wire.send(&envelope, message)
            && let (Some(post), Some(id), true) = (posted.post, message.get("id"), message.get("method").is_some())
            // Over HTTP+SSE the response is on the common stream.
            && self.options.back.capabilities().stream_per_request
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
            Incoming::Head { status, .. } => {
                let is_stream = status.headers.get("content-type").is_some_and(|kind| kind.contains("event-stream"));
                self.memory.unmarked |= is_stream && !status.headers.contains_key("x-accel-buffering");
                if let Some(session) = status.headers.get("mcp-session-id") {
                    self.upstream.session.get_or_insert_with(|| session.clone());
                }
            }
            Incoming::PostDone { post, failure } => {
                // An HTTP exchange without a response message gets an error here.
                if let Some(id) = self.upstream.posts.remove(&post)
                    && let Some(request) = self.memory.open.remove(&id)
                {
                    let why = failure.map_or_else(|| "no response".to_owned(), |failure| failure.words);
                    let error = json!({ "code": -32000, "message": format!("the upstream failed: {why}") });
                    self.send_down(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }), Some(id));
                }
            }
            Incoming::Closed { .. } => return false,
            Incoming::Junk { .. } | Incoming::Document { .. } | Incoming::Endpoint { .. } => {}
        }
        true
    }

    fn one_down(&mut self, mut message: Value, belongs_to: Option<String>) {
        let fault = self.options.fault;
        if let Some(method) = message["method"].as_str() {
            // Over stdio only the token shows the request of a progress notification.
            let token = message["params"].get("progressToken").filter(|_| method == "notifications/progress").cloned();
            let by_token = token.and_then(|token| {
                let mut open = self.memory.open.iter();
                open.find(|(_, asked)| asked.pointer("/params/_meta/progressToken") == Some(&token))
                    .map(|(id, _)| id.clone())
            });
            let only = || (self.memory.open.len() == 1).then(|| self.memory.open.keys().next().cloned()).flatten();
            let is_request = message.get("id").is_some();
            let belongs_to = belongs_to.or(by_token).or_else(|| if is_request { only() } else { None });
            if is_request {
                self.memory.asked.insert(key(&message["id"]), message.clone());
            }
            let fate = fault.down.map_or(Action::Pass, |edit| edit(&mut self.memory, &mut message));
            self.deliver(fate, message, belongs_to);
            return;
        }
        let id = key(&message["id"]);
        let asked = self.memory.open.remove(&id).unwrap_or_default();
        if asked["method"] == "initialize" {
            let version = message.pointer("/result/protocolVersion").and_then(Value::as_str);
            self.upstream.revision = version.and_then(|version| version.parse().ok());
        }
        let fate = fault.result.map_or(Action::Pass, |edit| edit(&mut self.memory, &mut message, &asked));
        let held = std::mem::take(&mut self.held);
        let (early, late): (Vec<_>, Vec<_>) = held.into_iter().partition(|_| self.memory.count == 0);
        for down in early {
            let _ = self.down.send(down);
        }
        let id = key(&message["id"]);
        if fault.keeps_by_id.is_some() {
            if let Some(client) = self.clients.next_with(&id) {
                let _ = client.send(Down { message, belongs_to: Some(id) });
            }
            return;
        }
        self.deliver(fate, message, Some(id));
        for down in late {
            let _ = self.down.send(down);
        }
    }

    fn deliver(&mut self, fate: Action, message: Value, belongs_to: Option<String>) {
        match fate {
            Action::Drop => {}
            Action::Hold => self.held.push(Down { message, belongs_to }),
            Action::Twice => {
                self.send_down(message.clone(), belongs_to.clone());
                self.send_down(message, belongs_to);
            }
            Action::ToFirst => {
                if let Some(first) = self.clients.first() {
                    let _ = first.send(Down { message, belongs_to: None });
                }
            }
            Action::ToAll => {
                for other in self.clients.others(&self.down) {
                    let _ = other.send(Down { message: message.clone(), belongs_to: None });
                }
                self.send_down(message, belongs_to);
            }
            Action::Return(response) => self.send_up(&response),
            Action::Pass => self.send_down(message, belongs_to),
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
