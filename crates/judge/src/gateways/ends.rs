//! What ended at either side of the gateway: connections, processes and HTTP exchanges.

use std::collections::{HashMap, HashSet};

use super::messages::Message;
use conform_model::evidence::{Ended, Frame, FrameKind, Link, Side};

/// A client that has waited this long, in microseconds, has not given up early. Our client waits at least 5 s.
const WAITED: u64 = 4_000_000;

#[derive(Default)]
pub struct Ends {
    /// The frame in which each client disconnected.
    left: HashMap<u32, u64>,
    /// The time of that frame.
    left_at: HashMap<u32, u64>,
    /// Gateways that exited although their client was still connected.
    exited: HashSet<u32>,
    /// The scenarios of these gateways.
    exited_in: HashSet<String>,
    /// HTTP exchanges of clients that got an error status.
    rejected: HashSet<u64>,
    /// HTTP exchanges of clients in a session, and those that got status 404: the client has to start a new one.
    in_session: HashSet<u64>,
    session_over: HashSet<u64>,
    /// In which frame the gateway ended the stream of a client for messages without a request. It may do so at any time.
    closed: HashMap<u32, u64>,
    listening: HashSet<u64>,
    /// When clients closed HTTP exchanges.
    dropped: HashMap<u64, u64>,
    /// HTTP exchanges with the upstream that got an error status.
    failed: HashSet<u64>,
    /// Of these, those with status 404.
    not_found: HashSet<u64>,
    /// HTTP exchanges with the upstream that got a status.
    begun: HashSet<u64>,
    /// HTTP exchanges with the upstream that ended without a status. A stream that ends without a response does not count: a
    /// gateway may resume it, or wait for it as long as for a slow response. SDKs do so for 60 s.
    over: HashSet<u64>,
    /// When the gateway last opened or resumed a stream on each connection with the upstream.
    opened: HashMap<u32, u64>,
    /// HTTP exchanges of clients that the gateway broke off or did not accept.
    broken: HashSet<u64>,
    /// Processes of the upstream that exited by themselves.
    crashed: HashSet<u32>,
    /// In which frame the first of them exited, by scenario.
    crashed_in: HashMap<String, u64>,
}

impl Ends {
    pub fn take(&mut self, frame: &Frame, link: &Link) {
        let is_error = frame.http.as_ref().and_then(|head| head.status).is_some_and(|status| status >= 400);
        match (frame.kind, frame.post, frame.ended, link.behind) {
            (FrameKind::HttpRequest, ..) if link.behind && is_get(frame) => {
                self.opened.insert(link.link, frame.at);
            }
            (FrameKind::HttpRequest, Some(post), _, false) => {
                if frame.http.as_ref().is_some_and(|head| head.by_name().contains_key("mcp-session-id")) {
                    self.in_session.insert(post);
                }
                // Another GET resumes the stream of a request.
                let resumes = frame.http.as_ref().is_some_and(|head| head.by_name().contains_key("last-event-id"));
                if is_get(frame) && !resumes {
                    self.listening.insert(post);
                }
            }
            (FrameKind::HttpResponse, Some(post), _, false) if is_error => {
                self.rejected.insert(post);
                let is_missing = frame.http.as_ref().is_some_and(|head| head.status == Some(404));
                if is_missing && self.in_session.contains(&post) {
                    self.session_over.insert(post);
                }
            }
            (FrameKind::HttpResponse, Some(post), _, false) if self.listening.contains(&post) => {
                self.closed.remove(&link.link);
            }
            (FrameKind::Note, Some(post), Some(Ended::Complete | Ended::Broken), false)
                if self.listening.contains(&post) && link.transport.capabilities().stream_per_request =>
            {
                self.closed.insert(link.link, frame.frame);
            }
            (FrameKind::HttpResponse, Some(post), _, true) => {
                self.begun.insert(post);
                if is_error {
                    self.failed.insert(post);
                }
            }
            (FrameKind::Note, Some(post), Some(Ended::Dropped), false) => {
                self.dropped.insert(post, frame.at);
            }
            (FrameKind::Note, Some(post), Some(Ended::Broken | Ended::Unsent), false) => {
                self.broken.insert(post);
            }
            // Over HTTP+SSE responses are on another stream.
            (FrameKind::Note, Some(post), Some(Ended::Complete | Ended::Broken), true)
                if link.transport.capabilities().stream_per_request && !self.begun.contains(&post) =>
            {
                self.over.insert(post);
            }
            (FrameKind::Note, None, Some(Ended::Unasked), true) => {
                self.crashed.insert(link.link);
                if let Some(scenario) = &link.scenario {
                    self.crashed_in.entry(scenario.clone()).or_insert(frame.frame);
                }
            }
            (FrameKind::Note, None, Some(ended), false) => {
                self.left.insert(link.link, frame.frame);
                self.left_at.insert(link.link, frame.at);
                if ended == Ended::Unasked && frame.from == Side::Server {
                    self.exited.insert(link.link);
                    self.exited_in.extend(link.scenario.clone());
                }
            }
            _ => {}
        }
    }

    /// Whether the gateway said that the session of a client's request is over.
    pub fn ended_session(&self, sent: &Message) -> bool {
        sent.post.is_some_and(|post| self.session_over.contains(&post))
    }

    /// Whether the gateway had closed the client's stream for messages without a request before this frame.
    pub fn had_closed(&self, link: u32, frame: u64) -> bool {
        self.closed.get(&link).is_some_and(|closed| *closed < frame)
    }

    /// When the client closed the exchange of this request.
    pub fn dropped(&self, sent: &Message) -> Option<u64> {
        self.dropped.get(&sent.post?).copied()
    }

    /// The frame in which the client disconnected.
    pub fn left(&self, link: u32) -> Option<u64> {
        self.left.get(&link).copied()
    }

    pub fn reject_session(&mut self, post: u64) {
        self.not_found.insert(post);
    }

    /// Whether the upstream does not know the session of the exchange, or nothing at its path.
    pub fn has_rejected_session(&self, post: u64) -> bool {
        self.not_found.contains(&post)
    }

    /// Whether a gateway exited in the scenario although its client was connected.
    pub fn has_exited(&self, scenario: Option<&str>) -> bool {
        scenario.is_some_and(|scenario| self.exited_in.contains(scenario))
    }

    /// Whether the upstream rejected this by an HTTP status, so that it may be sent again.
    pub fn has_failed(&self, received: &Message) -> bool {
        received.post.is_some_and(|post| self.failed.contains(&post))
    }

    /// When the gateway last did something to get the response to what the upstream received there.
    pub fn last_attempt(&self, received: &Message) -> u64 {
        self.opened.get(&received.link).copied().unwrap_or_default().max(received.at)
    }

    /// Whether the upstream can no longer respond to what it received there.
    pub fn is_over(&self, received: &Message) -> bool {
        let ended =
            received.post.map_or_else(|| self.crashed.contains(&received.link), |post| self.over.contains(&post));
        ended || self.has_failed(received)
    }

    /// Whether a process of the upstream had exited by itself before this was sent, or before it was received, if it never was.
    pub fn upstream_had_exited(&self, sent: &Message, is_received: bool) -> bool {
        let exited = sent.scenario.as_ref().and_then(|scenario| self.crashed_in.get(scenario));
        exited.is_some_and(|exited| !is_received || *exited < sent.frame)
    }

    /// Whether the gateway exited when the process of its upstream had, so that the client knows that there will be no response.
    pub fn exited_with_upstream(&self, sent: &Message) -> bool {
        let crashed = sent.scenario.as_ref().is_some_and(|scenario| self.crashed_in.contains_key(scenario));
        let broken = sent.post.is_some_and(|post| self.broken.contains(&post));
        crashed && (broken || self.exited.contains(&sent.link))
    }

    /// Whether the gateway responded to a client's request with an error status.
    pub fn has_rejected(&self, sent: &Message) -> bool {
        sent.post.is_some_and(|post| self.rejected.contains(&post))
    }

    /// Whether the client still waited long after this time: it neither left early nor closed the exchange. For a request it is
    /// when the gateway last sent it: it may repeat one that failed.
    pub fn stayed(&self, sent: &Message, since: u64) -> bool {
        let is_long = |until: &u64| until.saturating_sub(since) >= WAITED;
        let has_left =
            !self.exited.contains(&sent.link) && self.left_at.get(&sent.link).is_some_and(|left| !is_long(left));
        let has_closed = sent.post.and_then(|post| self.dropped.get(&post)).is_some_and(|dropped| !is_long(dropped));
        !has_left && !has_closed
    }
}

fn is_get(frame: &Frame) -> bool {
    frame.http.as_ref().is_some_and(|head| head.method.as_deref() == Some("GET"))
}
