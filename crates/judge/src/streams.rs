//! Builds the event streams of Streamable HTTP from the frames: the items of `$streams`.
//!
//! A stream is passed on when it ends, or at the end of the run. Its events are classified by what they are about: the
//! request that opened the stream, another request, or a change that no request caused.

use std::collections::{BTreeMap, HashMap, HashSet, hash_map::Entry};

use serde_json::{Value, json};

use conform_model::evidence::{Ended, Frame, FrameKind, HttpHead, Kind, Link, Message, Side};

/// At most this many events of one stream are judged.
const EVENTS_KEPT: usize = 2000;

/// The streams of one connection.
pub struct Streams {
    link: u32,
    counts: bool,
    /// Whether a client may resume after any event that has an id.
    polls: bool,
    open: BTreeMap<u64, Stream>,
    /// The exchange in which each event id of a session was first sent, and the frame.
    ids: HashMap<(Option<String>, String), (u64, u64)>,
    /// The request of each exchange.
    asked: BTreeMap<u64, Asked>,
    /// Whether the client has ended the session.
    over: bool,
    /// Sessions that the server has reported as ended.
    ended: HashSet<String>,
    /// Ended streams that a GET opened, with their sessions. Whether the session ended with them shows later.
    held: Vec<(String, Value)>,
    now: u64,
}

/// The parts of an HTTP request that matter for its stream.
#[derive(Clone, Default)]
struct Asked {
    frame: u64,
    by: String,
    verb: String,
    method: Option<String>,
    id: Option<Value>,
    token: Option<Value>,
    /// The revision that the request declares.
    version: Option<String>,
    asks: bool,
    last_event: Option<String>,
    /// The session that it belongs to or opened.
    session: Option<String>,
    dropped: bool,
    /// Whether the client cancelled it.
    cancelled: bool,
}

struct Stream {
    post: u64,
    http: Value,
    events: Vec<Value>,
    answered_at: Option<u64>,
    last: u64,
}

impl Streams {
    pub fn new(link: &Link) -> Self {
        Self {
            link: link.link,
            polls: link.revision.is_some_and(|revision| revision.features().primed_streams),
            counts: link.transport.capabilities().stream_per_request,
            open: BTreeMap::new(),
            ids: HashMap::new(),
            asked: BTreeMap::new(),
            over: false,
            ended: HashSet::new(),
            held: Vec::new(),
            now: 0,
        }
    }

    /// The stream that this frame ends, if any.
    pub fn take(&mut self, frame: &Frame) -> Option<Value> {
        let post = frame.post.filter(|_| self.counts)?;
        self.now = frame.at;
        match (frame.kind, frame.from) {
            (FrameKind::HttpRequest, _) => self.request(post, frame),
            (_, Side::Client) => self.asks(post, frame),
            (FrameKind::HttpResponse, _) => {
                let begun = frame.http.as_ref().and_then(|head| head.value("mcp-session-id"));
                if let Some((asked, session)) = self.asked.get_mut(&post).zip(begun) {
                    asked.session = Some(session.to_owned());
                }
                if frame.http.as_ref().is_some_and(|head| head.status == Some(404)) {
                    self.ended.extend(self.asked.get(&post).and_then(|asked| asked.session.clone()));
                }
                self.open.extend(frame.http.as_ref().and_then(|head| Stream::of(post, head)).map(|new| (post, new)));
            }
            (FrameKind::Note, _) if frame.ended.is_some() => {
                if frame.ended == Some(Ended::Dropped)
                    && let Some(asked) = self.asked.get_mut(&post)
                {
                    asked.dropped = true;
                }
                let stream = self.open.remove(&post)?;
                let told = self.describe(stream, &json!(frame.ended));
                let session =
                    self.asked.get(&post).filter(|asked| asked.verb == "GET").and_then(|asked| asked.session.clone());
                let Some(session) = session else { return Some(told) };
                self.held.push((session, told));
            }
            _ => self.event(post, frame),
        }
        None
    }

    /// Streams that did not end.
    pub fn rest(mut self) -> Vec<Value> {
        let open = std::mem::take(&mut self.open);
        let mut rest: Vec<Value> = open.into_values().map(|stream| self.describe(stream, &json!("open"))).collect();
        for (session, mut told) in self.held {
            if self.ended.contains(&session) {
                told["session_over"] = json!(true);
            }
            rest.push(told);
        }
        rest
    }

    fn request(&mut self, post: u64, frame: &Frame) {
        let head = frame.http.clone().unwrap_or_default();
        let header = |wanted| head.value(wanted).map(str::to_owned);
        let (last_event, version) = (header("last-event-id"), header("mcp-protocol-version"));
        let session = header("mcp-session-id");
        let verb = head.method.unwrap_or_default();
        self.over |= verb == "DELETE";
        let by = frame.by.clone().unwrap_or_default();
        let asked = Asked { frame: frame.frame, by, verb, last_event, version, session, ..Asked::default() };
        self.asked.insert(post, asked);
    }

    fn asks(&mut self, post: u64, frame: &Frame) {
        if let Some(message) = frame.message.as_ref().filter(|message| message["method"] == "notifications/cancelled") {
            let taken_back = message.pointer("/params/requestId").cloned();
            if let Some(asked) = self.asked.values_mut().rev().find(|asked| asked.asks && asked.id == taken_back) {
                asked.cancelled = true;
            }
        }
        let Some((asked, message)) = self.asked.get_mut(&post).zip(frame.message.as_ref()) else { return };
        asked.method = message["method"].as_str().map(str::to_owned);
        asked.asks = message.is_array() || (message.get("id").is_some() && asked.method.is_some());
        asked.id = message.get("id").cloned();
        asked.token = message.pointer("/params/_meta/progressToken").cloned();
    }

    fn event(&mut self, post: u64, frame: &Frame) {
        let has_room = self.open.get(&post).is_some_and(|stream| stream.events.len() < EVENTS_KEPT);
        let Some(event) = frame.event.as_ref().filter(|_| has_room) else { return };
        let data = match frame.kind {
            FrameKind::Message => "message",
            FrameKind::Junk => "junk",
            FrameKind::Unread => "unread",
            _ => "none",
        };
        let mut told = json!({ "data": data, "frame": frame.frame });
        let asked = self.asked.get(&post);
        if let Some(id) = &event.id {
            told["id"] = json!(id);
            // A replayed event has the same id as before.
            if asked.is_none_or(|asked| asked.last_event.is_none()) {
                let key = (asked.and_then(|asked| asked.session.clone()), id.clone());
                match self.ids.entry(key) {
                    Entry::Occupied(first) => told["repeats"] = json!(first.get().1),
                    Entry::Vacant(vacant) => _ = vacant.insert((post, frame.frame)),
                }
            }
        }
        if let Some(retry) = event.retry {
            told["retry"] = json!(retry);
        }
        let message = frame.message.as_ref().unwrap_or(&Value::Null);
        if let Some(kind) = kind(message) {
            told["kind"] = json!(kind);
            told["method"] = message["method"].clone();
            if let Some(about) = self.about(post, message) {
                told["about"] = json!(about);
            }
        }
        let answer = matches!(kind(message), Some("result" | "error" | "batch"))
            && matches!(told["about"].as_str(), None | Some("this"));
        if let Some(stream) = self.open.get_mut(&post) {
            stream.events.push(told);
            stream.last = frame.frame;
            stream.answered_at = stream.answered_at.or(answer.then_some(frame.at));
        }
    }

    /// The request that a stream is for. For a resumed stream, the one that first opened it.
    fn origin(&self, post: u64) -> Option<&Asked> {
        let asked = self.asked.get(&post)?;
        match &asked.last_event {
            Some(id) => self.asked.get(&self.ids.get(&(asked.session.clone(), id.clone()))?.0),
            None => Some(asked),
        }
    }

    /// `this` request, `another`, one that was `dropped`, or `changes`; null if unknown.
    fn about(&self, post: u64, message: &Value) -> Option<&'static str> {
        let origin = self.origin(post)?;
        let (of, ours): (&Value, fn(&Asked) -> &Option<Value>) = match message["method"].as_str() {
            // The progress of a task continues after the call that created it got its response.
            Some(_) if message.pointer("/params/_meta/io.modelcontextprotocol~1related-task").is_some() => return None,
            Some("notifications/progress") => (&message["params"]["progressToken"], |asked| &asked.token),
            Some(method) if method.ends_with("/list_changed") || method == "notifications/resources/updated" => {
                return Some("changes");
            }
            Some(_) => return None,
            // Batches, and errors about unreadable input.
            None if message["id"].is_null() => return None,
            None => (&message["id"], |asked| &asked.id),
        };
        if ours(origin).as_ref() == Some(of) {
            return Some("this");
        }
        let other = self.asked.values().rev().find(|asked| asked.asks && ours(asked).as_ref() == Some(of))?;
        Some(if other.dropped { "dropped" } else { "another" })
    }

    fn describe(&self, stream: Stream, end: &Value) -> Value {
        let Stream { post, http, events, answered_at, last } = stream;
        let asked = self.asked.get(&post).cloned().unwrap_or_default();
        let frames: Vec<u64> = std::iter::once(asked.frame).chain((last > 0).then_some(last)).collect();
        let mut told = json!({
            "link": self.link,
            "verb": asked.verb,
            "method": asked.method,
            "by": asked.by,
            "version": asked.version,
            "asks": asked.asks,
            "cancelled": asked.cancelled,
            "http": http,
            "events": events,
            "answered": answered_at.is_some(),
            "end": end,
            "resumable": self.polls && events.iter().any(|event| event.get("id").is_some()),
            "session_over": self.over,
            "frames": frames,
        });
        if let Some(id) = asked.last_event {
            told["resumes"] = json!(id);
        }
        if let Some(at) = answered_at {
            told["lingered_ms"] = json!(self.now.saturating_sub(at) / 1000);
        }
        told
    }
}

impl Stream {
    fn of(post: u64, head: &HttpHead) -> Option<Self> {
        let status = head.status.filter(|status| (200..300).contains(status))?;
        let headers: HashMap<&String, &String> = head.headers.iter().map(|(name, value)| (name, value)).collect();
        let http = json!({ "status": status, "headers": headers });
        (head.media_type()? == "text/event-stream").then(|| Self {
            post,
            http,
            events: Vec::new(),
            answered_at: None,
            last: 0,
        })
    }
}

fn kind(message: &Value) -> Option<&'static str> {
    let message = Message::of(message);
    Some(match message.kind {
        _ if message.whole.is_array() => "batch",
        Kind::Request => "request",
        Kind::Notification => "notification",
        Kind::Error => "error",
        Kind::Result => "result",
        Kind::Other if message.id.is_some() => "result",
        Kind::Other => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stream that responds to a request with these headers.
    fn answering(headers: &Value) -> Value {
        let link = json!({ "link": 1, "transport": "http", "revision": "2025-11-25", "brief": false });
        let mut streams = Streams::new(&serde_json::from_value(link).expect("a link"));
        let events = json!({ "status": 200, "headers": [["content-type", "text/event-stream"]] });
        for what in [
            json!({ "from": "client", "kind": "http-request", "http": { "method": "POST", "headers": headers } }),
            json!({ "from": "client", "kind": "message", "message": { "jsonrpc": "2.0", "id": 1, "method": "ping" } }),
            json!({ "from": "server", "kind": "http-response", "http": events }),
        ] {
            let mut frame = json!({ "frame": 1, "at": 1, "link": 1, "post": 1 });
            frame.as_object_mut().expect("an object").extend(what.as_object().cloned().unwrap_or_default());
            assert_eq!(streams.take(&serde_json::from_value(frame).expect("a frame")), None);
        }
        streams.rest().into_iter().next().expect("a stream")
    }

    #[test]
    fn a_stream_is_of_the_revision_that_its_request_names() {
        assert_eq!(answering(&json!([["mcp-protocol-version", "2025-11-25"]]))["version"], "2025-11-25");
        assert_eq!(answering(&json!([]))["version"], Value::Null);
    }
}
