//! Records a conversation between a client and a server that passes through this program, and changes nothing of it.

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
    evidence::{Ended, Event, Reason, Recorder, Sent, Side},
    wire::{
        Secrets,
        json::{Reading, read},
    },
};

/// So much is shown of what is not JSON.
const BEGINNING: usize = 1024;
/// Larger messages pass, and are not read.
const LONGEST_MESSAGE: usize = 16 << 20;
/// As are those of more values.
const MOST_VALUES: usize = 1_000_000;
/// Who sent what the client sends, where a suite would be named.
const CLIENT: &str = "client";

/// One connection: a process that a client started, or all that it sends over HTTP.
#[derive(Clone)]
pub struct Tap {
    recorder: Recorder,
    link: u32,
    settling: Arc<Mutex<Settling>>,
    /// Kept out of the record wherever they are repeated.
    secrets: Secrets,
    /// Credentials that are not known are kept out as well, by the names of what they stand in.
    hides_credentials: bool,
}

impl Tap {
    pub fn new(recorder: Recorder, link: u32) -> Self {
        Self { recorder, link, settling: Arc::default(), secrets: Secrets::default(), hides_credentials: false }
    }

    /// Keeps these out of the record.
    #[must_use]
    pub fn hiding(&self, secrets: Secrets) -> Self {
        Self { secrets, ..self.clone() }
    }

    /// Keeps these out of the record, and all credentials.
    #[must_use]
    pub fn hiding_credentials(&self, secrets: Secrets) -> Self {
        Self { secrets, hides_credentials: true, ..self.clone() }
    }

    pub fn link(&self) -> u32 {
        self.link
    }

    /// Something that happened and is not a message.
    pub fn note(&self, from: Side, text: impl Into<String>) {
        self.recorder.note(self.link, from, text.into());
    }

    /// The process ended.
    pub fn ended(&self, text: impl Into<String>, ended: Ended) {
        self.recorder.ended(self.link, None, text.into(), ended);
    }

    /// Bytes that one side sent as one message.
    fn passed(&self, from: Side, post: Option<u64>, bytes: &[u8], more_flaws: &[&str], event: Option<Event>) {
        let length = bytes.len() as u64;
        match read(bytes, MOST_VALUES) {
            Reading::Message { mut message, mut flaws } => {
                self.secrets.hide_in(&mut message);
                flaws.extend(more_flaws.iter().map(ToString::to_string));
                self.settle(from, &message);
                match from {
                    Side::Client => _ = self.recorder.passed(&self.sender(post), &message, length, flaws),
                    Side::Server | Side::Gateway => {
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
            Side::Server | Side::Gateway => _ = self.recorder.received_junk(self.link, post, text, length, why, event),
        }
    }

    fn settle(&self, from: Side, message: &Value) {
        let mut settling = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(revision) = settling.after(from, message) {
            self.recorder.settle(self.link, revision);
        }
    }

    fn sender(&self, post: Option<u64>) -> Sent {
        Sent { link: self.link, by: CLIENT.to_owned(), post }
    }
}
