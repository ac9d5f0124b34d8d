//! Matches the messages on both sides of the gateway.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{differences::similarity, ends::Ends, messages::Message};
use conform_model::evidence::{self, Kind, Side, conversation::Requests};

/// A message less similar than this to every candidate is the gateway's own.
const ALIKE: f64 = 0.5;

pub type Index = usize;

/// A request, its copies on the other side, and the responses on both sides.
pub struct Pair {
    pub sent: Index,
    pub received: Vec<Index>,
    /// The response of the recipient, to the first copy.
    pub returned: Option<Index>,
    /// The responses that the sender received.
    pub arrived: Vec<Index>,
}

/// A notification, and its copies on the other side.
pub struct Told {
    pub sent: Index,
    pub received: Vec<Index>,
}

pub struct Matching<'a> {
    pub messages: Vec<&'a Message>,
    pub channels: &'a HashSet<u32>,
    pub ends: &'a Ends,
    /// The responses to each request, on its own side.
    responses: HashMap<Index, Vec<Index>>,
    /// Requests of clients.
    pub calls: Vec<Pair>,
    /// Requests of the upstream.
    pub asked: Vec<Pair>,
    /// Notifications of the upstream, and of clients.
    pub news: Vec<Told>,
    pub said: Vec<Told>,
}

impl<'a> Matching<'a> {
    pub fn new(messages: Vec<&'a Message>, channels: &'a HashSet<u32>, ends: &'a Ends) -> Self {
        let (calls, asked, news, said) = Default::default();
        let (mut requests, mut responses) = (Requests::default(), HashMap::<Index, Vec<Index>>::new());
        for (index, message) in messages.iter().enumerate() {
            let conversation = (message.link, message.session.as_str());
            let asked = requests.take(conversation, message.from, &evidence::Message::of(&message.message), index);
            if let Some(asked) = asked.filter(|_| message.is_response()) {
                responses.entry(asked.place).or_default().push(index);
            }
        }
        let mut matching = Self { messages, channels, ends, responses, calls, asked, news, said };
        matching.calls = matching.requests(false);
        matching.asked = matching.requests(true);
        matching.news = matching.notifications(true);
        matching.said = matching.notifications(false);
        matching
    }

    pub fn at(&self, index: Index) -> &'a Message {
        self.messages[index]
    }

    /// The messages on one side that the party there sent, or received from the gateway.
    fn of(&self, behind: bool, from: Side, kind: Kind) -> Vec<Index> {
        let is = |message: &&Message| message.behind == behind && message.from == from && message.kind() == kind;
        (0..self.messages.len()).filter(|index| is(&self.messages[*index])).collect()
    }

    /// The responses to the request on its own side.
    fn responses(&self, request: Index) -> &[Index] {
        self.responses.get(&request).map_or(&[], Vec::as_slice)
    }

    /// Requests of clients, or of the upstream.
    fn requests(&self, of_upstream: bool) -> Vec<Pair> {
        let from = if of_upstream { Side::Server } else { Side::Client };
        let sent = self.of(of_upstream, from, Kind::Request);
        let mut pairs: Vec<Pair> = sent
            .into_iter()
            .map(|sent| {
                let arrived = self.responses(sent).to_vec();
                Pair { sent, received: Vec::new(), returned: None, arrived }
            })
            .collect();
        // A gateway may initialize its connection before, after or without a client's, and may make trial connections.
        let opens = |index: &Index| self.at(*index).method() == "initialize";
        let (mut handshakes, received): (Vec<Index>, Vec<Index>) =
            self.of(!of_upstream, from, Kind::Request).into_iter().partition(opens);
        for pair in pairs.iter_mut().filter(|pair| opens(&pair.sent)) {
            let alike = |index: &Index| likeness(&self.at(pair.sent).message, &self.at(*index).message);
            let best = (0..handshakes.len()).rev().max_by(|one, other| {
                let rank = |at: usize| alike(&handshakes[at]);
                rank(*one).partial_cmp(&rank(*other)).unwrap_or(std::cmp::Ordering::Equal)
            });
            pair.received.extend(best.map(|best| handshakes.remove(best)));
        }
        for received in received {
            let message = self.at(received);
            let likeness = |pair: &Pair| self.likeness(pair, message);
            let best = pairs.iter_mut().filter(|pair| self.may_be(pair, message)).rev().max_by(|one, other| {
                // Of equal requests at the same time, such as pings, only the id may show which one it is.
                let has_id = |pair: &Pair| self.at(pair.sent).id() == message.id();
                let rank = |pair: &Pair| (likeness(pair), pair.received.is_empty(), has_id(pair));
                rank(one).partial_cmp(&rank(other)).unwrap_or(std::cmp::Ordering::Equal)
            });
            // A copy that the upstream rejected may be sent again; a gateway that changes names changes both.
            let is_free = |pair: &Pair| pair.received.iter().all(|copy| self.ends.has_failed(self.at(*copy)));
            let Some(pair) = best else { continue };
            let first = pair.received.first().map(|first| self.likeness(pair, self.at(*first)));
            if !is_free(pair) && first.is_some_and(|first| first < likeness(pair)) {
                // What was received before is a request of the gateway's own.
                pair.received = vec![received];
            } else if is_free(pair) || likeness(pair) > 1.0 - f64::EPSILON {
                pair.received.push(received);
            }
        }
        for pair in &mut pairs {
            // A copy that got an error status may be sent again.
            pair.returned = pair.received.iter().find_map(|copy| self.responses(*copy).first().copied());
        }
        pairs
    }

    /// Whether a request on the other side may be a copy of this one: it was sent while this one was open.
    pub fn may_be(&self, pair: &Pair, copy: &Message) -> bool {
        let sent = self.at(pair.sent);
        sent.method() == copy.method()
            && sent.frame < copy.frame
            && pair.arrived.first().is_none_or(|arrived| self.at(*arrived).frame > copy.frame)
    }

    /// Similarity of a request to a copy of it, from 0 to 1.
    pub fn likeness(&self, pair: &Pair, copy: &Message) -> f64 {
        likeness(&self.at(pair.sent).message, &copy.message)
    }

    /// Notifications of the upstream, or of clients.
    fn notifications(&self, of_upstream: bool) -> Vec<Told> {
        let from = if of_upstream { Side::Server } else { Side::Client };
        let mut all: Vec<(Told, Value)> = self
            .of(of_upstream, from, Kind::Notification)
            .into_iter()
            .map(|sent| (Told { sent, received: Vec::new() }, self.expected(sent)))
            .collect();
        for received in self.of(!of_upstream, from, Kind::Notification) {
            let message = self.at(received);
            let on_link = |told: &Told| told.received.iter().any(|other| self.at(*other).is_beside(message));
            let candidates = all.iter_mut().filter(|(told, _)| {
                let sent = self.at(told.sent);
                sent.method() == message.method() && sent.frame < message.frame
            });
            let rank = |(told, expected): &(Told, Value)| {
                let meant = self.meant_for(told.sent).is_none_or(|link| link == message.link);
                let likeness = likeness(expected, &message.message);
                (likeness, self.serves_clients(told.sent), !on_link(told), told.received.is_empty(), meant)
            };
            let best = candidates
                .rev()
                .max_by(|one, other| rank(one).partial_cmp(&rank(other)).unwrap_or(std::cmp::Ordering::Equal));
            if let Some((told, _)) = best.filter(|best| !on_link(&best.0) || rank(best).0 > ALIKE) {
                told.received.push(received);
            }
        }
        all.into_iter().map(|(told, _)| told).collect()
    }

    /// The message that the recipient should receive, with identifiers of its own side.
    pub fn expected(&self, index: Index) -> Value {
        let message = self.at(index);
        let mut expected = message.message.clone();
        match message.method() {
            "notifications/progress" if message.behind => {
                if let Some(pair) = self.reported_on(message)
                    && let Some(token) = self.at(pair.sent).token()
                {
                    expected["params"]["progressToken"] = token.clone();
                }
            }
            "notifications/cancelled" => {
                if let Some(id) = self.other_id(message) {
                    expected["params"]["requestId"] = id;
                }
            }
            _ => {}
        }
        expected
    }

    /// The client's call that a progress notification of the upstream is about.
    pub fn reported_on(&self, progress: &Message) -> Option<&Pair> {
        let token = progress.message.pointer("/params/progressToken")?;
        self.calls.iter().rfind(|pair| {
            pair.received.iter().map(|index| self.at(*index)).any(|request| {
                request.is_beside(progress) && request.frame < progress.frame && request.token() == Some(token)
            })
        })
    }

    /// The request that a cancellation is about.
    pub fn cancelled(&self, cancellation: &Message) -> Option<&Pair> {
        let id = cancellation.message.pointer("/params/requestId")?;
        let pairs = if cancellation.from == Side::Client { &self.calls } else { &self.asked };
        pairs.iter().rfind(|pair| {
            let mut own = std::iter::once(pair.sent).chain(pair.received.iter().copied()).map(|index| self.at(index));
            own.any(|request| {
                request.is_beside(cancellation) && request.id() == id && request.frame < cancellation.frame
            })
        })
    }

    /// Whether the sender of a request cancelled it before that frame.
    pub fn was_cancelled(&self, request: &Message, before: u64) -> bool {
        self.messages.iter().any(|message| {
            message.method() == "notifications/cancelled"
                && message.frame < before
                && message.is_beside(request)
                && message.message.pointer("/params/requestId") == Some(request.id())
        })
    }

    fn other_id(&self, cancellation: &Message) -> Option<Value> {
        let pair = self.cancelled(cancellation)?;
        pair.received.first().map(|received| self.at(*received).id().clone())
    }

    /// Whether the upstream sent this in a session that serves clients: a gateway may have other sessions.
    pub fn serves_clients(&self, index: Index) -> bool {
        let message = self.at(index);
        let mut calls = self.calls.iter().filter(|pair| self.at(pair.sent).method() != "initialize");
        calls.any(|pair| pair.received.iter().any(|index| self.at(*index).is_beside(message)))
    }

    /// The client that a message of the upstream is for, if known.
    pub fn meant_for(&self, index: Index) -> Option<u32> {
        let message = self.at(index);
        let pair = match message.kind() {
            Kind::Notification if message.method() == "notifications/progress" => self.reported_on(message),
            Kind::Request => self.during(message),
            _ => None,
        };
        pair.map(|pair| self.at(pair.sent).link)
    }

    /// The only call that was open in the same conversation, or on the same stream, when the upstream sent this.
    pub fn during(&self, message: &Message) -> Option<&Pair> {
        let mut open = self.calls.iter().filter(|pair| {
            let ended = pair.returned.map(|returned| self.at(returned).frame);
            pair.received.iter().map(|index| self.at(*index)).any(|request| {
                request.is_beside(message)
                    && request.frame < message.frame
                    && ended.is_none_or(|ended| message.frame < ended)
                    && (request.post.is_none() || message.post.is_none() || request.post == message.post)
            })
        });
        let first = open.next()?;
        open.next().is_none().then_some(first)
    }
}

/// Similarity from 0 (nothing is equal) to 1.
fn likeness(expected: &Value, received: &Value) -> f64 {
    let without_token = |message: &Value| {
        let mut params = message["params"].clone();
        let meta = params.get_mut("_meta").and_then(Value::as_object_mut);
        if let Some(meta) = meta {
            meta.shift_remove("progressToken");
        }
        params
    };
    let (same, all) = similarity(&without_token(expected), &without_token(received));
    let ratio = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if all == 0 { 1.0 } else { ratio(same) / ratio(all) }
}
