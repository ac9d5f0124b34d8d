//! Records a conversation between a client and a server through this program, without changing it.

mod body;
mod http;
mod lines;
mod secrecy;
mod settling;

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

pub use body::TappedBody;
pub use http::Exchange;
pub use lines::LineTap;
pub use secrecy::is_credential;
use settling::Settling;

use crate::{
    Secrets,
    json::{Reading, read},
};
use conform_model::evidence::{Ended, Event, Exit, Reason, Recorder, Sent, Side};

/// How much is shown of text that is not JSON.
const BEGINNING: usize = 1024;
/// Larger messages are forwarded but not parsed, ...
const LONGEST_MESSAGE: usize = 16 << 20;
/// ... and so are those with more values.
const MOST_VALUES: usize = 1_000_000;
/// The sender of the client's messages, where other records name a suite.
const CLIENT: &str = "client";

/// One connection: a process that a client started, or everything that it sends over HTTP.
#[derive(Clone)]
pub struct Tap {
    recorder: Recorder,
    link: u32,
    settling: Arc<Mutex<Settling>>,
    /// Values that are removed from the record wherever they occur.
    secrets: Secrets,
    /// Unknown credentials are removed as well, by the names of their fields.
    hides_credentials: bool,
    /// Nothing on it belongs to a revision, so only the rules of its own scenario see it.
    unsettled: bool,
}

impl Tap {
    pub fn new(recorder: Recorder, link: u32) -> Self {
        Self {
            recorder,
            link,
            settling: Arc::default(),
            secrets: Secrets::default(),
            hides_credentials: false,
            unsettled: false,
        }
    }

    /// The same for traffic that no handshake assigns to a revision.
    #[must_use]
    pub fn unsettled(&self) -> Self {
        Self { unsettled: true, ..self.clone() }
    }

    /// Removes these values from the record.
    #[must_use]
    pub fn hiding(&self, secrets: Secrets) -> Self {
        Self { secrets, ..self.clone() }
    }

    /// Removes these values from the record, and all credentials.
    #[must_use]
    pub fn hiding_credentials(&self, secrets: Secrets) -> Self {
        Self { secrets, hides_credentials: true, ..self.clone() }
    }

    pub fn link(&self) -> u32 {
        self.link
    }

    /// Records an event that is not a message.
    pub fn note(&self, from: Side, text: impl Into<String>) {
        self.recorder.note(self.link, from, text.into());
    }

    /// The process exited.
    pub fn ended(&self, text: impl Into<String>, ended: Ended, exit: Option<Exit>) {
        self.recorder.ended(self.link, None, text.into(), ended, exit);
    }

    /// Records bytes that one side sent as one message.
    fn passed(&self, from: Side, post: Option<u64>, bytes: &[u8], more_flaws: &[&str], event: Option<Event>) {
        let length = bytes.len() as u64;
        match read(bytes, MOST_VALUES) {
            Reading::Message { mut message, mut flaws } => {
                self.secrets.hide_in(&mut message);
                flaws.extend(more_flaws.iter().map(ToString::to_string));
                self.settle(from, &message);
                match from {
                    Side::Client => _ = self.recorder.passed(&self.sender(post), &message, length, flaws),
                    _ => {
                        _ = self.recorder.received(self.link, post, &message, length, flaws, event);
                    }
                }
            }
            Reading::Junk { why } => self.junk(from, post, bytes, length, why, event),
        }
    }

    fn junk(&self, from: Side, post: Option<u64>, bytes: &[u8], length: u64, why: Reason, event: Option<Event>) {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(BEGINNING)]).into_owned();
        let text = self.secrets.hide_cut(text);
        match from {
            Side::Client => _ = self.recorder.passed_junk(&self.sender(post), text, length, why),
            _ => _ = self.recorder.received_junk(self.link, post, text, length, why, event),
        }
    }

    fn settle(&self, from: Side, message: &Value) {
        let mut settling = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(revision) = settling.after(from, message).filter(|_| !self.unsettled) {
            self.recorder.settle(self.link, revision);
        }
    }

    fn sender(&self, post: Option<u64>) -> Sent {
        Sent { link: self.link, by: CLIENT.to_owned(), post }
    }
}
