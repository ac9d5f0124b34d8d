//! HTTP exchanges: assembled from their pieces, and recorded on the connection that they belong to.

use std::{collections::HashMap, net::IpAddr};

use hyper::{
    Method,
    body::Bytes,
    http::{request, response},
};
use serde_json::Value;

use super::sessions::{Asked, Sessions, begins};
use crate::{
    evidence::{Ended, Recorder, Transport},
    tap::{Exchange, Tap, is_credential},
    wire::{Secrets, in_headers},
};

/// The rest of a longer body is discarded: the tap does not read such a message anyway.
const LONGEST_BODY: usize = (16 << 20) + 1;

struct Pending {
    head: Box<request::Parts>,
    connection: u64,
    peer: IpAddr,
    body: Vec<u8>,
    began: Option<Began>,
}

struct Began {
    exchange: Exchange,
    link: u32,
    begins: bool,
    /// It does not carry MCP messages, but for example authorization: only its head is recorded.
    beside: bool,
    has_endpoint: bool,
}

pub struct Exchanges {
    recorder: Recorder,
    sessions: Sessions,
    pending: HashMap<u64, Pending>,
    /// The path of the MCP endpoint; without one, any path.
    path: String,
    beside: Option<Tap>,
    /// The credentials of the last request. Those of the next request are usually the same.
    credentials: (Vec<(String, String)>, Secrets),
    given: Vec<String>,
}

impl Exchanges {
    /// `given` are secrets that are known from the start.
    pub fn new(recorder: Recorder, path: String, given: Vec<String>) -> Self {
        let secrets = Secrets::of(given.clone());
        Self {
            sessions: Sessions::new(recorder.clone()),
            recorder,
            pending: HashMap::new(),
            path,
            beside: None,
            credentials: (Vec::new(), secrets),
            given,
        }
    }

    pub fn request(&mut self, exchange: u64, connection: u64, peer: IpAddr, head: Box<request::Parts>) {
        self.pending.insert(exchange, Pending { head, connection, peer, body: Vec::new(), began: None });
    }

    pub fn request_body(&mut self, exchange: u64, bytes: &Bytes) {
        let Some(pending) = self.pending.get_mut(&exchange).filter(|pending| pending.began.is_none()) else { return };
        let room = LONGEST_BODY.saturating_sub(pending.body.len());
        pending.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The request is complete, or the server already responds.
    pub fn begin(&mut self, exchange: u64) {
        let Some(mut pending) = self.pending.remove(&exchange) else { return };
        if pending.began.is_none() {
            pending.began = Some(self.began(&pending));
            pending.body = Vec::new();
        }
        self.pending.insert(exchange, pending);
    }

    fn began(&mut self, pending: &Pending) -> Began {
        let Pending { head, connection, peer, body, .. } = pending;
        let secrets = self.secrets(head);
        let is_stream = head.method == Method::GET && accepts_events(head);
        let beside =
            self.path.len() > 1 && head.uri.path() != self.path && !is_stream && !self.sessions.is_endpoint(head);
        if beside {
            let recorder = &self.recorder;
            let tap =
                self.beside.get_or_insert_with(|| Tap::new(recorder.clone(), recorder.open_link(Transport::Http)));
            let exchange = Exchange::begin(tap.hiding_credentials(secrets), head, b"");
            return Began { exchange, link: tap.link(), begins: false, beside, has_endpoint: false };
        }
        let message: Option<Value> = serde_json::from_slice(body).ok();
        let asked = Asked { head, message: message.as_ref(), connection: *connection, peer: *peer };
        let tap = self.sessions.of(&asked);
        let (link, begins) = (tap.link(), begins(&asked));
        let exchange = Exchange::begin(tap.hiding_credentials(secrets), head, body);
        Began { exchange, link, begins, beside, has_endpoint: false }
    }

    /// The credentials of the request.
    fn secrets(&mut self, head: &request::Parts) -> Secrets {
        let headers = head.headers.iter().filter(|(name, _)| is_credential(name.as_str()));
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let headers: Vec<_> = headers.map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect();
        if headers != self.credentials.0 {
            let secrets = Secrets::of(self.given.iter().cloned().chain(in_headers(&headers)));
            self.credentials = (headers, secrets);
        }
        self.credentials.1.clone()
    }

    pub fn respond(&mut self, exchange: u64, head: &response::Parts) {
        self.begin(exchange);
        let Some(Pending { began: Some(began), .. }) = self.pending.get_mut(&exchange) else { return };
        began.exchange.respond(head);
        if !began.beside {
            self.sessions.responded(began.link, began.begins, head);
        }
    }

    pub fn response_body(&mut self, exchange: u64, bytes: &[u8]) {
        let Some(Pending { began: Some(began), head, .. }) = self.pending.get_mut(&exchange) else { return };
        if began.beside {
            return;
        }
        began.exchange.feed(bytes);
        if let Some(endpoint) = began.exchange.endpoint().filter(|_| !began.has_endpoint) {
            self.sessions.named(began.link, endpoint, head);
            began.has_endpoint = true;
        }
    }

    pub fn over(&mut self, exchange: u64, ended: Ended) {
        self.begin(exchange);
        if let Some(Pending { began: Some(mut began), .. }) = self.pending.remove(&exchange) {
            began.exchange.end(ended);
        }
    }

    /// A part of it is missing, so the negotiated revision is unknown.
    pub fn incomplete(&mut self, exchange: u64) {
        self.begin(exchange);
        if let Some(Pending { began: Some(began), .. }) = self.pending.get(&exchange) {
            self.recorder.late(began.link);
        }
    }

    pub fn disconnected(&mut self, connection: u64) {
        self.sessions.disconnected(connection);
    }

    /// Entries are missing, so pending exchanges cannot be assembled any more.
    pub fn missed(&mut self) {
        self.pending.clear();
        self.sessions.missed();
    }
}

fn accepts_events(head: &request::Parts) -> bool {
    let accepted = head.headers.get_all("accept").iter().filter_map(|value| value.to_str().ok());
    accepted.into_iter().any(|value| value.contains("text/event-stream"))
}
