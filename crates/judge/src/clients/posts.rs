//! The HTTP requests of a client: items of `$posts`.

use std::collections::{HashMap, HashSet, VecDeque};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::dialogue::{Dialogue, Open};
use crate::{events::Events, head::decoded};
use conform_model::evidence::{Frame, FrameKind, HttpHead, Kind, Link, Side, conversation::Said};

/// Equal requests are counted over this period, in microseconds.
const RECENT: u64 = 10_000_000;
const MOST: usize = 10_000;

/// When equal requests were sent, on any connection.
#[derive(Default)]
pub struct Recent(HashMap<String, VecDeque<u64>>);

impl Recent {
    /// The number of equal requests in the period before this one.
    fn count(&mut self, what: String, at: u64) -> usize {
        let times = self.0.entry(what).or_default();
        times.retain(|time| at.saturating_sub(*time) <= RECENT);
        let before = times.len();
        if before < MOST {
            times.push_back(at);
        }
        before
    }
}

/// Params without what belongs to one request alone.
fn without_meta(params: &Value) -> Vec<(&String, &Value)> {
    params.as_object().into_iter().flatten().filter(|(name, _)| *name != "_meta").collect()
}

pub struct Posts {
    link: Link,
    open: IndexMap<u64, Value>,
    heads: HashMap<u64, Value>,
    session: Option<String>,
    over: HashSet<String>,
    events: Events,
    retry: Option<u64>,
    /// When the last event stream ended, and which ones are open.
    stream_ended: Option<u64>,
    streams: HashSet<u64>,
    endpoint: Value,
}

impl Posts {
    pub fn new(link: &Link) -> Self {
        Self {
            link: link.clone(),
            open: IndexMap::new(),
            heads: HashMap::new(),
            session: None,
            over: HashSet::new(),
            events: Events::default(),
            retry: None,
            stream_ended: None,
            streams: HashSet::new(),
            endpoint: Value::Null,
        }
    }

    /// The head of the request with this number.
    pub fn head(&self, post: u64) -> Option<Value> {
        self.heads.get(&post).cloned()
    }

    /// The request that this frame completes, with the head of its response.
    pub fn take(&mut self, said: &Said, dialogue: &Dialogue, recent: &mut Recent) -> Option<Value> {
        let frame = said.frame;
        let post = frame.post?;
        match (frame.from, frame.kind, &frame.http) {
            (Side::Client, FrameKind::HttpRequest, Some(head)) => self.requested(post, frame, head, dialogue),
            (Side::Client, _, _) => self.carried(post, said, dialogue),
            (Side::Server, FrameKind::HttpResponse, Some(head)) => return self.responded(post, frame, head, recent),
            _ => self.went_on(post, frame),
        }
        None
    }

    fn requested(&mut self, post: u64, frame: &Frame, head: &HttpHead, dialogue: &Dialogue) {
        let headers = head.by_name();
        let url = head.url.as_deref().unwrap_or_default();
        let (path, query) = url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
        if self.heads.len() < MOST {
            let shown = json!({ "method": head.method, "path": path, "headers": headers });
            self.heads.insert(post, shown);
        }
        let mirrored: Map<String, Value> = headers
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix("mcp-param-")?.to_owned(), json!(decoded(value)))))
            .collect();
        let resumes = headers.get("last-event-id");
        // A client that falls back to HTTP+SSE sends a GET without a session.
        let of_session = ["mcp-session-id", "mcp-protocol-version", "last-event-id"];
        let tries_sse =
            head.method.as_deref() == Some("GET") && of_session.iter().all(|name| !headers.contains_key(*name));
        let session = self.session.as_ref().filter(|_| !tries_sse);
        let ended = self.stream_ended.filter(|_| head.method.as_deref() == Some("GET"));
        let item = json!({
            "method": head.method,
            "path": path,
            "query": query,
            "headers": headers,
            "carries": "nothing",
            "phase": dialogue.phase,
            "session": session,
            "session_over": session.is_some_and(|session| self.over.contains(session)),
            "negotiated": if tries_sse { Value::Null } else { json!(dialogue.negotiated) },
            "resumes": resumes,
            "known_event": resumes.map(|id| self.events.knows(id)),
            "last_event": resumes.and_then(|id| self.events.last_beside(id)),
            "since_stream_ms": ended.map(|ended| frame.at.saturating_sub(ended) / 1000),
            "retry_ms": self.retry,
            "endpoint": self.endpoint,
            "mirrors": headers.get("mcp-name").map(|value| decoded(value)),
            "mirrored": mirrored,
            "origin": { "frame": frame.frame, "pointer": "" },
            "frames": [frame.frame],
            "link": self.link.link,
            "revision": self.link.revision,
        });
        if head.method.as_deref() == Some("DELETE")
            && let Some(session) = headers.get("mcp-session-id")
        {
            self.over.insert(session.clone());
        }
        if let (Some("GET"), Some(id)) = (head.method.as_deref(), resumes) {
            self.events.resumed(post, id);
        }
        self.open.insert(post, item);
    }

    fn carried(&mut self, post: u64, said: &Said, dialogue: &Dialogue) {
        let Some(item) = self.open.get_mut(&post) else { return };
        item["frames"] = json!([item["frames"][0], said.frame.frame]);
        let Some(message) = &said.frame.message else {
            item["carries"] = json!("other");
            return;
        };
        let first = said.messages.first();
        item["carries"] = match first.map(|first| first.message.exact_kind()) {
            _ if message.is_array() => json!("batch"),
            Some(Kind::Result | Kind::Error) => json!("response"),
            kind => json!(kind.unwrap_or(Kind::Other)),
        };
        let is_open = |open: &&Open| {
            !open.cancelled
                && message["method"] == open.method
                && without_meta(&message["params"]) == without_meta(&open.params)
        };
        item["repeats"] = json!(dialogue.open.values().filter(is_open).count());
        // It may have been on its way when the server responded to initialize.
        let is_early = || first.is_some_and(|response| dialogue.is_early(response));
        if item["carries"] == "response" && (item["phase"] != "open" || is_early()) {
            item["negotiated"] = Value::Null;
        }
        item["message"] = message.clone();
        item["rpc"] = message.get("method").cloned().unwrap_or_default();
    }

    fn responded(&mut self, post: u64, frame: &Frame, head: &HttpHead, recent: &mut Recent) -> Option<Value> {
        if let Some(session) = head.value("mcp-session-id") {
            self.session = Some(session.to_owned());
        }
        let mut item = self.open.shift_remove(&post)?;
        let media = head.media_type();
        if media.as_deref() == Some("text/event-stream") {
            self.streams.insert(post);
        }
        let used = item["headers"]["mcp-session-id"].as_str().map(str::to_owned);
        if head.status == Some(404) {
            self.over.extend(used.clone());
        }
        item["status"] = json!(head.status);
        item["media"] = json!(media);
        if let Some(frames) = item["frames"].as_array_mut() {
            frames.push(json!(frame.frame));
        }
        // A client may end each of its sessions.
        let what = format!("{} {} {}", item["method"], item["rpc"], used.as_deref().unwrap_or_default());
        item["recent"] = json!(recent.count(what, frame.at));
        Some(item)
    }

    /// Processes a part of a response body.
    fn went_on(&mut self, post: u64, frame: &Frame) {
        if let Some(event) = &frame.event {
            if let Some(id) = &event.id {
                self.events.gave(post, id);
            }
            self.retry = event.retry.or(self.retry);
            if let Some(url) = event.endpoint.as_deref() {
                let path = url.split_once("://").map_or(url, |(_, rest)| &rest[rest.find('/').unwrap_or(rest.len())..]);
                // The stream is at the root path, so a relative path is relative to the root.
                let path = path.strip_prefix("./").map_or_else(|| path.to_owned(), |rest| format!("/{rest}"));
                let (path, query) =
                    path.split_once('?').map_or((path.as_str(), None), |(path, query)| (path, Some(query)));
                self.endpoint = json!({ "path": path, "query": query });
            }
        }
        if frame.ended.is_some() && self.streams.remove(&post) {
            self.stream_ended = Some(frame.at);
        }
    }

    /// Requests without a response.
    pub fn rest(self) -> Vec<Value> {
        self.open.into_values().collect()
    }
}
