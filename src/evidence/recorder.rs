//! Keeps every frame of a run as text, which takes a tenth of the memory of its values, and beyond a budget the oldest ones
//! in a temporary file.
//!
//! What would make the file too long, or cannot be written to it, is not recorded: the record is then the run up to there.

use std::{
    collections::VecDeque,
    fs::File,
    io::{BufRead, BufReader, BufWriter, Seek, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use indexmap::IndexMap;
use serde_json::Value;

use super::{Ended, Event, Frame, FrameKind, HttpHead, Link, Side, Transport};
use crate::revision::Revision;

/// What a frame costs in memory besides its text, roughly.
const FRAME_COST: u64 = 50;

/// Why something was not read that a client with more room might read.
const BEYOND_LIMITS: [&str; 4] = ["longer than", "more than", "nested deeper than", "a number out of range"];

/// A shared handle: the wire writes frames through it while the run goes on.
#[derive(Clone)]
pub struct Recorder {
    store: Arc<Mutex<Store>>,
}

struct Store {
    began: Instant,
    budget: u64,
    /// How long the file may get, ...
    most: u64,
    /// ... and how many frames there may be.
    frames_at_most: u64,
    recorded: u64,
    frames: VecDeque<Kept>,
    bytes: u64,
    spilled: Option<BufWriter<File>>,
    written: u64,
    /// Why nothing more is recorded, if so.
    full: Option<String>,
    /// Why messages were not read, and how many.
    unread: IndexMap<String, usize>,
    links: Vec<Link>,
    posts: u64,
}

/// A frame as text, and its connection, so that those of others need not be read.
#[derive(Clone)]
struct Kept {
    link: u32,
    text: Arc<str>,
}

/// Who sends, and on whose behalf.
#[derive(Clone, Debug)]
pub struct Sent {
    pub link: u32,
    pub by: String,
    pub post: Option<u64>,
}

impl Recorder {
    /// Frames beyond `budget` bytes go to a temporary file of `most` bytes; there are `frames` of them at most.
    pub fn new(budget: usize, most: usize, frames: usize) -> Self {
        let store = Store {
            began: Instant::now(),
            budget: budget as u64,
            most: most as u64,
            frames_at_most: frames as u64,
            recorded: 0,
            frames: VecDeque::new(),
            bytes: 0,
            spilled: None,
            written: 0,
            full: None,
            unread: IndexMap::new(),
            links: Vec::new(),
            posts: 0,
        };
        Self { store: Arc::new(Mutex::new(store)) }
    }

    /// The number of a new connection.
    pub fn open_link(&self, transport: Transport) -> u32 {
        let mut store = self.lock();
        let link = u32::try_from(store.links.len()).unwrap_or(u32::MAX) + 1;
        store.links.push(Link { link, transport, revision: None, brief: false });
        link
    }

    /// Notes the revision that the conversation on a connection has settled on.
    pub fn settle(&self, link: u32, revision: Revision) {
        if let Some(known) = self.lock().links.iter_mut().find(|known| known.link == link) {
            known.revision = Some(revision);
        }
    }

    /// Notes that a connection is for one request.
    pub fn brief(&self, link: u32) {
        if let Some(known) = self.lock().links.iter_mut().find(|known| known.link == link) {
            known.brief = true;
        }
    }

    pub fn links(&self) -> Vec<Link> {
        self.lock().links.clone()
    }

    /// How many frames there are, which is also the number of the newest.
    pub fn frames_so_far(&self) -> u64 {
        self.lock().recorded
    }

    /// Why nothing more is recorded, if so.
    pub fn full(&self) -> Option<String> {
        self.lock().full.clone()
    }

    /// The gathering ends here, on every connection, whatever was still waited for.
    pub fn cut_short(&self, why: &str) {
        let mut store = self.lock();
        let links: Vec<u32> = store.links.iter().map(|link| link.link).collect();
        for link in links {
            store.keep(Frame { text: Some(why.to_owned()), ..blank(link, Side::Client, FrameKind::CutShort) });
        }
    }

    /// Why messages were not read, and how many.
    pub fn unread(&self) -> IndexMap<String, usize> {
        self.lock().unread.clone()
    }

    /// All frames in order.
    pub fn frames(&self) -> impl Iterator<Item = Arc<Frame>> + use<> {
        self.frames_where(|_, _| true)
    }

    /// Those that are wanted, by their connection and by what can be seen in their text: reading it takes the longest.
    pub fn frames_where<F: Fn(u32, &str) -> bool>(&self, wanted: F) -> impl Iterator<Item = Arc<Frame>> + use<F> {
        let mut store = self.lock();
        let earlier = store.spilled.as_mut().and_then(|file| {
            file.flush().ok()?;
            let mut reader = file.get_ref().try_clone().ok()?;
            reader.rewind().ok()?;
            Some(BufReader::new(reader))
        });
        let later: Vec<Kept> = store.frames.iter().filter(|kept| wanted(kept.link, &kept.text)).cloned().collect();
        let lines = earlier.into_iter().flat_map(BufRead::lines).map_while(Result::ok);
        let earlier = lines.filter_map(|line| Kept::of(&line)).filter(move |kept| wanted(kept.link, &kept.text));
        earlier.chain(later).filter_map(|kept| kept.read())
    }

    /// The frames behind that number, as far as they are in memory.
    pub fn since(&self, seen: u64) -> Vec<Arc<Frame>> {
        let store = self.lock();
        let behind = usize::try_from(store.recorded.saturating_sub(seen)).unwrap_or(usize::MAX);
        let known = store.frames.len().saturating_sub(behind);
        store.frames.range(known..).filter_map(Kept::read).collect()
    }

    /// The number of a new HTTP exchange.
    pub fn next_post(&self) -> u64 {
        let mut store = self.lock();
        store.posts += 1;
        store.posts
    }

    /// A message that the client sends.
    pub fn sent(&self, sent: &Sent, message: &Value, bytes: u64) -> u64 {
        self.push(Frame {
            by: Some(sent.by.clone()),
            message: Some(message),
            bytes,
            post: sent.post,
            ..blank(sent.link, Side::Client, FrameKind::Message)
        })
    }

    /// Bytes that the client sends and that are no message, on purpose.
    pub fn sent_raw(&self, sent: &Sent, text: String, bytes: u64) -> u64 {
        self.push(Frame {
            by: Some(sent.by.clone()),
            text: Some(text),
            bytes,
            post: sent.post,
            ..blank(sent.link, Side::Client, FrameKind::Junk)
        })
    }

    /// A JSON value that the server sent.
    pub fn received(
        &self,
        link: u32,
        post: Option<u64>,
        message: &Value,
        bytes: u64,
        flaws: Vec<String>,
        event: Option<Event>,
    ) -> u64 {
        self.push(Frame {
            message: Some(message),
            bytes,
            flaws,
            post,
            event,
            ..blank(link, Side::Server, FrameKind::Message)
        })
    }

    /// Bytes of the server that are no JSON; `text` is their beginning.
    pub fn received_junk(
        &self,
        link: u32,
        post: Option<u64>,
        text: String,
        bytes: u64,
        why: String,
        event: Option<Event>,
    ) -> u64 {
        let kind =
            if BEYOND_LIMITS.iter().any(|limit| why.starts_with(limit)) { FrameKind::Unread } else { FrameKind::Junk };
        self.push(Frame { text: Some(text), why: Some(why), bytes, post, event, ..blank(link, Side::Server, kind) })
    }

    /// The body of an HTTP response that is no place for messages.
    pub fn received_document(
        &self,
        link: u32,
        post: Option<u64>,
        document: Option<&Value>,
        text: Option<String>,
        bytes: u64,
    ) -> u64 {
        self.push(Frame { message: document, text, bytes, post, ..blank(link, Side::Server, FrameKind::Document) })
    }

    pub fn http_request(&self, sent: &Sent, head: HttpHead) -> u64 {
        self.push(Frame {
            by: Some(sent.by.clone()),
            http: Some(head),
            post: sent.post,
            ..blank(sent.link, Side::Client, FrameKind::HttpRequest)
        })
    }

    pub fn http_response(&self, link: u32, post: u64, head: HttpHead) -> u64 {
        self.push(Frame { http: Some(head), post: Some(post), ..blank(link, Side::Server, FrameKind::HttpResponse) })
    }

    /// Something that happened to a connection and is not traffic.
    pub fn note(&self, link: u32, from: Side, text: String) -> u64 {
        self.push(Frame { text: Some(text), ..blank(link, from, FrameKind::Note) })
    }

    /// What came of listing a node of a walk that is saved under this name.
    pub fn visit(&self, sent: &Sent, save: &str, visit: &Value, bytes: u64) -> u64 {
        self.push(Frame {
            by: Some(sent.by.clone()),
            text: Some(save.to_owned()),
            message: Some(visit),
            bytes,
            ..blank(sent.link, Side::Client, FrameKind::Visit)
        })
    }

    /// The end of one HTTP exchange, or of the process.
    pub fn ended(&self, link: u32, post: Option<u64>, text: String, ended: Ended) -> u64 {
        self.push(Frame { text: Some(text), post, ended: Some(ended), ..blank(link, Side::Server, FrameKind::Note) })
    }

    /// Something that happened to one HTTP exchange: an event without data, a stream that broke off.
    pub fn note_on(&self, link: u32, post: Option<u64>, text: String, event: Option<Event>) -> u64 {
        self.push(Frame { text: Some(text), post, event, ..blank(link, Side::Server, FrameKind::Note) })
    }

    fn push(&self, frame: Frame<&Value>) -> u64 {
        let mut store = self.lock();
        if store.full.is_none() {
            store.keep(frame);
        }
        store.recorded
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn of(line: &str) -> Option<Self> {
        let (link, text) = line.split_once(' ')?;
        Some(Self { link: link.parse().ok()?, text: text.into() })
    }

    fn read(&self) -> Option<Arc<Frame>> {
        serde_json::from_str(&self.text).ok()
    }

    fn cost(&self) -> u64 {
        FRAME_COST + self.text.len() as u64
    }
}

impl Store {
    fn keep(&mut self, mut frame: Frame<&Value>) {
        self.recorded += 1;
        frame.frame = self.recorded;
        frame.at = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        if frame.kind == FrameKind::Unread {
            *self.unread.entry(frame.why.clone().unwrap_or_default()).or_default() += 1;
        }
        let text =
            serde_json::to_string(&frame).unwrap_or_else(|error| unreachable!("it has no keys but texts: {error}"));
        let kept = Kept { link: frame.link, text: text.into() };
        self.bytes += kept.cost();
        self.frames.push_back(kept);
        if self.full.is_some() {
            return;
        }
        if self.recorded >= self.frames_at_most {
            self.full = Some(format!("the record of the run reached {} messages (record_messages)", self.recorded));
        } else if self.bytes > self.budget
            && let Err(error) = self.spill()
        {
            self.full = Some(format!("the record of the run could not be continued: {error}"));
        }
    }

    /// Moves the older half of the frames to the file.
    fn spill(&mut self) -> std::io::Result<()> {
        if self.spilled.is_none() {
            self.spilled = Some(BufWriter::new(tempfile::tempfile()?));
        }
        while self.bytes > self.budget / 2
            && let (Some(kept), Some(file)) = (self.frames.front(), &mut self.spilled)
        {
            writeln!(file, "{} {}", kept.link, kept.text)?;
            self.written += kept.text.len() as u64 + 1;
            self.bytes = self.bytes.saturating_sub(kept.cost());
            self.frames.pop_front();
        }
        self.spilled.as_mut().map_or(Ok(()), Write::flush)?;
        if self.written > self.most {
            self.full = Some(format!("the record of the run reached {} bytes on disk (disk_bytes)", self.most));
        }
        Ok(())
    }
}

fn blank<'v>(link: u32, from: Side, kind: FrameKind) -> Frame<&'v Value> {
    Frame {
        frame: 0,
        at: 0,
        link,
        from,
        kind,
        by: None,
        bytes: 0,
        message: None,
        text: None,
        why: None,
        flaws: Vec::new(),
        http: None,
        post: None,
        event: None,
        ended: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn frames_beyond_the_budget_are_read_back_in_order() {
        let recorder = Recorder::new(1_200, 100_000, 1000);
        for number in 0..50 {
            recorder.received(1, None, &json!({ "id": number }), 100, Vec::new(), None);
        }
        let ids: Vec<_> =
            recorder.frames().map(|frame| frame.message.clone().unwrap()["id"].as_u64().unwrap()).collect();
        assert_eq!(ids, (0..50).collect::<Vec<_>>());
        assert!(recorder.lock().frames.len() < 10, "most of them are in the file");
        assert_eq!(recorder.full(), None);
    }

    #[test]
    fn a_file_that_is_too_long_ends_the_record_and_what_was_waited_for_is_told() {
        let recorder = Recorder::new(6_000, 1_000, 1000);
        recorder.open_link(Transport::Stdio);
        for number in 0..100 {
            recorder.received(1, None, &json!({ "id": number }), 100, Vec::new(), None);
        }
        assert_eq!(recorder.full().as_deref(), Some("the record of the run reached 1000 bytes on disk (disk_bytes)"));
        recorder.cut_short("over");
        let frames: Vec<_> = recorder.frames().collect();
        assert!(frames.len() < 50 && frames.iter().map(|frame| frame.frame).eq(1..=frames.len() as u64));
        assert_eq!(frames.last().map(|frame| frame.kind), Some(FrameKind::CutShort));
    }
}
