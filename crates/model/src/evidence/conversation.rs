//! Matches responses to requests by their ids, in both directions, for every reader of a conversation.
//!
//! The session and the rules on servers also attribute responses that have a wrong id or none: see [`super::correlate`].

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
    sync::Arc,
};

use serde_json::Value;

use super::{Frame, FrameKind, Kind, Message, Side};

/// The requests with a response that are remembered, so that further responses to them are known. A walk can have a
/// million of them; 31 concurrent ones were observed.
const RESPONDED_KEPT: usize = 10_000;

type Key<C> = (C, Side, String);

/// The requests of all conversations, each of them in its place: a frame, or an index among messages.
pub struct Requests<C, P> {
    latest: HashMap<Key<C>, Asked<P>>,
    responded: VecDeque<Key<C>>,
}

/// A request that another message refers to by its id.
#[derive(Clone, Debug)]
pub struct Asked<P> {
    pub place: P,
    /// The number of responses before that message.
    pub responses: usize,
}

impl<C, P> Default for Requests<C, P> {
    fn default() -> Self {
        Self { latest: HashMap::new(), responded: VecDeque::new() }
    }
}

impl<C: Clone + Eq + Hash, P: Clone> Requests<C, P> {
    /// Takes the next message. The value is the latest request with the id in it: the one that a response belongs to,
    /// that a cancellation names, or that had the id of this request before.
    pub fn take(&mut self, conversation: C, from: Side, message: &Message, place: P) -> Option<Asked<P>> {
        let asker = if message.is_response() { from.other() } else { from };
        let key = (conversation, asker, message.id.or(message.cancels())?.to_string());
        if message.kind == Kind::Request {
            return self.latest.insert(key, Asked { place, responses: 0 });
        }
        let known = self.latest.get_mut(&key)?;
        let asked = known.clone();
        if message.is_response() {
            known.responses += 1;
            if known.responses == 1 {
                self.responded.push_back(key);
            }
            self.forget();
        }
        Some(asked)
    }

    fn forget(&mut self) {
        if self.responded.len() > RESPONDED_KEPT
            && let Some(oldest) = self.responded.pop_front()
            && self.latest.get(&oldest).is_some_and(|known| known.responses > 0)
        {
            self.latest.remove(&oldest);
        }
    }
}

/// The messages of a run, one frame after the other.
#[derive(Default)]
pub struct Conversation {
    requests: Requests<u32, RequestAt>,
}

/// Where and when a request was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestAt {
    pub frame: u64,
    pub at: u64,
    /// Its place in a batch.
    pub index: usize,
}

/// A frame with its messages: none, one, or those of a batch.
pub struct Said<'f> {
    pub frame: &'f Arc<Frame>,
    pub messages: Vec<Related<'f>>,
}

/// A message with the request that it refers to by an id.
pub struct Related<'f> {
    pub message: Message<'f>,
    pub pointer: String,
    pub sent: RequestAt,
    pub asked: Option<Asked<RequestAt>>,
}

impl Conversation {
    pub fn take<'f>(&mut self, frame: &'f Arc<Frame>) -> Said<'f> {
        let messages = frame.message.iter().filter(|_| frame.kind == FrameKind::Message).flat_map(Message::all);
        let messages = messages.enumerate().map(|(index, (pointer, message))| {
            let sent = RequestAt { frame: frame.frame, at: frame.at, index };
            let asked = self.requests.take(frame.link, frame.from, &message, sent);
            Related { message, pointer, sent, asked }
        });
        Said { messages: messages.collect(), frame }
    }
}

impl Said<'_> {
    /// The request that the message responds to, if the frame is not a batch.
    pub fn request(&self) -> Option<&Asked<RequestAt>> {
        if self.is_batch() { None } else { self.messages.first()?.responds_to() }
    }

    pub fn is_batch(&self) -> bool {
        self.frame.message.as_ref().is_some_and(Value::is_array)
    }
}

impl Related<'_> {
    pub fn responds_to(&self) -> Option<&Asked<RequestAt>> {
        self.asked.as_ref().filter(|_| self.message.is_response())
    }
}
