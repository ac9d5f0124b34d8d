//! What was sent on the connections in findings, and the times of all messages.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use serde_json::Value;

use super::{super::rerun::ALWAYS, Habits, discovers, is_request, opens};
use conform_model::{
    evidence::{Ended, Frame, FrameKind, Side},
    outcome::Finding,
};

/// Header of Streamable HTTP with the session id.
pub const SESSION: &str = "mcp-session-id";

/// Maximum number of lines on a connection that many suites share. A longer recipe is useless.
const MANY: usize = 1000;

#[derive(Default)]
pub struct History {
    shown: BTreeSet<u64>,
    links: HashSet<u32>,
    /// Lines sent over stdio that may be needed, by connection.
    pub lines: HashMap<u32, BTreeMap<u64, Arc<Frame>>>,
    /// The frames of each connection, with time and sender.
    moments: HashMap<u32, BTreeMap<u64, (u64, Side)>>,
    pub posts: BTreeMap<u64, Post>,
    /// The exchange of each frame in a finding.
    post_of: HashMap<u64, u64>,
    /// The connections on which each server-generated value arrived.
    made_up: HashMap<String, HashSet<u32>>,
    /// Frames of the server in findings, with their connection.
    heard: HashMap<u64, u32>,
    pub stateful: HashSet<String>,
    pub beside: HashSet<String>,
    /// Frames that record the exit of a process.
    pub ends: HashSet<u64>,
}

/// An HTTP exchange.
pub struct Post {
    pub link: u32,
    pub by: String,
    pub request: Arc<Frame>,
    pub body: Option<Arc<Frame>>,
    /// Numbers of its first and last frame, and their times.
    pub first: u64,
    pub last: u64,
    pub at: [u64; 2],
    /// The frame of the first message in the response.
    pub first_message: Option<u64>,
    /// The session in the response.
    pub session: Option<String>,
    /// Whether the server sends a request on the stream.
    pub asks: bool,
    pub responded: bool,
    /// Whether the client closed it early.
    pub dropped: bool,
}

impl History {
    /// Of the frames on these connections, those in findings are `shown`.
    pub fn new(shown: BTreeSet<u64>, links: HashSet<u32>, habits: &Habits) -> Self {
        let (stateful, beside) = (habits.stateful.clone(), habits.beside.clone());
        Self { shown, links, stateful, beside, ..Self::default() }
    }

    pub fn take(&mut self, frame: &Arc<Frame>) {
        let is_ours = self.links.contains(&frame.link);
        if is_ours && !matches!(frame.kind, FrameKind::Visit | FrameKind::CutShort) {
            self.moments.entry(frame.link).or_default().insert(frame.frame, (frame.at, frame.from));
            if frame.kind == FrameKind::Note && frame.ended.is_some() && frame.post.is_none() {
                self.ends.insert(frame.frame);
            }
        }
        if self.shown.contains(&frame.frame) {
            self.post_of.extend(frame.post.map(|post| (frame.frame, post)));
            if frame.from == Side::Server && (frame.post.is_none() || frame.kind == FrameKind::Message) {
                self.heard.insert(frame.frame, frame.link);
            }
        }
        match frame.post {
            Some(post) => self.in_exchange(post, frame, is_ours),
            None if is_ours => self.on_pipe(frame),
            None => {}
        }
        if let Some(message) = frame.message.as_ref().filter(|_| frame.from == Side::Server) {
            self.make_up(frame.link, message);
        }
    }

    fn on_pipe(&mut self, frame: &Arc<Frame>) {
        if frame.from != Side::Client || !matches!(frame.kind, FrameKind::Message | FrameKind::Junk) {
            return;
        }
        let by = frame.by.as_deref().unwrap_or_default();
        let known = self.lines.get(&frame.link).map_or(0, BTreeMap::len);
        let may_be = self.stateful.contains(by) || !ALWAYS.contains(&by) && known < MANY;
        let needed = self.shown.contains(&frame.frame) || by == "answer" || may_be;
        if needed || by == "handshake" && (opens(frame) || discovers(frame)) {
            self.lines.entry(frame.link).or_default().insert(frame.frame, Arc::clone(frame));
        }
    }

    fn in_exchange(&mut self, number: u64, frame: &Arc<Frame>, is_ours: bool) {
        if frame.kind == FrameKind::HttpRequest {
            let by = frame.by.clone().unwrap_or_default();
            let post = Post {
                link: frame.link,
                by,
                request: Arc::clone(frame),
                body: None,
                first: frame.frame,
                last: frame.frame,
                at: [frame.at; 2],
                first_message: None,
                session: None,
                asks: false,
                responded: false,
                dropped: false,
            };
            self.posts.insert(number, post);
            return;
        }
        let Some(post) = self.posts.get_mut(&number) else { return };
        (post.last, post.at[1]) = (frame.frame, frame.at);
        post.dropped |= frame.ended == Some(Ended::Dropped);
        match (frame.kind, &frame.http) {
            (FrameKind::HttpResponse, Some(http)) => {
                post.responded = true;
                post.session = http.value(SESSION).map(str::to_owned);
            }
            (FrameKind::Message | FrameKind::Junk, _) if frame.from == Side::Client => {
                post.body = Some(Arc::clone(frame));
                // Exchanges of other connections matter only if they opened a session.
                if !is_ours && !opens(frame) && !discovers(frame) && !self.beside.contains(&post.by) {
                    self.posts.remove(&number);
                }
            }
            (FrameKind::Message, _) => {
                post.asks |= is_request(frame);
                post.first_message.get_or_insert(frame.frame);
            }
            _ => {}
        }
    }

    fn make_up(&mut self, link: u32, message: &Value) {
        const PLACES: [&str; 5] =
            ["/result/nextCursor", "/result/requestState", "/result/taskId", "/result/task/taskId", "/params/taskId"];
        for value in PLACES.iter().filter_map(|place| message.pointer(place)?.as_str()) {
            // Each page or task has such a value; there are fewer of them than frames.
            self.made_up.entry(value.to_owned()).or_default().insert(link);
        }
    }

    /// Whether the server generated the value, on only one connection: another one would not know it.
    pub fn is_made_up(&self, value: &str) -> bool {
        self.made_up.get(value).is_some_and(|links| links.len() == 1)
    }

    pub fn is_post(&self, frame: u64) -> bool {
        self.post_of.contains_key(&frame)
    }

    /// Whether the frame is a message of the server in this exchange.
    pub fn is_message_of(&self, frame: u64, post: u64) -> bool {
        self.heard.contains_key(&frame) && self.post_of.get(&frame) == Some(&post)
    }

    /// The number of client requests in a finding.
    pub fn asked(&self, finding: &Finding) -> usize {
        let is_line = |frame: &&u64| self.lines.values().any(|lines| lines.contains_key(frame));
        let shown: BTreeSet<u64> = finding.frames.iter().copied().collect();
        self.exchanges(&shown).len() + shown.iter().filter(is_line).count()
    }

    /// The exchanges of these frames.
    pub fn exchanges(&self, shown: &BTreeSet<u64>) -> BTreeSet<u64> {
        shown.iter().filter_map(|frame| self.post_of.get(frame)).copied().collect()
    }

    /// The connections of those frames that the server sent.
    pub fn heard_on(&self, shown: &BTreeSet<u64>) -> BTreeSet<u32> {
        shown.iter().filter_map(|frame| self.heard.get(frame)).copied().collect()
    }

    /// Whether the server sent something on the connection between two frames.
    pub fn came_between(&self, link: u32, earlier: u64, later: u64) -> bool {
        let moments = self.moments.get(&link).into_iter();
        moments.flat_map(|moments| moments.range(earlier + 1..later)).any(|(_, (_, from))| *from == Side::Server)
    }

    /// The number of frames that the client sent on a connection before a frame.
    pub fn sent_before(&self, link: u32, frame: u64) -> usize {
        let moments = self.moments.get(&link).into_iter();
        moments.flat_map(|moments| moments.range(..frame)).filter(|(_, (_, from))| *from == Side::Client).count()
    }

    /// Whether the client had sent nothing but the handshake and its responses before a frame. The server will then send the
    /// same request again.
    pub fn follows_handshake(&self, link: u32, frame: u64) -> bool {
        let before = self.lines.get(&link).into_iter().flat_map(|lines| lines.range(..frame));
        let of_handshake = before.filter(|(_, line)| opens(line) || line.by.as_deref() == Some("answer"));
        of_handshake.count() == self.sent_before(link, frame)
    }

    /// The time of a frame, in microseconds since the run began.
    pub fn at(&self, link: u32, frame: u64) -> Option<u64> {
        self.moments.get(&link)?.get(&frame).map(|(at, _)| *at)
    }

    /// The time of the last frame on the connection, up to a frame.
    pub fn newest(&self, link: u32, frame: u64) -> Option<u64> {
        self.moments.get(&link)?.range(..=frame).next_back().map(|(_, (at, _))| *at)
    }
}
