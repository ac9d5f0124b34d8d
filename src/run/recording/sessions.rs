//! Which connection an HTTP request belongs to, according to its session, its TCP connection and its sender.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    net::IpAddr,
};

use hyper::{
    HeaderMap, Method,
    http::{request, response},
};
use serde_json::Value;

use crate::{
    evidence::{Recorder, Transport},
    revision::Revision,
    tap::Tap,
};

const SESSION: &str = "mcp-session-id";
/// Maximum number of remembered sessions. A request of an older one counts as one whose beginning was missed.
const MOST: usize = 10_000;

/// What is known of a request.
pub struct Asked<'a> {
    pub head: &'a request::Parts,
    pub message: Option<&'a Value>,
    /// The TCP connection.
    pub connection: u64,
    pub peer: IpAddr,
}

/// A client, identified by its address and user agent.
type Sender = (IpAddr, String);

struct Known {
    tap: Tap,
    modern: bool,
    /// The server accepted `initialize`.
    opened: bool,
    has_session: bool,
    /// Its TCP connections that are still open.
    connections: HashSet<u64>,
}

pub struct Sessions {
    recorder: Recorder,
    known: HashMap<u32, Known>,
    /// The oldest first.
    order: VecDeque<u32>,
    of_session: HashMap<String, u32>,
    /// By path and query of the endpoint for messages.
    of_endpoint: HashMap<String, u32>,
    of_connection: HashMap<u64, u32>,
    of_sender: HashMap<Sender, u32>,
    /// Whether the server sent an endpoint: then a GET without a session is a new connection.
    legacy: bool,
}

impl Sessions {
    pub fn new(recorder: Recorder) -> Self {
        Self {
            recorder,
            known: HashMap::new(),
            order: VecDeque::new(),
            of_session: HashMap::new(),
            of_endpoint: HashMap::new(),
            of_connection: HashMap::new(),
            of_sender: HashMap::new(),
            legacy: false,
        }
    }

    /// Whether this is the URL for messages over HTTP+SSE.
    pub fn is_endpoint(&self, head: &request::Parts) -> bool {
        self.of_endpoint.contains_key(&target(head))
    }

    /// The connection of a request; opens a new one if necessary.
    pub fn of(&mut self, asked: &Asked) -> Tap {
        let link = self.find(asked);
        let sender = (asked.peer, text(&asked.head.headers, "user-agent").unwrap_or_default().to_owned());
        self.of_connection.insert(asked.connection, link);
        self.of_sender.insert(sender, link);
        if let Some(known) = self.known.get_mut(&link) {
            known.connections.insert(asked.connection);
            known.modern |= is_modern(asked);
            return known.tap.clone();
        }
        Tap::new(self.recorder.clone(), link)
    }

    fn find(&mut self, asked: &Asked) -> u32 {
        if let Some(session) = text(&asked.head.headers, SESSION) {
            if let Some(link) = self.of_session.get(session) {
                return *link;
            }
            let link = self.open(!begins(asked));
            self.of_session.insert(session.to_owned(), link);
            return link;
        }
        if let Some(link) = self.of_endpoint.get(&target(asked.head)) {
            return *link;
        }
        let sender = (asked.peer, text(&asked.head.headers, "user-agent").unwrap_or_default().to_owned());
        let by_connection = self.of_connection.get(&asked.connection).copied();
        let last = by_connection.or_else(|| self.of_sender.get(&sender).copied());
        if begins(asked) {
            self.separate(last);
            return self.open(false);
        }
        let fits = |known: &Known| known.modern || (known.opened && !known.has_session);
        if asked.head.method == Method::GET {
            // Either the stream of a conversation without a session id, or the beginning of one over HTTP+SSE.
            let own = last.filter(|link| !self.legacy && self.known.get(link).is_some_and(fits));
            return own.unwrap_or_else(|| self.open(false));
        }
        let modern = is_modern(asked);
        let same = |known: &Known| if modern { known.modern } else { !known.has_session };
        let own = last.filter(|link| self.known.get(link).is_some_and(same));
        own.unwrap_or_else(|| self.open(!modern))
    }

    /// Without session ids, concurrent conversations of one sender cannot be distinguished.
    fn separate(&mut self, last: Option<u32>) {
        let Some(known) = last.and_then(|link| self.known.get(&link)) else { return };
        if known.opened && !known.has_session && !known.connections.is_empty() {
            self.recorder.late(known.tap.link());
        }
    }

    fn open(&mut self, late: bool) -> u32 {
        let link = self.recorder.open_link(Transport::Http);
        if late {
            self.recorder.late(link);
        }
        let tap = Tap::new(self.recorder.clone(), link);
        let (modern, opened, has_session, connections) = (false, false, false, HashSet::new());
        self.known.insert(link, Known { tap, modern, opened, has_session, connections });
        self.order.push_back(link);
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.forget(oldest);
        }
        link
    }

    fn forget(&mut self, link: u32) {
        self.known.remove(&link);
        self.of_session.retain(|_, known| *known != link);
        self.of_endpoint.retain(|_, known| *known != link);
        self.of_connection.retain(|_, known| *known != link);
        self.of_sender.retain(|_, known| *known != link);
        self.recorder.forget(link);
    }

    /// The server responded to a request of that connection.
    pub fn responded(&mut self, link: u32, begins: bool, head: &response::Parts) {
        let Some(known) = self.known.get_mut(&link) else { return };
        if begins && head.status.is_success() {
            known.opened = true;
            if let Some(session) = text(&head.headers, SESSION) {
                known.has_session = true;
                self.of_session.insert(session.to_owned(), link);
            }
        }
    }

    /// The server sent the endpoint for messages, so the connection uses HTTP+SSE.
    pub fn named(&mut self, link: u32, endpoint: &str, stream: &request::Parts) {
        self.legacy = true;
        self.recorder.over(link, Transport::Sse);
        self.of_endpoint.insert(resolved(endpoint, stream.uri.path()), link);
    }

    /// A client closed that TCP connection.
    pub fn disconnected(&mut self, connection: u64) {
        if let Some(link) = self.of_connection.remove(&connection)
            && let Some(known) = self.known.get_mut(&link)
        {
            known.connections.remove(&connection);
        }
    }

    /// Entries are missing, and it is unknown on which connection.
    pub fn missed(&mut self) {
        for link in std::mem::take(&mut self.order) {
            self.recorder.late(link);
            self.forget(link);
        }
    }
}

/// Whether a request begins a conversation in a revision with a handshake.
pub fn begins(asked: &Asked) -> bool {
    let is_initialize = |message: &Value| message["method"] == "initialize";
    asked.message.is_some_and(|message| match message {
        Value::Array(batch) => batch.iter().any(is_initialize),
        message => is_initialize(message),
    })
}

/// Whether it uses a revision without handshakes and sessions.
fn is_modern(asked: &Asked) -> bool {
    let of = |version: &str| version.parse::<Revision>().is_ok_and(Revision::is_modern);
    let stated = asked.message.and_then(|message| {
        message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").and_then(Value::as_str)
    });
    stated.or_else(|| text(&asked.head.headers, "mcp-protocol-version")).is_some_and(of)
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn target(head: &request::Parts) -> String {
    head.uri.path_and_query().map(ToString::to_string).unwrap_or_default()
}

/// Path and query of the endpoint, which may be given as a URL, a path, or relative to the stream.
pub fn resolved(endpoint: &str, stream: &str) -> String {
    let base = reqwest::Url::parse("http://host").and_then(|url| url.join(stream));
    let Ok(url) = base.and_then(|base| base.join(endpoint)) else { return endpoint.to_owned() };
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_given_in_several_ways() {
        for (endpoint, expected) in [
            ("/messages?session_id=1", "/messages?session_id=1"),
            ("messages?s=1", "/api/messages?s=1"),
            ("http://elsewhere:1/m?s=1", "/m?s=1"),
            ("?s=1", "/api/sse?s=1"),
        ] {
            assert_eq!(resolved(endpoint, "/api/sse"), expected);
        }
    }
}
