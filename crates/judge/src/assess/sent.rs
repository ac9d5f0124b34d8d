//! What the client had sent before a frame that means little alone.

use std::{
    collections::{HashMap, VecDeque},
    iter,
    sync::Arc,
};

use serde_json::Value;

use conform_model::evidence::{Frame, FrameKind, Side, conversation::Said};

/// Number of client frames that are kept in case a later frame has a finding.
const REMEMBERED: usize = 100;

/// Number of messages of the client that are shown with one that the server sent on its own.
const BESIDE: usize = 2;

/// Number of requests in flight that are shown with a line that any of them may have caused.
const IN_FLIGHT: usize = 4;

/// The latest frames of the client, each with its response.
#[derive(Default)]
pub struct Sent {
    latest: VecDeque<Exchange>,
    /// The last frame that the server sent on each connection.
    heard: HashMap<u32, u64>,
}

type Exchange = (Arc<Frame>, Option<Arc<Frame>>);

impl Sent {
    /// What a frame is probably about, in order.
    pub fn before(&self, said: &Said) -> Vec<&Arc<Frame>> {
        let frame = said.frame;
        let is_response = frame.message.is_some() && !has_method(frame);
        if frame.from == Side::Server && frame.post.is_none() && !is_response {
            // A process that does not exit may still work on a request.
            if frame.ended.is_some() {
                return self.beside(frame, |(_, response)| response.is_none());
            }
            // Any request in flight may have made it print this; with too many of them, none says anything.
            if frame.kind == FrameKind::Junk {
                let in_flight = self.in_flight(frame);
                return if in_flight.len() > IN_FLIGHT { Vec::new() } else { in_flight };
            }
            let since = self.beside(frame, |(earlier, _)| self.heard.get(&frame.link) < Some(&earlier.frame));
            if !since.is_empty() {
                return since;
            }
        }
        let alone = self.alone(said, is_response).into_iter();
        alone.flat_map(|(earlier, response)| iter::once(earlier).chain(response)).collect()
    }

    /// The requests on the same connection over stdio without a response.
    fn in_flight(&self, frame: &Frame) -> Vec<&Arc<Frame>> {
        let is_open = |(earlier, response): &&Exchange| {
            response.is_none() && earlier.link == frame.link && earlier.post.is_none() && id(earlier).is_some()
        };
        self.latest.iter().filter(is_open).map(|(earlier, _)| earlier).collect()
    }

    /// The last few messages of the client on the same connection over stdio that fit.
    fn beside(&self, frame: &Frame, fits: impl Fn(&Exchange) -> bool) -> Vec<&Arc<Frame>> {
        let fitting =
            |exchange: &&Exchange| is_beside(&exchange.0, frame) && may_be_request(&exchange.0) && fits(exchange);
        let mut beside: Vec<_> =
            self.latest.iter().rev().filter(fitting).take(BESIDE).map(|(earlier, _)| earlier).collect();
        beside.reverse();
        beside
    }

    /// The single message of the client that it is probably about.
    fn alone(&self, said: &Said, is_response: bool) -> Option<&Exchange> {
        let frame = said.frame;
        match (frame.from, frame.post, id(frame)) {
            (Side::Server, Some(post), _) => self.newest(|earlier| earlier.post == Some(post)),
            // A request without a response may be affected by the one before it, if that got none, either.
            (Side::Client, None, Some(_)) => {
                self.newest(|earlier| is_beside(earlier, frame)).filter(|(_, response)| response.is_none())
            }
            (Side::Server, None, _) if is_response => self
                .newest(|earlier| said.request().is_some_and(|asked| asked.place.frame == earlier.frame))
                .or_else(|| self.newest(|earlier| is_beside(earlier, frame) && id(earlier).is_none_or(Value::is_null)))
                .or_else(|| self.newest(|earlier| is_beside(earlier, frame))),
            (Side::Server, None, _) => self.newest(|earlier| is_beside(earlier, frame)),
            _ => None,
        }
    }

    fn newest(&self, fits: impl Fn(&Frame) -> bool) -> Option<&Exchange> {
        self.latest.iter().rev().find(|(earlier, _)| fits(earlier))
    }

    pub fn note(&mut self, said: &Said) {
        let frame = said.frame;
        if frame.from == Side::Server {
            self.heard.insert(frame.link, frame.frame);
            let request = said.request().map(|asked| asked.place.frame);
            let of = self.latest.iter_mut().rev().find(|(earlier, _)| Some(earlier.frame) == request);
            if let Some((_, response)) = of {
                *response = Some(Arc::clone(frame));
            }
        } else if matches!(frame.kind, FrameKind::Message | FrameKind::Junk | FrameKind::HttpRequest) {
            self.latest.push_back((Arc::clone(frame), None));
            if self.latest.len() > REMEMBERED {
                // A request without a response matters longer.
                let done =
                    self.latest.iter().position(|(earlier, response)| response.is_some() || id(earlier).is_none());
                self.latest.remove(done.unwrap_or_default());
            }
        }
    }
}

/// Whether the client sent the earlier frame on the same connection over stdio.
fn is_beside(earlier: &Frame, frame: &Frame) -> bool {
    earlier.link == frame.link && earlier.post.is_none() && earlier.by.as_deref() != Some("handshake")
}

/// Whether it is a request or not a message, rather than a notification.
fn may_be_request(frame: &Frame) -> bool {
    frame.message.as_ref().is_none_or(|message| !message.is_object() || message.get("id").is_some())
}

fn has_method(frame: &Frame) -> bool {
    frame.message.as_ref().is_some_and(|message| message.get("method").is_some())
}

fn id(frame: &Frame) -> Option<&Value> {
    frame.message.as_ref()?.get("id")
}
