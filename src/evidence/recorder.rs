//! Keeps every frame of a run, within a memory budget; the oldest ones beyond it wait in a temporary file.

use std::{
    collections::VecDeque,
    fs::File,
    io::{BufRead, BufReader, BufWriter, Seek, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use serde_json::Value;

use super::{Ended, Event, Frame, FrameKind, HttpHead, Link, Side, Transport};
use crate::revision::Revision;

/// What a frame costs besides its bytes, roughly.
const FRAME_COST: u64 = 300;

/// A shared handle: the wire writes frames through it while the run goes on.
#[derive(Clone)]
pub struct Recorder {
    store: Arc<Mutex<Store>>,
}

struct Store {
    began: Instant,
    budget: u64,
    recorded: u64,
    frames: VecDeque<Arc<Frame>>,
    bytes: u64,
    spilled: Option<BufWriter<File>>,
    /// Why frames beyond the budget were lost, if they were.
    lost: Option<String>,
    links: Vec<Link>,
    posts: u64,
}

/// Who sends, and on whose behalf.
#[derive(Clone, Debug)]
pub struct Sent {
    pub link: u32,
    pub by: String,
    pub post: Option<u64>,
}

impl Recorder {
    /// Frames beyond `budget` bytes go to a temporary file.
    pub fn new(budget: usize) -> Self {
        let store = Store {
            began: Instant::now(),
            budget: budget as u64,
            recorded: 0,
            frames: VecDeque::new(),
            bytes: 0,
            spilled: None,
            lost: None,
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

    /// Why frames are missing from the record, if any are.
    pub fn lost(&self) -> Option<String> {
        self.lock().lost.clone()
    }

    /// All frames in order, read back from the file as far as they are there.
    pub fn frames(&self) -> impl Iterator<Item = Arc<Frame>> + use<> {
        let mut store = self.lock();
        let earlier = store.spilled.as_mut().and_then(|file| {
            file.flush().ok()?;
            let mut reader = file.get_ref().try_clone().ok()?;
            reader.rewind().ok()?;
            Some(BufReader::new(reader))
        });
        let later = store.frames.clone();
        let lines = earlier.into_iter().flat_map(BufRead::lines).map_while(Result::ok);
        lines.filter_map(|line| serde_json::from_str(&line).ok().map(Arc::new)).chain(later)
    }

    /// The number of a new HTTP exchange.
    pub fn next_post(&self) -> u64 {
        let mut store = self.lock();
        store.posts += 1;
        store.posts
    }

    /// A message that the client sends.
    pub fn sent(&self, sent: &Sent, message: Value, bytes: u64) -> u64 {
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
        message: Value,
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
        self.push(Frame {
            text: Some(text),
            why: Some(why),
            bytes,
            post,
            event,
            ..blank(link, Side::Server, FrameKind::Junk)
        })
    }

    /// The body of an HTTP response that is no place for messages.
    pub fn received_document(
        &self,
        link: u32,
        post: Option<u64>,
        document: Option<Value>,
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

    /// The end of one HTTP exchange, or of the process.
    pub fn ended(&self, link: u32, post: Option<u64>, text: String, ended: Ended) -> u64 {
        self.push(Frame { text: Some(text), post, ended: Some(ended), ..blank(link, Side::Server, FrameKind::Note) })
    }

    /// Something that happened to one HTTP exchange: an event without data, a stream that broke off.
    pub fn note_on(&self, link: u32, post: Option<u64>, text: String, event: Option<Event>) -> u64 {
        self.push(Frame { text: Some(text), post, event, ..blank(link, Side::Server, FrameKind::Note) })
    }

    fn push(&self, mut frame: Frame) -> u64 {
        let mut store = self.lock();
        store.recorded += 1;
        frame.frame = store.recorded;
        frame.at = u64::try_from(store.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        store.bytes += frame.bytes + FRAME_COST;
        store.frames.push_back(Arc::new(frame));
        if store.bytes > store.budget {
            store.spill();
        }
        store.recorded
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Moves the older half of the frames to the file. Where that fails they are lost, and the record says so.
    fn spill(&mut self) {
        while self.bytes > self.budget / 2 {
            let Some(frame) = self.frames.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(frame.bytes + FRAME_COST);
            if let Err(error) = self.write_out(&frame) {
                self.lost.get_or_insert(format!("frames of this run were lost: {error}"));
            }
        }
    }

    fn write_out(&mut self, frame: &Frame) -> std::io::Result<()> {
        if self.spilled.is_none() {
            self.spilled = Some(BufWriter::new(tempfile::tempfile()?));
        }
        if let Some(file) = &mut self.spilled {
            serde_json::to_writer(&mut *file, frame)?;
            file.write_all(b"\n")?;
        }
        Ok(())
    }
}

fn blank(link: u32, from: Side, kind: FrameKind) -> Frame {
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
        let recorder = Recorder::new(2_000);
        for number in 0..50 {
            recorder.received(1, None, json!({ "id": number }), 100, Vec::new(), None);
        }
        let ids: Vec<_> =
            recorder.frames().map(|frame| frame.message.clone().unwrap()["id"].as_u64().unwrap()).collect();
        assert_eq!(ids, (0..50).collect::<Vec<_>>());
        assert!(recorder.lock().frames.len() < 10, "most of them are in the file");
        assert_eq!(recorder.lost(), None);
    }
}
