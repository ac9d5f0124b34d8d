//! All clients that are connected over HTTP, and the server.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyper::body::Bytes;
use indexmap::IndexMap;
use serde_json::Value;
use tokio::{
    sync::mpsc::Sender,
    task::AbortHandle,
    time::{Instant, sleep_until},
};

use crate::{
    dispatch::Server,
    http::{body::event, by_id::ById, guard::Guard, streams::Streams},
    oauth::Authority,
    session::{Change, Session},
    turn::Outgoing,
};

pub type Shared = Arc<Mutex<Hub>>;

/// Maximum number of clients; beyond it the oldest is forgotten.
const MOST_CLIENTS: usize = 1000;

pub struct Hub {
    pub server: Server,
    /// Only for a protected server.
    pub guard: Option<Guard>,
    /// Only in a world with authorization.
    pub authority: Option<Authority>,
    /// Legacy sessions of Streamable HTTP, by session id.
    pub clients: IndexMap<String, Client>,
    /// Connections of HTTP+SSE, by the name in their endpoint.
    pub pipes: IndexMap<String, Pipe>,
    /// Subscriptions of modern clients, each on its own stream.
    listeners: Vec<Pipe>,
    /// Sessions opened so far.
    sessions: usize,
    pub by_id: ById,
}

pub struct Client {
    pub session: Session,
    pub streams: Streams,
    pub jobs: Jobs,
    /// Streams whose requests wait for responses of the client.
    pub waiting: Vec<(Value, u64)>,
}

impl Client {
    /// The stream of a request that continues or no longer waits.
    pub fn resume(&mut self, request: &Value) -> Option<u64> {
        if let Some(stream) = self.jobs.stop(request) {
            return Some(stream);
        }
        let at = self.waiting.iter().position(|(waiting, _)| waiting == request)?;
        Some(self.waiting.swap_remove(at).1)
    }
}

/// A session whose messages are all sent on one stream.
pub struct Pipe {
    pub session: Session,
    pub events: Sender<Bytes>,
    pub jobs: Jobs,
}

/// Requests that are being handled: id, stream, task.
#[derive(Default)]
pub struct Jobs(Vec<(Value, u64, AbortHandle)>);

impl Jobs {
    pub fn add(&mut self, id: Value, stream: u64, task: AbortHandle) {
        self.0.retain(|(_, _, task)| !task.is_finished());
        self.0.push((id, stream, task));
    }

    /// Stops the work on a request, and returns its stream.
    pub fn stop(&mut self, id: &Value) -> Option<u64> {
        let at = self.0.iter().position(|(job, _, task)| job == id && !task.is_finished())?;
        let (_, stream, task) = self.0.swap_remove(at);
        task.abort();
        Some(stream)
    }
}

impl Hub {
    pub fn new(server: Server, guard: Option<Guard>) -> Self {
        let (authority, clients, pipes, listeners, sessions, by_id) = Default::default();
        Self { server, guard, authority, clients, pipes, listeners, sessions, by_id }
    }

    pub fn add_client(&mut self, session: Session) -> String {
        let most = if self.server.faults.keeps_one_client() { 1 } else { MOST_CLIENTS };
        if self.clients.len() >= most {
            self.clients.shift_remove_index(0);
        }
        self.sessions += 1;
        let id = self.server.faults.session_id(self.sessions).unwrap_or_else(fresh_id);
        let streams = Streams::new(self.server.faults.streaming());
        let (jobs, waiting) = (Jobs::default(), Vec::new());
        self.clients.insert(id.clone(), Client { session, streams, jobs, waiting });
        id
    }

    pub fn add_pipe(&mut self, session: Session, events: Sender<Bytes>) -> String {
        self.pipes.retain(|_, pipe| !pipe.events.is_closed());
        if self.pipes.len() >= MOST_CLIENTS {
            self.pipes.shift_remove_index(0);
        }
        let id = fresh_id();
        self.pipes.insert(id.clone(), Pipe { session, events, jobs: Jobs::default() });
        id
    }

    pub fn add_listener(&mut self, session: Session, events: Sender<Bytes>) {
        self.listeners.retain(|listener| !listener.events.is_closed());
        if self.listeners.len() < MOST_CLIENTS {
            self.listeners.push(Pipe { session, events, jobs: Jobs::default() });
        }
    }

    /// Sends a message to every subscriber, requested or not.
    pub fn tell_listeners(&self, data: &[u8]) {
        for listener in &self.listeners {
            listener.events.try_send(event("message", None, data)).ok();
        }
    }

    /// Notifies all clients that subscribed to these changes.
    pub fn announce(&mut self, changes: &[Change]) {
        if changes.is_empty() {
            return;
        }
        for client in self.clients.values_mut() {
            for out in self.server.announce(&client.session, changes) {
                client.streams.say_generally(out.bytes);
            }
        }
        for pipe in self.pipes.values().chain(&self.listeners) {
            for out in self.server.announce(&pipe.session, changes) {
                pipe.events.try_send(event("message", None, &out.bytes)).ok();
            }
        }
    }
}

/// No holder of the lock panics; if one did, the others could continue.
pub fn lock(hub: &Shared) -> MutexGuard<'_, Hub> {
    hub.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends each message at its time, until the client disconnects.
pub async fn in_time(out: Vec<Outgoing>, mut say: impl FnMut(&Outgoing) -> bool) {
    let start = Instant::now();
    for out in out {
        sleep_until(start + out.after).await;
        if !say(&out) {
            return;
        }
    }
}

/// 120 bits that cannot be guessed: hashes with random keys of the system. Case matters in session ids, so both cases occur.
pub fn fresh_id() -> String {
    let half = || RandomState::new().hash_one(0_u8) >> 4;
    format!("a{:015x}F{:015X}", half(), half())
}
