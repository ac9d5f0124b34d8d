//! What the reference gateway does when its upstream fails: it starts a session again, resumes streams, and returns an error
//! for what is lost.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{sync::mpsc::UnboundedSender, time::sleep};

use super::client::{Relay, key};
use conform_faults::Side;
use conform_session::protocol_headers;
use conform_wire::Envelope;

/// The id of the handshake of a new session.
pub const RESTART: &str = "restart";
/// The delay before a stream is resumed if the upstream sets none, in milliseconds. A guess.
const PAUSE: u64 = 100;
/// A stream that ends again and again is resumed this often.
const MOST: usize = 100;

/// A stream that ended before the response, by its request and its last event.
pub struct Place {
    request: String,
    event: String,
}

pub struct Recovery {
    /// The client's initialize.
    pub opening: Option<Value>,
    /// Requests that wait for the response to another one.
    pub waiting: VecDeque<Value>,
    /// Whether an HTTP exchange with the upstream failed.
    pub failed: bool,
    /// HTTP exchanges with an error status.
    pub rejected: HashSet<u64>,
    /// Requests that are sent again in the new session.
    again: Vec<String>,
    resumed: usize,
    /// The first event of the stream of each request.
    first: HashMap<String, String>,
    resume: UnboundedSender<Place>,
}

impl Recovery {
    pub fn new(resume: UnboundedSender<Place>) -> Self {
        let (opening, waiting, failed, rejected, again, resumed, first) = Default::default();
        Self { opening, waiting, failed, rejected, again, resumed, first, resume }
    }
}

impl Relay {
    /// Sends the next request that waits for a response.
    pub fn next_waiting(&mut self) {
        if let Some(next) = self.recovery.waiting.pop_front() {
            self.up(next);
        }
    }

    /// An HTTP exchange ended without the response to its request.
    pub fn without_response(&mut self, post: u64, id: String, why: Option<&str>) {
        if !self.open.contains_key(&id) {
            return;
        }
        let last = self.upstream.wire.last_event(post).unwrap_or_default();
        let polls = self.upstream.revision.is_some_and(|revision| revision.features().polling);
        if let Some(event) =
            last.id.filter(|_| polls && !self.options.fault.resumes_nothing && self.recovery.resumed < MOST)
        {
            self.recovery.resumed += 1;
            let first = self.recovery.first.entry(id.clone()).or_insert_with(|| event.clone());
            let event = if self.options.fault.resumes_first { first.clone() } else { event };
            let resume = self.recovery.resume.clone();
            let retry = last.retry.filter(|_| !self.options.fault.ignores_retry);
            tokio::spawn(async move {
                sleep(Duration::from_millis(retry.unwrap_or(PAUSE))).await;
                let _ = resume.send(Place { request: id, event });
            });
            return;
        }
        self.fail(&id, why.unwrap_or("no response"));
        self.recovery.failed = true;
        self.next_waiting();
    }

    /// The upstream has disconnected: no open request gets a response.
    pub fn fail_open(&mut self) {
        let open: Vec<String> = self.open.keys().cloned().collect();
        for id in open {
            self.fail(&id, "it has disconnected");
        }
    }

    fn fail(&mut self, id: &str, why: &str) {
        let Some(request) = self.open.remove(id) else { return };
        let error = json!({ "code": -32000, "message": format!("the upstream failed: {why}") });
        let response = json!({ "jsonrpc": "2.0", "id": request["id"], "error": error });
        let fate = self.pass(Side::Server, Some(&request), response);
        self.deliver(fate, Some(id));
    }

    pub fn resume(&mut self, Place { request, event }: Place) {
        let upstream = &mut self.upstream;
        let mut headers = protocol_headers(upstream.revision, upstream.session.as_deref(), &Value::Null);
        headers.push(("last-event-id".to_owned(), event));
        let posted = upstream.wire.listen(&Envelope { by: "relay".to_owned(), headers });
        if let Some(post) = posted.ok().and_then(|posted| posted.post) {
            upstream.posts.insert(post, request);
        }
    }

    /// The upstream no longer knows the session of this exchange.
    pub fn session_ended(&mut self, post: u64) {
        let is_known = self.upstream.session.is_some() && self.upstream.posts.contains_key(&post);
        let Some(opening) =
            self.recovery.opening.clone().filter(|_| is_known && !self.options.fault.keeps_dead_session)
        else {
            return;
        };
        self.recovery.again.extend(self.upstream.posts.remove(&post));
        (self.upstream.session, self.upstream.revision) = (None, None);
        let mut opening = opening;
        opening["id"] = RESTART.into();
        if self.options.fault.restarts_without_capabilities {
            opening["params"]["capabilities"] = json!({});
        }
        if self.options.fault.restarts_in_older_revision {
            opening["params"]["protocolVersion"] = "2025-03-26".into();
        }
        self.open.insert(key(&opening["id"]), opening.clone());
        self.send_up(&opening);
    }

    /// The new session has begun.
    pub fn restarted(&mut self, response: &Value) {
        self.open.remove(&key(&response["id"]));
        let version = response.pointer("/result/protocolVersion").and_then(Value::as_str);
        self.upstream.revision = version.and_then(|version| version.parse().ok());
        if !self.options.fault.restarts_uninitialized {
            self.send_up(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        for id in std::mem::take(&mut self.recovery.again) {
            if let Some(request) = self.open.get(&id).cloned() {
                self.send_up(&request);
            }
        }
    }
}
