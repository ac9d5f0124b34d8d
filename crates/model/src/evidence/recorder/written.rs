//! Records messages, HTTP exchanges and events.

use serde::Serialize;
use serde_json::Value;

use super::{Recorder, Sent};
use crate::evidence::{Ended, Event, Exit, Frame, FrameKind, HttpHead, Reason, Side};

impl Recorder {
    /// The number of a new HTTP exchange.
    pub fn next_post(&self) -> u64 {
        let mut book = self.lock();
        book.posts += 1;
        book.posts
    }

    /// A message that the client sends.
    pub fn sent(&self, sent: &Sent, message: &Value, bytes: u64) -> u64 {
        self.push(Frame {
            by: Some(sent.by.clone()),
            message: Some(message),
            bytes,
            post: sent.post,
            ..Frame::blank(sent.link, Side::Client, FrameKind::Message)
        })
    }

    /// A message that the client sends as a suite wrote it: literally in `text`, and perhaps in pieces.
    pub fn sent_as(&self, sent: &Sent, message: &Value, bytes: u64, text: Option<String>, why: Option<String>) -> u64 {
        self.push(Frame {
            by: Some(sent.by.clone()),
            message: Some(message),
            text,
            why,
            bytes,
            post: sent.post,
            ..Frame::blank(sent.link, Side::Client, FrameKind::Message)
        })
    }

    /// Bytes that the client sends and that deliberately are not a message.
    pub fn sent_raw(&self, sent: &Sent, text: String, bytes: u64) -> u64 {
        self.push(Frame {
            by: Some(sent.by.clone()),
            text: Some(text),
            bytes,
            post: sent.post,
            ..Frame::blank(sent.link, Side::Client, FrameKind::Junk)
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
            ..Frame::blank(link, Side::Server, FrameKind::Message)
        })
    }

    /// A JSON value of a client, with defects in its bytes.
    pub fn passed(&self, sent: &Sent, message: &Value, bytes: u64, flaws: Vec<String>) -> u64 {
        self.push(Frame {
            by: Some(sent.by.clone()),
            message: Some(message),
            bytes,
            flaws,
            post: sent.post,
            ..Frame::blank(sent.link, Side::Client, FrameKind::Message)
        })
    }

    /// Bytes of a client that are not JSON; `text` is their beginning.
    pub fn passed_junk(&self, sent: &Sent, text: String, bytes: u64, why: Reason) -> u64 {
        let kind = if why.is_limit() { FrameKind::Unread } else { FrameKind::Junk };
        let (by, cause, why) = (Some(sent.by.clone()), Some(why.cause), Some(why.words));
        let (text, post) = (Some(text), sent.post);
        self.push(Frame { by, bytes, text, why, cause, post, ..Frame::blank(sent.link, Side::Client, kind) })
    }

    /// Bytes of the server that are not JSON; `text` is their beginning.
    pub fn received_junk(
        &self,
        link: u32,
        post: Option<u64>,
        text: String,
        bytes: u64,
        why: Reason,
        event: Option<Event>,
    ) -> u64 {
        let kind = if why.is_limit() { FrameKind::Unread } else { FrameKind::Junk };
        let (cause, why) = (Some(why.cause), Some(why.words));
        self.push(Frame { text: Some(text), why, cause, bytes, post, event, ..Frame::blank(link, Side::Server, kind) })
    }

    /// The body of an HTTP response that cannot be a message.
    pub fn received_document(
        &self,
        link: u32,
        post: Option<u64>,
        document: Option<&Value>,
        text: Option<String>,
        bytes: u64,
    ) -> u64 {
        self.push(Frame {
            message: document,
            text,
            bytes,
            post,
            ..Frame::blank(link, Side::Server, FrameKind::Document)
        })
    }

    pub fn http_request(&self, sent: &Sent, head: HttpHead) -> u64 {
        self.push(Frame {
            by: Some(sent.by.clone()),
            http: Some(head),
            post: sent.post,
            ..Frame::blank(sent.link, Side::Client, FrameKind::HttpRequest)
        })
    }

    pub fn http_response(&self, link: u32, post: u64, head: HttpHead) -> u64 {
        let mut book = self.lock();
        book.answered = true;
        book.unavailable += usize::from(head.status == Some(503));
        drop(book);
        self.push(Frame {
            http: Some(head),
            post: Some(post),
            ..Frame::blank(link, Side::Server, FrameKind::HttpResponse)
        })
    }

    /// An event on a connection other than traffic.
    pub fn note(&self, link: u32, from: Side, text: String) -> u64 {
        self.push(Frame { text: Some(text), ..Frame::blank(link, from, FrameKind::Note) })
    }

    /// The result of listing a node of the walk that is saved under this name.
    pub fn visit(&self, sent: &Sent, save: &str, visit: &Value, bytes: u64) -> u64 {
        self.push(Frame {
            by: Some(sent.by.clone()),
            text: Some(save.to_owned()),
            message: Some(visit),
            bytes,
            ..Frame::blank(sent.link, Side::Client, FrameKind::Visit)
        })
    }

    /// An item that `generate` judged, or a finding needs, even if the record is full: the verdicts come from these.
    pub fn generated(&self, name: &str, item: &impl Serialize) {
        let item = serde_json::to_value(item).unwrap_or_else(|error| unreachable!("all keys are strings: {error}"));
        let (text, message) = (Some(name.to_owned()), Some(&item));
        self.lock().store.keep(Frame { message, text, ..Frame::blank(0, Side::Client, FrameKind::Generated) });
    }

    /// The end of one HTTP exchange, or of the process with its exit.
    pub fn ended(&self, link: u32, post: Option<u64>, text: String, ended: Ended, exit: Option<Exit>) -> u64 {
        let mut book = self.lock();
        book.answered &= ended != Ended::Unsent;
        if post.is_none() {
            book.change(link, |known| known.ended = Some(ended));
        }
        drop(book);
        let blank = Frame::blank(link, Side::Server, FrameKind::Note);
        self.push(Frame { text: Some(text), post, ended: Some(ended), exit, ..blank })
    }

    /// An event in one HTTP exchange: an SSE event without data, or an interrupted stream.
    pub fn note_on(&self, link: u32, post: Option<u64>, text: String, event: Option<Event>) -> u64 {
        self.push(Frame { text: Some(text), post, event, ..Frame::blank(link, Side::Server, FrameKind::Note) })
    }

    fn push(&self, frame: Frame<&Value>) -> u64 {
        let mut book = self.lock();
        if book.store.full.is_none() {
            book.store.keep(frame);
        }
        book.store.recorded
    }
}
