//! The state of one connection: the handshake, the open requests of both sides, and what each side declared.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{MessageContext, sent::gist};
use crate::{
    evidence::{Frame, Side},
    judge::phase::Phase,
    revision::Revision,
};

/// Maximum number of open requests that are tracked: a correct client never has more.
const MOST_OPEN: usize = 10_000;

const VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
const CAPABILITIES: &str = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";

/// A request of either side without a response.
#[derive(Clone, Debug)]
pub struct Open {
    pub method: String,
    pub params: Value,
    pub frame: u64,
    pub cancelled: bool,
    /// The HTTP request that carried it.
    post: Option<u64>,
    /// Whether its HTTP request failed, so that no response follows on a stream.
    rejected: bool,
}

impl Open {
    pub fn is_active(&self) -> bool {
        !self.cancelled && !self.rejected
    }

    pub fn token(&self) -> Option<&Value> {
        self.params.pointer("/_meta/progressToken")
    }
}

pub struct Dialogue {
    pub phase: Phase,
    /// The frame of notifications/initialized.
    initialized: Option<u64>,
    /// What the client declared in the handshake.
    offered: Value,
    pub declared: Value,
    pub answered_initialize: bool,
    /// Whether the server sent something that is no message.
    pub malformed: bool,
    initialize: Option<String>,
    pub ids: HashSet<String>,
    /// How often each request was sent, without ids and `_meta`.
    pub sent: HashMap<String, u64>,
    pub open: IndexMap<String, Open>,
    /// When the client's requests got their responses, by id.
    pub ended: HashMap<String, u64>,
    /// Requests of the server. Those with a response stay here until their ids are reused.
    pub asked: IndexMap<String, (Open, bool)>,
    /// The last value of each progress token.
    pub progress: HashMap<String, f64>,
    pub negotiated: Option<String>,
    pub subscribed: HashSet<String>,
    /// When the server last sent something.
    pub heard: Option<u64>,
    pub now: u64,
}

impl Default for Dialogue {
    fn default() -> Self {
        Self {
            phase: Phase::Closed,
            initialized: None,
            offered: Value::Null,
            declared: Value::Null,
            answered_initialize: false,
            malformed: false,
            initialize: None,
            ids: HashSet::new(),
            sent: HashMap::new(),
            open: IndexMap::new(),
            ended: HashMap::new(),
            asked: IndexMap::new(),
            progress: HashMap::new(),
            negotiated: None,
            subscribed: HashSet::new(),
            heard: None,
            now: 0,
        }
    }
}

/// The kind of message that an object is.
pub fn kind(message: &Value) -> &'static str {
    let has = |name: &str| message.get(name).is_some();
    match (message.get("method").is_some_and(Value::is_string), has("id"), has("result"), has("error")) {
        (true, true, false, false) => "request",
        (true, false, false, false) => "notification",
        (false, _, true, false) if !has("method") => "result",
        (false, _, false, true) if !has("method") => "error",
        _ => "other",
    }
}

/// Whether a message declares revision 2026-07-28 or later.
pub fn is_modern(message: &Value) -> bool {
    let stated = message.pointer(VERSION).and_then(Value::as_str);
    stated.is_some_and(|version| version.parse().is_ok_and(Revision::is_modern))
}

impl Dialogue {
    /// The client capabilities in effect for this message of the client.
    pub fn offered_with(&self, message: &Value) -> Value {
        let own = if message["method"] == "initialize" { "/params/capabilities" } else { CAPABILITIES };
        message.pointer(own).unwrap_or(&self.offered).clone()
    }

    pub fn offered(&self) -> &Value {
        &self.offered
    }

    /// Whether this responds to a request that the server sent before it received notifications/initialized.
    pub fn is_early(&self, response: &Value) -> bool {
        let asked = self.asked.get(&response["id"].to_string());
        asked.is_none_or(|(open, _)| self.initialized.is_none_or(|initialized| open.frame < initialized))
    }

    pub fn passed(&mut self, at: u64) {
        self.now = at;
    }

    /// The HTTP request with this number failed.
    pub fn rejected(&mut self, post: u64) {
        for open in self.open.values_mut().filter(|open| open.post == Some(post)) {
            open.rejected = true;
        }
    }

    /// Updates the state. Called after the message was described.
    pub fn take(&mut self, passing: &MessageContext) {
        let MessageContext { frame, message, .. } = passing;
        match frame.from {
            Side::Client => self.sent(frame, message),
            Side::Server | Side::Gateway => {
                self.received(frame, message);
                self.heard = Some(frame.at);
            }
        }
    }

    fn sent(&mut self, frame: &Frame, message: &Value) {
        self.phase = self.phase.after(message, false);
        if message["method"] == "notifications/initialized" {
            self.initialized = Some(frame.frame);
        }
        let (kind, id) = (kind(message), message.get("id").map(Value::to_string));
        let method = message["method"].as_str().unwrap_or_default();
        match (kind, id) {
            ("request", Some(id)) => {
                if method == "initialize" {
                    self.ids.clear();
                    self.initialize = Some(id.clone());
                    self.answered_initialize = false;
                    self.offered = message["params"]["capabilities"].clone();
                }
                let uri = message["params"]["uri"].to_string();
                match method {
                    "resources/subscribe" => _ = self.subscribed.insert(uri),
                    "resources/unsubscribe" => _ = self.subscribed.remove(&uri),
                    _ => {}
                }
                self.ids.insert(id.clone());
                *self.sent.entry(gist(message)).or_default() += 1;
                self.ended.remove(&id);
                if self.open.len() < MOST_OPEN {
                    self.open.insert(id, open(frame, message));
                }
            }
            ("notification", _) if method == "notifications/cancelled" => {
                let cancelled = message["params"]["requestId"].to_string();
                if let Some(open) = self.open.get_mut(&cancelled) {
                    open.cancelled = true;
                }
            }
            ("notification", _) if method == "notifications/progress" => {
                if let Some(value) = message["params"]["progress"].as_f64() {
                    self.progress.insert(message["params"]["progressToken"].to_string(), value);
                }
            }
            ("result" | "error", Some(id)) => {
                if let Some((_, responded)) = self.asked.get_mut(&id) {
                    *responded = true;
                }
            }
            _ => {}
        }
    }

    fn received(&mut self, frame: &Frame, message: &Value) {
        let id = message.get("id").map(Value::to_string);
        match (kind(message), id) {
            ("other", _) => self.malformed = true,
            ("request", Some(id)) if self.asked.len() < MOST_OPEN => {
                self.asked.insert(id, (open(frame, message), false));
            }
            ("notification", _) if message["method"] == "notifications/cancelled" => {
                let cancelled = message["params"]["requestId"].to_string();
                if let Some((asked, _)) = self.asked.get_mut(&cancelled) {
                    asked.cancelled = true;
                }
            }
            ("result" | "error", Some(id)) => {
                let declared = message.pointer("/result/capabilities");
                if self.initialize.as_ref() == Some(&id) && message.get("result").is_some() {
                    self.answered_initialize = true;
                    let version = message["result"]["protocolVersion"].as_str();
                    let is_known = |version: &&str| version.parse::<Revision>().is_ok();
                    self.negotiated = version.filter(is_known).map(str::to_owned);
                    self.declared = declared.cloned().unwrap_or_else(|| Map::new().into());
                } else if let Some(declared) =
                    declared.filter(|_| self.open.get(&id).is_some_and(|open| open.method == "server/discover"))
                {
                    self.declared = declared.clone();
                }
                if self.open.shift_remove(&id).is_some() {
                    self.ended.insert(id, frame.at);
                }
            }
            _ => {}
        }
    }
}

fn open(frame: &Frame, message: &Value) -> Open {
    Open {
        method: message["method"].as_str().unwrap_or_default().to_owned(),
        params: message["params"].clone(),
        frame: frame.frame,
        cancelled: false,
        post: frame.post,
        rejected: false,
    }
}
