//! Records what happens in a run.

mod written;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::json;
use tokio::time::Instant;

use super::{
    Frame, FrameIndex, FrameKind, Link, Side, Transport,
    store::{Sink, Store},
};
use crate::revision::Revision;

/// A shared handle: connections write frames through it during the run.
#[derive(Clone)]
pub struct Recorder {
    book: Arc<Mutex<Book>>,
}

struct Book {
    store: Store,
    links: Vec<Link>,
    posts: u64,
    /// Whether a server accepted the last HTTP request whose outcome is known.
    answered: bool,
    /// The number of HTTP requests with a 503 response.
    unavailable: usize,
    /// The longest time that a process took until its first output on stdout.
    slowest_start: Duration,
    /// Whether a process did not exit after its stdin was closed.
    outlives_stdin: bool,
}

impl Book {
    fn change(&mut self, link: u32, change: impl FnOnce(&mut Link)) {
        let Some(known) = self.links.iter_mut().find(|known| known.link == link) else { return };
        let before = known.clone();
        change(known);
        if *known != before {
            self.tell(link);
        }
    }

    fn tell(&mut self, link: u32) {
        let known = self.links.iter().find(|known| known.link == link);
        if let (Some(sink), Some(known)) = (&mut self.store.sink, known) {
            let text = serde_json::to_string(known);
            sink("link", &text.unwrap_or_else(|error| unreachable!("all keys are strings: {error}")));
        }
    }
}

/// The sender, and the suite that caused it.
#[derive(Clone, Debug)]
pub struct Sent {
    pub link: u32,
    pub by: String,
    pub post: Option<u64>,
}

impl Recorder {
    /// Frames beyond `budget` bytes go to a temporary file of at most `most` bytes. There are at most `frames` of them.
    pub fn new(budget: usize, most: usize, frames: usize) -> Self {
        let book = Book {
            store: Store::new(budget as u64, most as u64, frames as u64),
            links: Vec::new(),
            posts: 0,
            answered: false,
            unavailable: 0,
            slowest_start: Duration::ZERO,
            outlives_stdin: false,
        };
        Self { book: Arc::new(Mutex::new(book)) }
    }

    /// Keeps nothing: the sink receives each frame at once, and each connection whenever its data changes.
    pub fn to(sink: Sink) -> Self {
        let recorder = Self::new(0, 0, usize::MAX);
        recorder.lock().store.sink = Some(sink);
        recorder
    }

    /// Sets the time at which the next frames were observed.
    pub fn seen_at(&self, moment: Instant) {
        self.lock().store.seen = Some(moment);
    }

    /// Registers a new connection, and returns its number.
    pub fn open_link(&self, transport: Transport) -> u32 {
        let mut book = self.lock();
        let number = book.links.last().map_or(0, |last| last.link) + 1;
        book.links.push(Link::new(number, transport));
        book.tell(number);
        number
    }

    /// Records that the beginning of a connection was missed.
    pub fn late(&self, link: u32) {
        self.lock().change(link, |known| known.late = true);
    }

    /// Removes a connection about which nothing more is recorded.
    pub fn forget(&self, link: u32) {
        self.lock().links.retain(|known| known.link != link);
    }

    /// Sets the transport of a connection, if it is known only later.
    pub fn over(&self, link: u32, transport: Transport) {
        self.lock().change(link, |known| known.transport = transport);
    }

    /// Sets the scenario in which a client opened a connection.
    pub fn in_scenario(&self, link: u32, scenario: &str) {
        if let Some(known) = self.lock().links.iter_mut().find(|known| known.link == link) {
            known.scenario = Some(scenario.to_owned());
        }
    }

    /// Records that a gateway opened the connection.
    pub fn behind(&self, link: u32) {
        if let Some(known) = self.lock().links.iter_mut().find(|known| known.link == link) {
            known.behind = true;
        }
    }

    /// Records how long a process took to start.
    pub fn started(&self, took: Duration) {
        let mut book = self.lock();
        book.slowest_start = book.slowest_start.max(took);
    }

    /// The slowest start of a process so far: on a busy machine, its exit takes as long.
    pub fn slowest_start(&self) -> Duration {
        self.lock().slowest_start
    }

    /// Records that a process did not exit after its stdin was closed.
    pub fn outlived_stdin(&self) {
        self.lock().outlives_stdin = true;
    }

    pub fn outlives_stdin(&self) -> bool {
        self.lock().outlives_stdin
    }

    /// Sets the negotiated revision of a connection.
    pub fn settle(&self, link: u32, revision: Revision) {
        self.lock().change(link, |known| known.revision = Some(revision));
    }

    /// Sets the revision that a client used on a connection before it gave it up, and the last frame of that part.
    pub fn settle_until(&self, link: u32, revision: Revision, frame: u64) {
        self.lock().change(link, |known| (known.revision, known.until) = (Some(revision), Some(frame)));
    }

    /// Records that a connection is for one request.
    pub fn brief(&self, link: u32) {
        if let Some(known) = self.lock().links.iter_mut().find(|known| known.link == link) {
            known.brief = true;
        }
    }

    pub fn links(&self) -> Vec<Link> {
        self.lock().links.clone()
    }

    /// The number of frames, which is also the number of the newest.
    pub fn frames_so_far(&self) -> u64 {
        self.lock().store.recorded
    }

    /// Whether a server accepted the last HTTP request.
    pub fn was_answered(&self) -> bool {
        self.lock().answered
    }

    /// The number of HTTP requests with a 503 response.
    pub fn unavailable(&self) -> usize {
        self.lock().unavailable
    }

    /// Why recording has stopped, if it has.
    pub fn full(&self) -> Option<String> {
        self.lock().store.full.clone()
    }

    /// Records on every connection that the gathering stops here, whatever is open. Requests open for longer than
    /// `patience` had been given up before.
    pub fn cut_short(&self, why: &str, patience: Duration) {
        let links: Vec<u32> = self.lock().links.iter().map(|link| link.link).collect();
        for link in links {
            self.gave_up(link, why, patience);
        }
    }

    /// The same on one connection.
    pub fn gave_up(&self, link: u32, why: &str, patience: Duration) {
        let patience = json!({ "patience_ms": u64::try_from(patience.as_millis()).unwrap_or(u64::MAX) });
        let (message, text) = (Some(&patience), Some(why.to_owned()));
        self.lock().store.keep(Frame { message, text, ..Frame::blank(link, Side::Client, FrameKind::CutShort) });
    }

    /// Records that a suite repeats its unanswered requests.
    pub fn asked_again(&self, suite: &str) {
        let mut book = self.lock();
        let links: Vec<u32> = book.links.iter().map(|link| link.link).collect();
        for link in links {
            let by = Some(suite.to_owned());
            book.store.keep(Frame { by, ..Frame::blank(link, Side::Client, FrameKind::CutShort) });
        }
    }

    /// All frames in order.
    pub fn frames(&self) -> impl Iterator<Item = Arc<Frame>> + use<> {
        self.frames_where(|_| true)
    }

    /// All frames as JSON texts.
    pub fn texts(&self) -> impl Iterator<Item = Arc<str>> + use<> {
        self.lock().store.texts()
    }

    /// The index of all frames in order, without parsing them.
    pub fn indexes(&self) -> impl Iterator<Item = FrameIndex> + use<> {
        self.lock().store.indexes()
    }

    /// The frames that `wanted` selects. This avoids parsing the others, which takes the longest.
    pub fn frames_where<F: Fn(&FrameIndex) -> bool>(&self, wanted: F) -> impl Iterator<Item = Arc<Frame>> + use<F> {
        self.lock().store.frames(wanted)
    }

    /// The frames after that number that are still in memory.
    pub fn since(&self, seen: u64) -> Vec<Arc<Frame>> {
        self.lock().store.since(seen)
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
