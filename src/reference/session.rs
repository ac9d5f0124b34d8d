//! What the server remembers of one conversation: the handshake of the legacy revisions and the open subscriptions.
//!
//! A modern request leaves nothing here but the subscription it opens. One process on stdio may hold both eras at once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    reference::{message::notification, options::Transport},
    revision::Revision,
};

pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// A client cannot make the server remember more than this.
const MOST_SUBSCRIPTIONS: usize = 1000;

#[derive(Debug)]
pub struct Session {
    pub transport: Transport,
    /// The outcome of `initialize`.
    pub revision: Option<Revision>,
    pub level: Option<Level>,
    pub listens: Vec<Listen>,
    subscribed: BTreeSet<String>,
    /// Subscriptions of the versioned dialect, which are told with the resource and its version.
    subscribed_versions: BTreeSet<String>,
}

/// One `subscriptions/listen` that is open.
#[derive(Debug)]
pub struct Listen {
    pub id: Value,
    pub resources: bool,
    pub tools: bool,
    pub prompts: bool,
    pub uris: BTreeSet<String>,
}

/// Something happened that subscribers want to know.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Resource {
        uri: String,
        /// The resource as the versioned dialect tells it.
        described: Value,
    },
    Resources,
    Tools,
    Prompts,
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

    /// Ends a subscription; false if there is none of that id.
    pub fn end_listen(&mut self, id: &Value) -> bool {
        let before = self.listens.len();
        self.listens.retain(|listen| listen.id != *id);
        self.listens.len() < before
    }

    /// The notifications that tell this client of a change, each with the revision that it belongs to.
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
                _ => told.push((revision, notification(change.method(), &json!({})))),
            }
        }
        for listen in self.listens.iter().filter(|listen| listen.wants(change)) {
            let mut params = json!({ "_meta": { SUBSCRIPTION_ID: listen.id } });
            if let Change::Resource { uri, .. } = change {
                params["uri"] = json!(uri);
            }
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
        }
    }
}
