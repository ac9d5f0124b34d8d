//! Determines what a server's message relates to: a request, a subscription or a progress token.
//!
//! Over HTTP, the stream shows the request that a message belongs to. If all messages share one stream, their order and
//! their content show it. If neither is certain, the fields are absent.

mod logs;
#[cfg(test)]
mod tests;
mod updates;

use std::collections::{HashMap, HashSet, VecDeque};

use serde::Serialize;
use serde_json::Value;

use conform_model::evidence::{Frame, Kind, Link, Message};

const SECOND: u64 = 1_000_000;

/// What a message relates to, as far as it is known.
#[derive(Debug, Default, Serialize)]
pub struct Relation {
    /// `subscription` or `request`.
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<&'static str>,
    /// On a subscription: of a `subscription` of this connection, of `another subscription` than the waiting one, or of
    /// `nothing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<&'static str>,
    /// On a subscription: whether it was acknowledged, or certainly over, at the time of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    acknowledged: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_cancel: Option<bool>,
    /// On a subscription, whether it requests such events. Of a log message, whether it has at least the requested level.
    #[serde(skip_serializing_if = "Option::is_none")]
    wanted: Option<bool>,
    /// Of progress: `running request`, `completed request`, `failed request`, `cancelled request` or `nothing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reports_on: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grows: Option<bool>,
    /// The number of notifications with the same token.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_last_second: Option<usize>,
    /// Of a log message: `running request`, `answered request` or `nothing that asked for logs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    logs: Option<&'static str>,
    /// Whether the session has a level.
    #[serde(skip_serializing_if = "Option::is_none")]
    level_set: Option<bool>,
    /// `own request`, `subscription`, `request` or `nothing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    cancels: Option<&'static str>,
    /// Of an update, until revision 2025-11-25: whether this connection ever subscribed to the resource or to one that it
    /// is below; null without a URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[expect(clippy::option_option, reason = "null is known, and is not absent")]
    subscribed: Option<Option<bool>>,
    /// Whether that has certainly ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    unsubscribed: Option<bool>,
    /// Of a request with a progress token: whether another open request has the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_in_use: Option<bool>,
    /// The frame of the request without which the message would show nothing wrong.
    #[serde(skip)]
    pub to: Option<u64>,
}

pub struct NotificationContext {
    /// Whether each request has its own stream.
    streams: bool,
    modern: bool,
    asked: Vec<Asked>,
    /// Open requests of the server, with their progress tokens; and the ids of all its requests.
    open: HashMap<String, Option<Value>>,
    own: HashSet<String>,
    settings: Vec<Setting>,
    watched: updates::Watched,
    /// Whether any cancelled request is not `Gone` yet, so that a search is needed.
    cancelled: bool,
}

/// A request of the client.
struct Asked {
    frame: u64,
    post: Option<u64>,
    id: Value,
    state: State,
    /// Whether it is well-formed; otherwise it may never get a response.
    sound: bool,
    /// The events that a subscription requests.
    filter: Option<Value>,
    acknowledged: bool,
    token: Option<Value>,
    /// Whether it created a task, which continues after the response.
    task: bool,
    last: Option<f64>,
    /// The number of progress notifications after it was cancelled and gone.
    worked_on: u64,
    times: VecDeque<u64>,
    /// The log level for this request.
    level: Option<Value>,
    /// The log level that it sets for the session.
    sets: Option<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Running,
    Answered,
    /// The response was an error.
    Failed,
    /// Cancelled by the notification in this frame.
    Cancelled(u64),
    /// Cancelled, and a later request has had a response since.
    Gone,
}

impl Asked {
    fn is_over(&self) -> bool {
        matches!(self.state, State::Answered | State::Failed)
    }
}

/// A log level that the server accepted.
struct Setting {
    sent: u64,
    answered: u64,
    level: usize,
}

impl NotificationContext {
    pub fn new(link: &Link) -> Self {
        Self {
            streams: link.transport.capabilities().stream_per_request,
            modern: link.revision.is_some_and(conform_model::revision::Revision::is_modern),
            asked: Vec::new(),
            open: HashMap::new(),
            own: HashSet::new(),
            settings: Vec::new(),
            watched: updates::Watched::default(),
            cancelled: false,
        }
    }

    pub fn asked(&mut self, frame: &Frame, id: &Value, request: &Message) {
        let (method, params) = (request.method, request.params());
        let meta = &params["_meta"];
        self.watched.asked(frame.frame, method, params);
        self.asked.push(Asked {
            frame: frame.frame,
            post: frame.post,
            id: id.clone(),
            state: State::Running,
            sound: request.is_version_2() && request.whole.get("params").is_none_or(Value::is_object),
            filter: (method == "subscriptions/listen").then(|| params["notifications"].clone()),
            acknowledged: false,
            token: request.token().cloned(),
            task: params.get("task").is_some(),
            last: None,
            worked_on: 0,
            times: VecDeque::new(),
            level: meta.get("io.modelcontextprotocol/logLevel").cloned(),
            sets: (method == "logging/setLevel").then(|| logs::level(&params["level"])).flatten(),
        });
    }

    pub fn cancelled(&mut self, frame: u64, id: &Value) {
        let running = |asked: &&mut Asked| asked.id == *id && asked.state == State::Running;
        if let Some(asked) = self.asked.iter_mut().rfind(running) {
            asked.state = State::Cancelled(frame);
            self.cancelled = true;
        }
    }

    /// The request in frame `request` got its response in the other frame.
    pub fn answered(&mut self, request: u64, answer: &Frame, id: &Value, reply: &Message) {
        let accepted = reply.whole.get("result").is_some();
        self.watched.answered(request, answer.frame, answer.at, accepted);
        let Some(index) = self.asked.iter().rposition(|asked| asked.frame == request && asked.id == *id) else {
            return;
        };
        if self.cancelled {
            for earlier in &mut self.asked[..index] {
                if matches!(earlier.state, State::Cancelled(frame) if frame < request) {
                    earlier.state = State::Gone;
                }
            }
            self.cancelled = self.asked.iter().any(|asked| matches!(asked.state, State::Cancelled(_)));
        }
        let asked = &mut self.asked[index];
        if asked.state == State::Running {
            asked.state = if reply.kind == Kind::Error { State::Failed } else { State::Answered };
        }
        asked.task |= reply.result().get("task").is_some() || reply.result()["resultType"] == "task";
        if let Some(level) = asked.sets.filter(|_| accepted) {
            self.settings.push(Setting { sent: request, answered: answer.frame, level });
        }
    }

    /// The number of progress notifications after the request was cancelled and gone; `None` if it was not cancelled.
    pub fn worked_on(&self, request: u64, id: &Value) -> Option<u64> {
        let asked = self.asked.iter().rfind(|asked| asked.frame == request && asked.id == *id)?;
        matches!(asked.state, State::Cancelled(_) | State::Gone).then_some(asked.worked_on)
    }

    /// The client responded to a request of the server.
    pub fn settled(&mut self, id: &Value) {
        self.open.remove(&id.to_string());
    }

    /// What a server's request or notification relates to.
    pub fn relation(&mut self, frame: &Frame, message: &Message) -> Relation {
        let mut relation = Relation::default();
        if message.method.is_empty() {
            return relation;
        }
        if let Some(id) = message.id {
            let token = message.token().cloned();
            relation.token_in_use = token.is_some().then(|| self.open.values().any(|used| *used == token));
            self.open.insert(id.to_string(), token);
            self.own.insert(id.to_string());
            return relation;
        }
        let carrier = self.asked.iter().rposition(|asked| self.streams && asked.post == frame.post);
        if self.modern {
            self.subscription(carrier, message, &mut relation);
        }
        let params = message.params();
        match message.method {
            "notifications/progress" => self.progress(frame, params, &mut relation),
            "notifications/message" if self.modern => self.log(carrier, params, &mut relation),
            "notifications/message" => self.legacy_log(carrier, params, &mut relation),
            "notifications/resources/updated" if !self.modern => {
                relation.subscribed = Some(None);
                if let Some(uri) = uri_in(params) {
                    self.watched.describe(uri, frame.at, &mut relation);
                }
            }
            "notifications/cancelled" => {
                let id = message.cancels().unwrap_or(&Value::Null);
                let mut named = self.asked.iter().filter(|asked| asked.id == *id).map(|asked| asked.filter.is_some());
                relation.cancels = Some(if self.own.contains(&id.to_string()) {
                    "own request"
                } else {
                    match named.next() {
                        None => "nothing",
                        Some(listens) if listens || named.any(|listens| listens) => "subscription",
                        Some(_) => "request",
                    }
                });
            }
            _ => {}
        }
        relation
    }

    /// Sets `on` and, on a subscription, whether the tag is right and the message is allowed at this time.
    fn subscription(&mut self, carrier: Option<usize>, message: &Message, relation: &mut Relation) {
        let method = message.method;
        let tag = message.whole.pointer("/params/_meta/io.modelcontextprotocol~1subscriptionId");
        let listens = |asked: &Asked| asked.filter.is_some();
        let carried = carrier.filter(|&index| listens(&self.asked[index]));
        relation.on = Some(if carried.is_some() || tag.is_some() { "subscription" } else { "request" });
        let named = self.asked.iter().rposition(|asked| listens(asked) && Some(&asked.id) == tag);
        let found = if self.streams { carried } else { named };
        let acknowledges = method == "notifications/subscriptions/acknowledged";
        // If the tag is missing, or its subscription was acknowledged before, the message is for the one that waits.
        let waits = |asked: &Asked| listens(asked) && !asked.acknowledged && asked.state == State::Running;
        let astray = acknowledges && found.is_none_or(|index| self.asked[index].acknowledged);
        let meant = self.asked.iter().rposition(waits).filter(|_| astray);
        if tag.is_some() {
            relation.tag = Some(match found {
                Some(_) if meant.is_some() => "another subscription",
                Some(index) if Some(&self.asked[index].id) == tag => "subscription",
                // The tag differs from that of the stream.
                _ if named.is_some() => "another subscription",
                _ => "nothing",
            });
        }
        if let Some(meant) = meant {
            self.asked[meant].acknowledged = true;
        }
        let Some(asked) = found.map(|index| &mut self.asked[index]) else { return };
        relation.acknowledged = Some(asked.acknowledged);
        asked.acknowledged |= acknowledges;
        relation.after_cancel = Some(asked.state == State::Gone);
        let filter = asked.filter.as_ref().unwrap_or(&Value::Null);
        let wanted = match method {
            "notifications/tools/list_changed" => filter["toolsListChanged"] == true,
            "notifications/prompts/list_changed" => filter["promptsListChanged"] == true,
            "notifications/resources/list_changed" => filter["resourcesListChanged"] == true,
            "notifications/resources/updated" => {
                let uri = uri_in(message.params()).unwrap_or_default();
                let watched = filter["resourceSubscriptions"].as_array().into_iter().flatten();
                watched.filter_map(Value::as_str).any(|watched| is_within(uri, watched))
            }
            _ => return,
        };
        relation.wanted = Some(wanted);
    }

    fn progress(&mut self, frame: &Frame, params: &Value, relation: &mut Relation) {
        let token = params.get("progressToken");
        let Some(asked) = self.asked.iter_mut().rfind(|asked| asked.token.is_some() && asked.token.as_ref() == token)
        else {
            relation.reports_on = Some("nothing");
            return;
        };
        // Messages on another stream are not ordered relative to the response.
        let ordered = !self.streams || asked.post == frame.post;
        relation.reports_on = Some(match asked.state {
            State::Answered if ordered && !asked.task => "completed request",
            State::Failed if ordered => "failed request",
            State::Cancelled(_) | State::Gone => "cancelled request",
            _ => "running request",
        });
        asked.worked_on += u64::from(asked.state == State::Gone);
        asked.times.push_back(frame.at);
        while asked.times.front().is_some_and(|&at| at + SECOND < frame.at) {
            asked.times.pop_front();
        }
        relation.in_last_second = Some(asked.times.len());
        if let Some(progress) = params["progress"].as_f64().filter(|_| ordered) {
            relation.grows = Some(asked.last.is_none_or(|last| progress > last));
            asked.last = Some(progress);
        }
    }
}

fn uri_in(params: &Value) -> Option<&str> {
    params["uri"].as_str()
}

/// Whether a URI is the watched one or below it.
fn is_within(uri: &str, watched: &str) -> bool {
    uri.strip_prefix(watched)
        .is_some_and(|rest| rest.is_empty() || watched.ends_with('/') || rest.starts_with(['/', '?', '#']))
}
