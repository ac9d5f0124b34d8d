//! The state of one connection: the handshake, the open requests of both sides, and what each side declared.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{MessageContext, sent::gist};
use crate::phase::Phase;
use conform_model::{
    evidence::{
        Frame, Kind, Message, Side,
        conversation::{Related, RequestAt},
    },
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
    initialize: Option<RequestAt>,
    pub ids: HashSet<String>,
    /// How often each request was sent, without ids and `_meta`.
    pub sent: HashMap<String, u64>,
    pub open: IndexMap<RequestAt, Open>,
    /// When the client's requests got their responses.
    pub ended: HashMap<RequestAt, u64>,
    /// Requests of the server, and whether they have a response.
    pub asked: IndexMap<RequestAt, (Open, bool)>,
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
    pub fn is_early(&self, response: &Related) -> bool {
        let asked = response.responds_to().and_then(|asked| self.asked.get(&asked.place));
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
        let frame = passing.frame;
        if frame.from == Side::Client {
            self.sent(passing);
        } else {
            self.received(passing);
            self.heard = Some(frame.at);
        }
    }

    fn sent(&mut self, passing: &MessageContext) {
        let MessageContext { frame, message, kind, related, .. } = passing;
        let (method, params) = (related.message.method, related.message.params());
        self.phase = self.phase.after(message, false);
        if method == "notifications/initialized" {
            self.initialized = Some(frame.frame);
        }
        match kind {
            Kind::Request => {
                if method == "initialize" {
                    self.ids.clear();
                    self.initialize = Some(related.sent);
                    self.answered_initialize = false;
                    self.offered = params["capabilities"].clone();
                }
                let uri = params["uri"].to_string();
                match method {
                    "resources/subscribe" => _ = self.subscribed.insert(uri),
                    "resources/unsubscribe" => _ = self.subscribed.remove(&uri),
                    _ => {}
                }
                self.ids.extend(related.message.id.map(Value::to_string));
                *self.sent.entry(gist(message)).or_default() += 1;
                // A second request with the same id replaces the first one.
                if let Some(before) = &related.asked {
                    self.open.shift_remove(&before.place);
                }
                if self.open.len() < MOST_OPEN {
                    self.open.insert(related.sent, open(frame, &related.message));
                }
            }
            Kind::Notification if method == "notifications/cancelled" => {
                if let Some(open) = related.asked.as_ref().and_then(|asked| self.open.get_mut(&asked.place)) {
                    open.cancelled = true;
                }
            }
            Kind::Notification if method == "notifications/progress" => {
                if let Some(value) = params["progress"].as_f64() {
                    self.progress.insert(params["progressToken"].to_string(), value);
                }
            }
            Kind::Result | Kind::Error => {
                if let Some((_, responded)) = related.responds_to().and_then(|asked| self.asked.get_mut(&asked.place)) {
                    *responded = true;
                }
            }
            Kind::Notification | Kind::Other => {}
        }
    }

    fn received(&mut self, passing: &MessageContext) {
        let MessageContext { frame, kind, related, .. } = passing;
        let (message, asked) = (&related.message, related.asked.as_ref().map(|asked| asked.place));
        match (kind, asked) {
            (Kind::Other, _) => self.malformed = true,
            (Kind::Request, before) => {
                if let Some(before) = before {
                    self.asked.shift_remove(&before);
                }
                if self.asked.len() < MOST_OPEN {
                    self.asked.insert(related.sent, (open(frame, message), false));
                }
            }
            (Kind::Notification, Some(asked)) => {
                if let Some((asked, _)) = self.asked.get_mut(&asked) {
                    asked.cancelled = true;
                }
            }
            (Kind::Result | Kind::Error, Some(asked)) => {
                let declared = message.result().get("capabilities");
                if self.initialize == Some(asked) && *kind == Kind::Result {
                    self.answered_initialize = true;
                    let version = message.result()["protocolVersion"].as_str();
                    let is_known = |version: &&str| version.parse::<Revision>().is_ok();
                    self.negotiated = version.filter(is_known).map(str::to_owned);
                    self.declared = declared.cloned().unwrap_or_else(|| Map::new().into());
                } else if let Some(declared) =
                    declared.filter(|_| self.open.get(&asked).is_some_and(|open| open.method == "server/discover"))
                {
                    self.declared = declared.clone();
                }
                if self.open.shift_remove(&asked).is_some() {
                    self.ended.insert(asked, frame.at);
                }
            }
            (Kind::Notification | Kind::Result | Kind::Error, None) => {}
        }
    }
}

fn open(frame: &Frame, request: &Message) -> Open {
    Open {
        method: request.method.to_owned(),
        params: request.params().clone(),
        frame: frame.frame,
        cancelled: false,
        post: frame.post,
        rejected: false,
    }
}
