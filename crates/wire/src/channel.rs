//! The only place that records traffic. It passes what was received to the session, in the order of arrival.

use std::{mem::take, time::Duration};

use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::{
    Incoming, challenge,
    json::{self, Reading},
    received::Received,
    redirect,
    secrets::{Secrets, leave_out_credentials},
};
use conform_model::evidence::{Ended, Event, Exit, HttpHead, HttpStatus, Reason, Recorder, Sent, Transport};

/// How much is recorded of text that is not a message.
const SHOWN: usize = 4096;
/// Maximum number of items that wait for the session; a server that sends faster is blocked.
const WAITING: usize = 64;

/// The HTTP exchange of some bytes, and whether the session gets its number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carrier {
    pub post: Option<u64>,
    pub told: bool,
}

impl Carrier {
    fn shown(self) -> Option<u64> {
        self.post.filter(|_| self.told)
    }
}

#[derive(Clone)]
pub struct Channel {
    pub link: u32,
    recorder: Recorder,
    secrets: Secrets,
    incoming: mpsc::Sender<Incoming>,
    closing: watch::Receiver<bool>,
    /// Maximum number of values in one message.
    values: usize,
    /// Tokens and codes that were issued in this run. Records have their placeholders.
    pub received: Received,
}

impl Channel {
    /// The channel, the receiver for the session, and the switch that ends all waiting for the session.
    pub fn open(
        transport: Transport,
        recorder: &Recorder,
        secrets: Secrets,
        values: usize,
    ) -> (Self, mpsc::Receiver<Incoming>, watch::Sender<bool>) {
        let (incoming, receiver) = mpsc::channel(WAITING);
        let (close, closing) = watch::channel(false);
        let link = recorder.open_link(transport);
        (
            Self {
                link,
                recorder: recorder.clone(),
                secrets,
                incoming,
                closing,
                values,
                received: Received::default(),
            },
            receiver,
            close,
        )
    }

    /// Whether the session is closing.
    pub fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// Whether the last request over HTTP reached a server, on any connection.
    pub fn was_answered(&self) -> bool {
        self.recorder.was_answered()
    }

    /// The number of responses with status 503, on all connections.
    pub fn unavailable(&self) -> usize {
        self.recorder.unavailable()
    }

    /// Records how long the process took to start.
    pub fn started(&self, took: Duration) {
        self.recorder.started(took);
    }

    /// A process did not exit after its stdin was closed.
    pub fn outlived_stdin(&self) {
        self.recorder.outlived_stdin();
    }

    /// Whether that happened on any connection so far.
    pub fn outlives_stdin(&self) -> bool {
        self.recorder.outlives_stdin()
    }

    /// The slowest start of a process on any connection so far.
    pub fn slowest_start(&self) -> Duration {
        self.recorder.slowest_start()
    }

    pub fn next_post(&self) -> u64 {
        self.recorder.next_post()
    }

    pub fn sent(&self, by: &str, post: Option<u64>, mut message: Value, bytes: usize) -> u64 {
        self.secrets.hide_in(&mut message);
        self.recorder.sent(&self.sender(by, post), &message, bytes as u64)
    }

    /// Records bytes that are sent unchanged, in this many pieces: as a message if they are valid JSON without flaws.
    pub fn sent_raw(&self, by: &str, post: Option<u64>, bytes: &[u8], pieces: usize) -> u64 {
        match json::read(bytes, usize::MAX) {
            Reading::Message { mut message, flaws } if flaws.is_empty() => {
                let text = (message.to_string().as_bytes() != bytes).then(|| self.beginning(bytes));
                let why = (pieces > 1).then(|| format!("written in {pieces} pieces"));
                self.secrets.hide_in(&mut message);
                self.recorder.sent_as(&self.sender(by, post), &message, bytes.len() as u64, text, why)
            }
            _ => self.recorder.sent_raw(&self.sender(by, post), self.beginning(bytes), bytes.len() as u64),
        }
    }

    pub fn http_request(&self, by: &str, post: u64, mut head: HttpHead) -> u64 {
        head.url = head.url.map(|url| self.secrets.hide(url));
        self.hide_in_headers(&mut head);
        self.recorder.http_request(&self.sender(by, Some(post)), head)
    }

    /// Returns the frame.
    pub async fn http_response(&self, carrier: Carrier, mut head: HttpHead) -> Option<u64> {
        let (post, status) = carrier.post.zip(head.status)?;
        self.hide_in_headers(&mut head);
        let mut headers = indexmap::IndexMap::<String, String>::new();
        for (name, value) in &head.headers {
            headers
                .entry(name.clone())
                .and_modify(|joined| {
                    joined.push_str(", ");
                    joined.push_str(value);
                })
                .or_insert_with(|| value.clone());
        }
        let frame = self.recorder.http_response(self.link, post, head);
        if carrier.told {
            let challenges = headers.get("www-authenticate").map(|asked| challenge::parse(asked)).unwrap_or_default();
            let redirect =
                headers.get("location").filter(|_| (300..400).contains(&status)).map(|to| redirect::parse(to));
            let status = HttpStatus { status, headers, challenges, redirect };
            self.hand_on(Incoming::Head { frame, post, status }).await;
        }
        Some(frame)
    }

    /// Records a message, or junk if the bytes are not valid JSON; returns whether they were a message.
    pub async fn received(&self, carrier: Carrier, bytes: &[u8], more_flaws: &[&str], event: Option<Event>) -> bool {
        let event = event.map(|event| self.hidden(event));
        match json::read(bytes, self.values) {
            Reading::Message { mut message, mut flaws } => {
                self.secrets.hide_in(&mut message);
                flaws.extend(more_flaws.iter().map(|&flaw| flaw.to_owned()));
                let length = bytes.len() as u64;
                let frame = self.recorder.received(self.link, carrier.post, &message, length, flaws, event);
                self.hand_on(Incoming::Message { frame, message, post: carrier.shown() }).await;
                true
            }
            Reading::Junk { why } => {
                self.junk(carrier, bytes, bytes.len() as u64, why, event).await;
                false
            }
        }
    }

    /// Records bytes that are not a message; `length` includes bytes that were not kept.
    pub async fn junk(&self, carrier: Carrier, bytes: &[u8], length: u64, why: Reason, event: Option<Event>) {
        let (text, why) = (self.beginning(bytes), self.hide_reason(why));
        let event = event.map(|event| self.hidden(event));
        let frame = self.recorder.received_junk(self.link, carrier.post, text, length, why.clone(), event);
        let id = why.is_limit().then(|| json::id_of(bytes)).flatten();
        self.hand_on(Incoming::Junk { frame, post: carrier.shown(), why, id }).await;
    }

    /// Records a body that cannot contain a message. Credentials in it are removed.
    pub async fn document(&self, carrier: Carrier, bytes: &[u8]) {
        let mut document = self.read(bytes);
        if let Some(document) = &mut document {
            self.secrets.hide_in(document);
            self.received.keep_in_document(document);
            leave_out_credentials(document);
        }
        let text = document.is_none().then(|| self.beginning(bytes));
        let length = bytes.len() as u64;
        let frame = self.recorder.received_document(self.link, carrier.post, document.as_ref(), text, length);
        self.hand_on(Incoming::Document { frame, post: carrier.shown(), document }).await;
    }

    /// The JSON value in the bytes, if they are valid.
    pub fn read(&self, bytes: &[u8]) -> Option<Value> {
        match json::read(bytes, self.values) {
            Reading::Message { message, .. } => Some(message),
            Reading::Junk { .. } => None,
        }
    }

    /// Records an event of the connection or of one exchange that is not traffic.
    pub fn note(&self, carrier: Carrier, text: String, event: Option<Event>) {
        let event = event.map(|event| self.hidden(event));
        self.recorder.note_on(self.link, carrier.post, self.secrets.hide(text), event);
    }

    /// Records how an exchange ended.
    pub fn ended(&self, carrier: Carrier, text: String, ended: Ended) {
        self.recorder.ended(self.link, carrier.post, self.secrets.hide(text), ended, None);
    }

    /// Records how the process ended.
    pub fn exited(&self, text: String, ended: Ended, exit: Exit) {
        self.recorder.ended(self.link, None, self.secrets.hide(text), ended, Some(exit));
    }

    /// Records that the connection is given up. Requests open for less than `patience` might still have got a response.
    pub fn gave_up(&self, why: &str, patience: Duration) {
        self.recorder.gave_up(self.link, why, patience);
    }

    /// Waits while the session is busy, but not if it is closing the connection or gone.
    pub async fn hand_on(&self, incoming: Incoming) {
        let Err(mpsc::error::TrySendError::Full(incoming)) = self.incoming.try_send(incoming) else { return };
        let mut closing = self.closing.clone();
        tokio::select! {
            _ = self.incoming.send(incoming) => {}
            _ = closing.wait_for(|closing| *closing) => {}
        }
    }

    pub fn hide(&self, text: String) -> String {
        self.secrets.hide(text)
    }

    pub fn hide_reason(&self, reason: Reason) -> Reason {
        Reason { words: self.secrets.hide(reason.words), ..reason }
    }

    fn sender(&self, by: &str, post: Option<u64>) -> Sent {
        Sent { link: self.link, by: by.to_owned(), post }
    }

    fn beginning(&self, bytes: &[u8]) -> String {
        self.shown(bytes, SHOWN)
    }

    /// The beginning of bytes that may already be truncated.
    pub fn shown(&self, bytes: &[u8], most: usize) -> String {
        self.secrets.hide_cut(String::from_utf8_lossy(&bytes[..bytes.len().min(most)]).into_owned())
    }

    fn hide_in_headers(&self, head: &mut HttpHead) {
        for (name, value) in &mut head.headers {
            *name = self.secrets.hide(take(name));
            *value = self.secrets.hide(take(value));
        }
    }

    fn hidden(&self, event: Event) -> Event {
        let hide = |text: Option<String>| text.map(|text| self.secrets.hide(text));
        Event { id: hide(event.id), name: hide(event.name), endpoint: hide(event.endpoint), retry: event.retry }
    }
}
