//! Tasks as the client follows them: items of `$tasks`, and what is known of the task of a message that it sends.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use super::{MessageContext, dialogue::Dialogue};
use conform_model::{
    evidence::{
        Kind, Link, Message, Side, Transport,
        conversation::{Related, RequestAt},
    },
    revision::Revision,
};

/// At most this many tasks of one run are judged.
const MOST: usize = 2_000;
/// What a client does on its own may take this long, in microseconds.
const WINDOW: u64 = 10_000_000;
/// Messages may cross for this long, in microseconds.
const CROSSING: u64 = 1_000_000;
/// A poll may be early by this part of the interval, and by this time, in microseconds: requests take different times.
const TOLERATED: f64 = 0.9;
const JITTER: f64 = 50_000.0;

const INVALID_PARAMS: i64 = -32602;

/// The tasks of all connections: since 2026-07-28 a task does not belong to one.
#[derive(Default)]
pub struct Tasks {
    all: IndexMap<String, Task>,
    done: Vec<Item>,
    /// The task and the method of each request about one that is open.
    open: HashMap<RequestAt, (String, String)>,
    /// The task that each call became.
    calls: HashMap<RequestAt, String>,
}

/// A message of the client about a task: `task` of `$sent[*]`.
#[derive(Default, Serialize)]
pub struct About {
    /// Whether the server created it.
    known: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    early: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeated: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unwanted: Option<Vec<String>>,
}

/// One task: `$tasks[*]`.
#[derive(Serialize)]
pub struct Item {
    id: String,
    method: String,
    params: Value,
    offered: Value,
    status: String,
    gets: u64,
    results: u64,
    updates: u64,
    cancels: u64,
    gets_after_end: u64,
    after_error: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'static str>,
    end: &'static str,
    frames: Vec<u64>,
    link: u32,
    transport: Transport,
    revision: Option<Revision>,
}

struct Task {
    item: Item,
    created: u64,
    token: Option<Value>,
    /// In milliseconds.
    interval: Option<f64>,
    polled: Option<u64>,
    /// A notification came after the last poll.
    notified: bool,
    /// Whether the client subscribed to it.
    watched: bool,
    over: bool,
    outcome: bool,
    gone: bool,
    /// Since when it waits for input, and the keys that have no response yet.
    waits: Option<u64>,
    wanted: Vec<String>,
    responded: HashSet<String>,
    /// Another request followed the last message about it.
    left: bool,
}

impl Tasks {
    /// Of a message of the client about a task: what is known of it.
    pub fn take(&mut self, passing: &MessageContext, dialogue: &Dialogue, link: &Link) -> Option<About> {
        let MessageContext { frame, kind, related, .. } = passing;
        let message = &related.message;
        match (frame.from, kind) {
            (Side::Client, Kind::Request) => return self.requested(related, frame.at),
            (Side::Client, Kind::Notification) => return self.cancelled(related, frame.at),
            (Side::Server, Kind::Result | Kind::Error) => self.responded(passing, dialogue, link),
            (Side::Server, Kind::Notification) => self.notified(message, frame.at),
            _ => {}
        }
        None
    }

    /// Whether a task that is not over has this progress token; `None` if no task has one.
    pub fn have_token(&self, token: &Value) -> Option<bool> {
        let mut tokens =
            self.all.values().filter(|task| !task.over && !task.gone).filter_map(|task| task.token.as_ref());
        let first = tokens.next()?;
        Some(first == token || tokens.any(|own| own == token))
    }

    fn requested(&mut self, related: &Related, at: u64) -> Option<About> {
        let (message, method) = (&related.message, related.message.method);
        if method == "subscriptions/listen" {
            let ids = message.params()["notifications"]["taskIds"].as_array()?;
            let known = ids.iter().all(|id| id.as_str().is_some_and(|id| self.all.contains_key(id)));
            return Some(About { known, ..About::default() });
        }
        if !matches!(method, "tasks/get" | "tasks/result" | "tasks/update" | "tasks/cancel") {
            if method != "ping" {
                self.all.values_mut().for_each(|task| task.left = true);
            }
            return None;
        }
        let Some(task) = message.params()["taskId"].as_str().and_then(|id| self.all.get_mut(id)) else {
            return Some(About::default());
        };
        let keys = message.params()["inputResponses"].as_object();
        let keys = keys.map(|keys| keys.keys().cloned().collect::<Vec<_>>()).filter(|_| method == "tasks/update");
        let about = About {
            known: true,
            status: Some(task.item.status.clone()),
            early: (method == "tasks/get").then(|| task.early(at)).flatten(),
            repeated: keys.as_ref().map(|keys| task.of(keys, |task, key| task.responded.contains(key))),
            unwanted: keys.as_ref().map(|keys| task.of(keys, |task, key| !task.wanted.contains(key))),
        };
        task.requested(method, keys.unwrap_or_default(), related.sent);
        self.open.insert(related.sent, (task.item.id.clone(), method.to_owned()));
        Some(about)
    }

    /// A cancellation of a call that has become a task, or with the id of a task.
    fn cancelled(&self, related: &Related, at: u64) -> Option<About> {
        let target = related.message.cancels()?;
        let of_call = related.asked.as_ref().and_then(|asked| self.calls.get(&asked.place)).map(String::as_str);
        let id = of_call.or_else(|| target.as_str().filter(|_| related.asked.is_none()))?;
        let task = self.all.get(id).filter(|task| !task.over && at.saturating_sub(task.created) > CROSSING)?;
        let status = Some(task.item.status.clone());
        Some(About { known: true, status, ..About::default() })
    }

    fn responded(&mut self, passing: &MessageContext, dialogue: &Dialogue, link: &Link) {
        let (frame, message) = (passing.frame, &passing.related.message);
        let Some(asked) = passing.related.responds_to().map(|asked| asked.place) else { return };
        if let Some((id, method)) = self.open.remove(&asked) {
            let Some(task) = self.all.get_mut(&id) else { return };
            task.left = false;
            task.item.frames.truncate(2);
            task.item.frames.push(frame.frame);
            task.responded(&method, message, frame.at);
            return;
        }
        let Some(call) = dialogue.open.get(&asked) else { return };
        let result = message.result();
        let (created, modern) = match result.get("task") {
            Some(task) if call.params.get("task").is_some() => (task, false),
            _ if result["resultType"] == "task" => (result, true),
            _ => return,
        };
        let Some(id) = created["taskId"].as_str().filter(|_| self.all.len() < MOST) else { return };
        let offered = "/_meta/io.modelcontextprotocol~1clientCapabilities";
        let own = if modern { call.params.pointer(offered) } else { Some(dialogue.offered()) };
        let item = Item {
            id: id.to_owned(),
            method: call.method.clone(),
            params: call.params.clone(),
            offered: own.cloned().unwrap_or_default(),
            status: String::new(),
            gets: 0,
            results: 0,
            updates: 0,
            cancels: 0,
            gets_after_end: 0,
            after_error: 0,
            input: None,
            end: "open",
            frames: vec![call.frame, frame.frame],
            link: link.link,
            transport: link.transport,
            revision: link.revision,
        };
        let mut task = Task::new(item, frame.at, call.token().cloned());
        task.shown(created, frame.at);
        self.calls.insert(asked, id.to_owned());
        if let Some(before) = self.all.insert(id.to_owned(), task) {
            self.done.push(before.rest(false, frame.at));
        }
    }

    fn notified(&mut self, message: &Message, at: u64) {
        let params = message.params();
        match message.method {
            "notifications/tasks/status" | "notifications/tasks" => {
                let task = params["taskId"].as_str().and_then(|id| self.all.get_mut(id));
                if let Some(task) = task.filter(|task| !task.over) {
                    task.notified = true;
                    task.shown(params, at);
                }
            }
            "notifications/subscriptions/acknowledged" => {
                for id in params["notifications"]["taskIds"].as_array().into_iter().flatten() {
                    if let Some(task) = id.as_str().and_then(|id| self.all.get_mut(id)) {
                        task.watched = true;
                    }
                }
            }
            _ => {}
        }
    }

    pub fn rest(self, now: u64) -> impl Iterator<Item = Item> {
        let waiting: HashSet<String> = self.open.into_values().map(|(id, _)| id).collect();
        let all = self.all.into_values().map(move |task| {
            let waits = waiting.contains(&task.item.id);
            task.rest(waits, now)
        });
        self.done.into_iter().chain(all)
    }
}

impl Task {
    fn new(item: Item, created: u64, token: Option<Value>) -> Self {
        Self {
            item,
            created,
            token,
            interval: None,
            polled: None,
            notified: false,
            watched: false,
            over: false,
            outcome: false,
            gone: false,
            waits: None,
            wanted: Vec::new(),
            responded: HashSet::new(),
            left: false,
        }
    }

    fn of(&self, keys: &[String], is: fn(&Self, &String) -> bool) -> Vec<String> {
        keys.iter().filter(|key| is(self, key)).cloned().collect()
    }

    /// Whether a poll at this time is earlier than the interval allows, if it can be known.
    #[expect(clippy::cast_precision_loss, reason = "times of a run are small")]
    fn early(&self, at: u64) -> Option<bool> {
        let interval = self.interval.filter(|_| !self.notified)?;
        let gap = at.saturating_sub(self.polled?) as f64;
        Some(gap + JITTER < interval * 1000.0 * TOLERATED)
    }

    fn requested(&mut self, method: &str, keys: Vec<String>, sent: RequestAt) {
        self.left = false;
        self.item.after_error += u64::from(self.gone);
        match method {
            "tasks/get" => {
                self.item.gets += 1;
                self.item.gets_after_end += u64::from(self.over);
                (self.polled, self.notified) = (Some(sent.at), false);
            }
            "tasks/result" => {
                self.item.results += 1;
                self.follows_input(sent.at);
            }
            "tasks/update" => {
                self.item.updates += 1;
                self.responded.extend(keys);
                if self.wanted.iter().all(|key| self.responded.contains(key)) {
                    self.follows_input(sent.at);
                }
            }
            _ => {
                self.item.cancels += 1;
                self.follows_input(sent.at);
            }
        }
    }

    fn follows_input(&mut self, at: u64) {
        if let Some(since) = self.waits.take() {
            let in_time = at.saturating_sub(since) <= WINDOW && self.item.input != Some("ignored");
            self.item.input = Some(if in_time { "followed" } else { "ignored" });
        }
    }

    fn responded(&mut self, method: &str, message: &Message, at: u64) {
        let error = message.whole.get("error");
        match method {
            "tasks/result" => self.outcome |= !self.gone,
            "tasks/get" | "tasks/cancel" if error.is_none() => self.shown(message.result(), at),
            "tasks/get" => self.gone |= error.is_some_and(|error| error["code"] == INVALID_PARAMS),
            // A key whose response was rejected may be sent again.
            "tasks/update" if error.is_some() => self.responded.clear(),
            _ => {}
        }
    }

    /// The client was shown the task.
    fn shown(&mut self, task: &Value, at: u64) {
        let Some(status) = task["status"].as_str() else { return };
        status.clone_into(&mut self.item.status);
        self.interval = task.get("pollIntervalMs").or_else(|| task.get("pollInterval")).and_then(Value::as_f64);
        self.over = matches!(status, "completed" | "failed" | "cancelled");
        self.outcome |= task.get("result").or_else(|| task.get("error")).is_some();
        if status != "input_required" {
            self.waits = None;
            return;
        }
        let keys = task["inputRequests"].as_object().into_iter().flatten().map(|(key, _)| key.clone());
        self.wanted = keys.collect();
        // Until 2025-11-25 the requests are sent while tasks/result is open.
        let has_new = self.wanted.is_empty() || self.wanted.iter().any(|key| !self.responded.contains(key));
        if has_new {
            self.waits.get_or_insert(at);
        }
    }

    fn rest(mut self, waiting: bool, now: u64) -> Item {
        self.item.end = match self.item.cancels {
            _ if self.outcome => "outcome",
            _ if self.gone => "gone",
            1.. => "cancelled",
            _ if self.over => "ended",
            _ if waiting => "waiting",
            _ if self.watched => "watched",
            _ if self.left => "left",
            _ => "open",
        };
        if let Some(since) = self.waits {
            let ignored = self.item.end == "left" || now.saturating_sub(since) > WINDOW;
            self.item.input = if ignored { Some("ignored") } else { self.item.input };
        }
        self.item
    }
}
