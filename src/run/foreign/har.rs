//! Converts an HTTP Archive: splits its exchanges into requests and responses, orders these by time, and records them.

use std::{
    collections::{HashMap, HashSet},
    net::{IpAddr, Ipv4Addr},
    time::Duration,
};

use hyper::Method;

use super::{
    Written,
    har_file::{Entry, Har, Log},
    streams::{self, Held, Piece},
};
use crate::{
    evidence::{Ended, Tested},
    run::recording::{Exchanges, resolved},
    target::shown_url,
};

/// The file does not have the address of the client.
const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Separates events that have the same time in the file.
const MOMENT: Duration = Duration::from_nanos(1);

pub fn converted(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let Har { log } = serde_json::from_slice(bytes).map_err(|why| format!("as a HAR: {why}"))?;
    let Log { creator, mut entries } = log;
    let is_bare = |entry: &Entry| entry.is(&Method::POST) && entry.sent().is_none();
    let bare = entries.iter().filter(|entry| is_bare(entry)).count();
    let targets = targets(&entries);
    entries.retain(|entry| is_of_mcp(entry, &targets));
    entries.sort_by_key(|entry| entry.started_date_time);
    let Some(first) = entries.first() else { return Err(nothing(bare)) };
    let began = first.started_date_time;
    let target = Tested { name: shown_url(first.url().as_str()), transport: "http".to_owned(), ..Tested::default() };
    let written = Written::begin(target, u64::try_from(began.as_second()).unwrap_or_default())?;
    let mut steps = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let since = Duration::try_from(entry.started_date_time.duration_since(began)).unwrap_or_default();
        let (head, end) = entry.took(&creator);
        steps.push((since, at, Step::Request));
        steps.push((since + head + MOMENT, at, Step::Head));
        steps.push((since + end + MOMENT * 2, at, Step::End));
    }
    let last = steps.iter().map(|(since, ..)| *since).max().unwrap_or_default();
    for (since, at, step) in &mut steps {
        if matches!(step, Step::End) && !entries[*at].has_end() {
            *since = last;
        }
    }
    steps.sort_by_key(|(since, ..)| *since);
    let mut passing = Passing::new(&written, &entries);
    for (since, at, step) in steps {
        written.seen_after(since);
        passing.take(at, step)?;
    }
    let by = format!("{} {}", creator.name, creator.version);
    let by = if by.trim().is_empty() { "an unknown tool" } else { by.trim() };
    let mut notes = vec![format!("read from a HAR that was written by {by}")];
    notes.extend(passing.notes());
    drop(passing);
    written.close(u64::try_from(last.as_millis()).unwrap_or(u64::MAX), notes)
}

fn nothing(bare: usize) -> String {
    let why = "the HAR has no messages of MCP: no request has a JSON-RPC message as its body";
    match bare {
        0 => why.to_owned(),
        bare => format!("{why}, and {bare} requests by POST have no body in it (save it with content)"),
    }
}

/// The URLs that received MCP messages.
fn targets(entries: &[Entry]) -> HashSet<(String, String)> {
    let posts = entries.iter().filter(|entry| entry.is(&Method::POST) && entry.message().is_some());
    posts.map(Entry::target).collect()
}

/// Whether an MCP client sent it: a browser session has many other requests.
fn is_of_mcp(entry: &Entry, targets: &HashSet<(String, String)>) -> bool {
    let known = targets.contains(&entry.target());
    if entry.is(&Method::GET) {
        return (known && entry.accepts_events()) || entry.endpoint().is_some();
    }
    known && (entry.is(&Method::POST) || entry.is(&Method::DELETE))
}

#[derive(Clone, Copy)]
enum Step {
    Request,
    Head,
    End,
}

struct Passing<'f> {
    entries: &'f [Entry],
    /// One for each origin, because connections are identified within an origin.
    exchanges: Vec<Exchanges>,
    of_origin: HashMap<String, usize>,
    connections: HashMap<&'f str, u64>,
    /// By conversation: streams that a GET opened, and the requests that the client has sent.
    held: HashMap<String, Vec<Held>>,
    sent: HashMap<String, HashSet<String>>,
    /// By conversation: what the server requested, and whether a stream's body is missing in the file.
    asked: HashMap<String, HashSet<String>>,
    blind: HashSet<String>,
    left: usize,
    without_body: usize,
}

impl<'f> Passing<'f> {
    fn new(written: &Written, entries: &'f [Entry]) -> Self {
        let (mut exchanges, mut of_origin) = (Vec::new(), HashMap::new());
        for entry in entries {
            of_origin.entry(entry.origin()).or_insert_with(|| {
                exchanges.push(Exchanges::new(written.recorder.clone(), String::new(), Vec::new()));
                exchanges.len() - 1
            });
        }
        Self {
            entries,
            exchanges,
            of_origin,
            connections: HashMap::new(),
            held: HashMap::new(),
            sent: HashMap::new(),
            asked: HashMap::new(),
            blind: HashSet::new(),
            left: 0,
            without_body: 0,
        }
    }

    fn take(&mut self, at: usize, step: Step) -> Result<(), String> {
        match step {
            Step::Request => return self.request(at),
            Step::Head => self.head(at),
            Step::End => self.end(at),
        }
        Ok(())
    }

    fn request(&mut self, at: usize) -> Result<(), String> {
        let entry = &self.entries[at];
        let message = entry.message().unwrap_or_default();
        let conversation = conversation(entry);
        // The request of the server comes before this response to it.
        let answered = streams::responses(&message);
        let mut due = Vec::new();
        for held in self.held.get_mut(&conversation).into_iter().flatten() {
            due.extend(held.requested(&answered).into_iter().map(|piece| (held.exchange, piece)));
        }
        let asked = self.asked.entry(conversation.clone()).or_default();
        asked.extend(due.iter().filter_map(|(_, piece)| piece.request()));
        let unseen = self.blind.contains(&conversation) && !answered.iter().all(|id| asked.contains(id));
        let connections = self.connections.len() as u64;
        let connection = match &entry.connection {
            Some(name) => *self.connections.entry(name.as_str()).or_insert(connections),
            // Unknown, so it is different from that of every other request.
            None => u64::MAX - at as u64,
        };
        let (head, number) = (Box::new(entry.request()?), at as u64);
        let exchanges = self.of(entry);
        for (exchange, piece) in due {
            exchanges.response_body(exchange, &piece.bytes);
        }
        exchanges.request(number, connection, CLIENT, head);
        if let Some(body) = entry.sent() {
            exchanges.request_body(number, &body.to_owned().into());
        }
        exchanges.begin(number);
        if unseen || (entry.is(&Method::POST) && entry.sent().is_none()) {
            exchanges.incomplete(number);
            self.without_body += 1;
        }
        Ok(())
    }

    fn head(&mut self, at: usize) {
        let (entry, number) = (&self.entries[at], at as u64);
        let Some(head) = entry.response() else { return };
        let body = entry.received();
        if entry.lacks_body() {
            self.without_body += 1;
            self.of(entry).incomplete(number);
            return;
        }
        self.of(entry).respond(number, &head);
        if !entry.has_events() {
            return;
        }
        let mut pieces = streams::pieces(&body);
        let conversation = conversation(entry);
        if entry.is(&Method::GET) {
            if body.is_empty() {
                self.blind.insert(conversation.clone());
            }
            let rest = pieces.split_off(pieces.iter().position(Piece::has_message).unwrap_or(pieces.len()));
            self.pass(at, &pieces);
            self.held.entry(conversation.clone()).or_default().push(Held::new(number, rest));
            self.give(entry, &conversation);
        } else {
            let before = &pieces[..streams::before_response(&pieces)];
            self.asked.entry(conversation).or_default().extend(before.iter().filter_map(Piece::request));
            self.pass(at, before);
        }
    }

    fn end(&mut self, at: usize) {
        let (entry, number) = (&self.entries[at], at as u64);
        let body = entry.received();
        if entry.response().is_none() {
            return self.of(entry).over(number, Ended::Dropped);
        }
        if entry.lacks_body() {
            return;
        }
        let conversation = conversation(entry);
        if entry.has_events() && entry.is(&Method::GET) {
            self.give(entry, &conversation);
            let held = self.held.entry(conversation.clone()).or_default();
            if let Some(place) = held.iter().position(|held| held.exchange == number) {
                let mut held = held.swap_remove(place);
                // These were sent before the stream ended.
                let rest = held.rest();
                self.left += held.left();
                self.asked.entry(conversation).or_default().extend(rest.iter().filter_map(Piece::request));
                self.pass(at, &rest);
            }
            return self.of(entry).over(number, Ended::Dropped);
        }
        if entry.has_events() {
            let pieces = streams::pieces(&body);
            self.pass(at, &pieces[streams::before_response(&pieces)..]);
        } else {
            self.of(entry).response_body(number, &body);
        }
        self.of(entry).over(number, Ended::Complete);
        let requests = entry.message().map(|message| streams::requests(&message)).unwrap_or_default();
        self.sent.entry(conversation.clone()).or_default().extend(requests);
        self.give(entry, &conversation);
    }

    /// Passes on responses on streams of this conversation whose requests have been sent.
    fn give(&mut self, entry: &Entry, conversation: &str) {
        let Some(sent) = self.sent.get(conversation) else { return };
        let mut due = Vec::new();
        for held in self.held.get_mut(conversation).into_iter().flatten() {
            due.extend(held.due(sent).into_iter().map(|piece| (held.exchange, piece)));
        }
        for (exchange, piece) in due {
            self.of(entry).response_body(exchange, &piece.bytes);
        }
    }

    fn pass(&mut self, at: usize, pieces: &[Piece]) {
        let entry = &self.entries[at];
        for piece in pieces {
            self.of(entry).response_body(at as u64, &piece.bytes);
        }
    }

    fn of(&mut self, entry: &Entry) -> &mut Exchanges {
        let at = self.of_origin[&entry.origin()];
        &mut self.exchanges[at]
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.left > 0 {
            let left = self.left;
            notes.push(format!(
                "not judged, as a HAR does not show when they were sent: messages on event streams that a GET opened ({left})"
            ));
        }
        if self.without_body > 0 {
            let count = self.without_body;
            notes
                .push(format!("requests and responses whose bodies are not in the HAR: {count}; save it with content"));
        }
        notes
    }
}

/// Identifies the conversation of an exchange: its session or its endpoint.
fn conversation(entry: &Entry) -> String {
    let session = entry.request().ok().and_then(|head| head.headers.get("mcp-session-id").cloned());
    let place = match (session, entry.endpoint()) {
        (Some(session), _) => format!("{session:?}"),
        (None, Some(endpoint)) => resolved(&endpoint, entry.url().path()),
        (None, None) => resolved(entry.url().as_str(), "/"),
    };
    format!("{} {place}", entry.origin())
}
