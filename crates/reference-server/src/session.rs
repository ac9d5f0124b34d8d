//! The state of one conversation: the handshake of the legacy revisions and the open subscriptions.
//!
//! A modern request adds no state except its subscription. One process on stdio may serve both eras at once.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::{content::tasks::Tasks, message::notification, options::Transport};
use conform_model::revision::Revision;

pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// Maximum number of subscriptions, so that a client cannot exhaust the memory.
const MOST_SUBSCRIPTIONS: usize = 1000;
const MOST_PENDING: usize = 1000;

#[derive(Debug)]
pub struct Session {
    pub transport: Transport,
    /// The negotiated revision.
    pub revision: Option<Revision>,
    pub level: Option<Level>,
    pub tasks: Tasks,
    /// What the client declared in `initialize`.
    pub capabilities: Value,
    /// Roots that the client returned before.
    pub roots: Option<Vec<String>>,
    /// Requests that wait for responses of the client, and the number of requests that were sent to it.
    pub pending: Vec<Pending>,
    pub asked: u64,
    /// The client's responses for the current request.
    pub collected: Option<Map<String, Value>>,
    /// Pages that the client was sent to, by the request that needed them.
    pub visits: BTreeMap<String, String>,
    /// A batch is being handled, so its responses cannot wait for the client.
    pub batching: bool,
    pub listens: Vec<Listen>,
    subscribed: BTreeSet<String>,
    /// Subscriptions of the versioned dialect, whose notifications contain the resource and its version.
    subscribed_versions: BTreeSet<String>,
}

/// A request of a legacy client that waits for a response of the client.
#[derive(Debug)]
pub struct Pending {
    pub sent: Value,
    /// Ids of the server's requests, and the purpose of each.
    pub open: Vec<(String, String)>,
    pub answers: Map<String, Value>,
}

/// An open `subscriptions/listen`.
#[derive(Debug)]
pub struct Listen {
    pub id: Value,
    pub resources: bool,
    pub tools: bool,
    pub prompts: bool,
    pub uris: BTreeSet<String>,
    pub tasks: BTreeSet<String>,
}

/// A change that subscribers are notified of.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Resource {
        uri: String,
        /// The resource in the form of the versioned dialect.
        described: Value,
    },
    Resources,
    Tools,
    Prompts,
    /// The current state of a task of the extension.
    Task(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl Level {
    const NAMES: [(&str, Self); 8] = [
        ("debug", Self::Debug),
        ("info", Self::Info),
        ("notice", Self::Notice),
        ("warning", Self::Warning),
        ("error", Self::Error),
        ("critical", Self::Critical),
        ("alert", Self::Alert),
        ("emergency", Self::Emergency),
    ];

    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, level)| *level)
    }
}

impl Session {
    pub fn new(transport: Transport) -> Self {
        Self {
            transport,
            revision: None,
            level: None,
            tasks: Tasks::default(),
            capabilities: Value::Null,
            roots: None,
            pending: Vec::new(),
            asked: 0,
            collected: None,
            visits: BTreeMap::new(),
            batching: false,
            listens: Vec::new(),
            subscribed: BTreeSet::new(),
            subscribed_versions: BTreeSet::new(),
        }
    }

    pub fn subscribe(&mut self, uri: &str) {
        if self.subscribed.len() < MOST_SUBSCRIPTIONS {
            self.subscribed.insert(uri.to_owned());
        }
    }

    pub fn unsubscribe(&mut self, uri: &str) {
        self.subscribed.remove(uri);
    }

    pub fn subscribe_version(&mut self, uri: &str) {
        if self.subscribed_versions.len() < MOST_SUBSCRIPTIONS {
            self.subscribed_versions.insert(uri.to_owned());
        }
    }

    pub fn unsubscribe_version(&mut self, uri: &str) {
        self.subscribed_versions.remove(uri);
    }

    /// Stores a request until the client has responded to all of these requests; earlier responses are kept.
    pub fn await_answers(&mut self, sent: &Value, open: Vec<(String, String)>) {
        if self.pending.len() < MOST_PENDING {
            let answers = self.collected.take().unwrap_or_default();
            self.pending.push(Pending { sent: sent.clone(), open, answers });
        }
    }

    /// Handles a response of the client. Returns the request that can continue now, with all responses for it.
    pub fn answered(&mut self, response: &Value) -> Option<(Value, Map<String, Value>)> {
        let id = response.get("id")?.as_str()?;
        let at = self.pending.iter().position(|pending| pending.open.iter().any(|(own, _)| own == id))?;
        let pending = &mut self.pending[at];
        let asked = pending.open.iter().position(|(own, _)| own == id)?;
        let (_, key) = pending.open.remove(asked);
        let answer = response.get("result").cloned();
        pending.answers.insert(key, answer.unwrap_or_else(|| json!({ "error": response.get("error") })));
        if !pending.open.is_empty() {
            return None;
        }
        let Pending { sent, answers, .. } = self.pending.swap_remove(at);
        self.collected = Some(answers.clone());
        Some((sent, answers))
    }

    /// Ends a subscription; false if none has that id.
    pub fn end_listen(&mut self, id: &Value) -> bool {
        let before = self.listens.len();
        self.listens.retain(|listen| listen.id != *id);
        self.listens.len() < before
    }

    /// The notifications for this client about a change, each with its revision.
    pub fn announce(&self, change: &Change) -> Vec<(Revision, Value)> {
        let mut told = Vec::new();
        if let Some(revision) = self.revision {
            match change {
                Change::Resource { uri, described } => {
                    if self.subscribed.contains(uri) {
                        told.push((revision, notification(change.method(), &json!({ "uri": uri }))));
                    }
                    if self.subscribed_versions.contains(uri) {
                        let params = json!({ "resource": described });
                        told.push((revision, notification("notifications/resources/content_changed", &params)));
                    }
                }
                // Only subscriptions of the modern era are notified of these.
                Change::Task(_) => {}
                _ => told.push((revision, notification(change.method(), &json!({})))),
            }
        }
        for listen in self.listens.iter().filter(|listen| listen.wants(change)) {
            let mut params = json!({});
            match change {
                Change::Resource { uri, .. } => params["uri"] = json!(uri),
                Change::Task(task) => params = task.clone(),
                _ => {}
            }
            params["_meta"] = json!({ SUBSCRIPTION_ID: listen.id });
            told.push((Revision::V2026_07_28, notification(change.method(), &params)));
        }
        told
    }
}

impl Listen {
    fn wants(&self, change: &Change) -> bool {
        match change {
            Change::Resource { uri, .. } => self.uris.contains(uri),
            Change::Resources => self.resources,
            Change::Tools => self.tools,
            Change::Prompts => self.prompts,
            Change::Task(task) => task["taskId"].as_str().is_some_and(|id| self.tasks.contains(id)),
        }
    }
}

impl Change {
    fn method(&self) -> &'static str {
        match self {
            Self::Resource { .. } => "notifications/resources/updated",
            Self::Resources => "notifications/resources/list_changed",
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Task(_) => "notifications/tasks",
        }
    }
}
