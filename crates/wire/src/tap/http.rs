//! Records HTTP traffic, exchange by exchange.

use std::mem::take;

use hyper::{http::request, http::response};

use super::{LONGEST_MESSAGE, Tap};
use crate::event_stream::{Block, EventStream};
use conform_model::evidence::{Cause, Ended, Event, HttpHead, Reason, Side};

/// One HTTP request and its response, as far as they were received.
pub struct Exchange {
    tap: Tap,
    post: u64,
    /// The frame of the head of the request.
    frame: u64,
    reading: Body,
    endpoint: Option<String>,
}

#[derive(Default)]
enum Body {
    /// There is no response yet.
    None,
    Whole {
        bytes: Vec<u8>,
        is_json: bool,
    },
    Events(Box<EventStream>),
    /// Everything was recorded, including the end.
    #[default]
    Over,
}

impl Exchange {
    /// The client sent this request.
    pub fn begin(tap: Tap, head: &request::Parts, body: &[u8]) -> Self {
        let post = tap.recorder.next_post();
        let sent = tap.sender(Some(post));
        let shown = HttpHead {
            method: Some(head.method.to_string()),
            url: Some(tap.shown_url(&head.uri)),
            status: None,
            headers: tap.shown_headers(&head.headers),
        };
        let frame = tap.recorder.http_request(&sent, shown);
        if !body.is_empty() {
            tap.passed(Side::Client, Some(post), body, &[], None);
        }
        Self { tap, post, frame, reading: Body::None, endpoint: None }
    }

    /// The number of the frame of the head of the request.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// The server responds.
    pub fn respond(&mut self, head: &response::Parts) {
        let shown = HttpHead {
            method: None,
            url: None,
            status: Some(head.status.as_u16()),
            headers: self.tap.shown_headers(&head.headers),
        };
        self.reading = match shown.media_type().as_deref() {
            Some("text/event-stream") => Body::Events(Box::new(EventStream::new(LONGEST_MESSAGE))),
            media => Body::Whole { bytes: Vec::new(), is_json: media == Some("application/json") },
        };
        self.tap.recorder.http_response(self.tap.link, self.post, shown);
    }

    /// A part of the body of the response.
    pub fn feed(&mut self, chunk: &[u8]) {
        match &mut self.reading {
            Body::None | Body::Over => {}
            Body::Whole { bytes, .. } => {
                let room = LONGEST_MESSAGE.saturating_sub(bytes.len());
                bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
            }
            Body::Events(stream) => {
                for block in stream.feed(chunk) {
                    self.endpoint = event(&self.tap, self.post, block).or(self.endpoint.take());
                }
            }
        }
    }

    /// The client's URL for messages over HTTP+SSE, once the server has sent it.
    pub fn endpoint(&self) -> Option<&str> {
        self.endpoint.as_deref()
    }

    /// The exchange has ended.
    pub fn end(&mut self, ended: Ended) {
        match take(&mut self.reading) {
            Body::Over => return,
            Body::Whole { bytes, is_json: true } if !bytes.is_empty() => {
                self.tap.passed(Side::Server, Some(self.post), &bytes, &[], None);
            }
            Body::Whole { bytes, .. } if !bytes.is_empty() => {
                let document = self.tap.shown_document(serde_json::from_slice(&bytes).ok());
                let text = document.is_none().then(|| self.tap.shown_text(&bytes));
                let length = bytes.len() as u64;
                self.tap.recorder.received_document(self.tap.link, Some(self.post), document.as_ref(), text, length);
            }
            Body::None | Body::Whole { .. } => {}
            Body::Events(stream) => {
                if let Some(Block { event, data, .. }) = stream.finish() {
                    let (data, post) = (data.unwrap_or_default(), Some(self.post));
                    let why = Reason::new(Cause::CutOff, "the stream ended within this event");
                    self.tap.junk(Side::Server, post, &data, data.len() as u64, why, Some(event));
                }
            }
        }
        let text = match ended {
            Ended::Complete => "the response ended",
            Ended::Unsent => "the server could not be reached",
            Ended::Dropped => "the client closed the connection before the response ended",
            _ => "the server closed the connection before the response ended",
        };
        self.tap.recorder.ended(self.tap.link, Some(self.post), text.to_owned(), ended, None);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.end(Ended::Dropped);
    }
}

/// Returns the endpoint for messages, if the event contains it.
fn event(tap: &Tap, post: u64, block: Block) -> Option<String> {
    let Block { event, data, too_long } = block;
    let post = Some(post);
    match data {
        Some(data) if too_long => {
            tap.junk(Side::Server, post, &data, data.len() as u64, Reason::too_long(LONGEST_MESSAGE), Some(event));
        }
        Some(data) if event.name.as_deref() == Some("endpoint") => {
            let endpoint = String::from_utf8_lossy(&data).into_owned();
            let event = Event { endpoint: Some(endpoint.clone()), ..event };
            tap.recorder.note_on(tap.link, post, format!("the endpoint for messages: {endpoint}"), Some(event));
            return Some(endpoint);
        }
        Some(data) if !data.is_empty() => tap.passed(Side::Server, post, &data, &[], Some(event)),
        _ => _ = tap.recorder.note_on(tap.link, post, "an event without data".to_owned(), Some(event)),
    }
    None
}
