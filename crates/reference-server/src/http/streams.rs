//! The event streams of one legacy session: numbered events, so that a client can resume a stream.
//!
//! An event id consists of the number of the stream and the number of the event in it. Sent events are kept, within
//! limits, so that a client that lost its connection can request the events after the last one it received.

use std::collections::VecDeque;

use hyper::body::Bytes;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::{faults::Streaming, http::body::event};

/// Text that identifies a progress notification, a message that is not a response, and a request to a model or the
/// user.
const PROGRESS: &[u8] = b"\"notifications/progress\"";
const METHOD: &[u8] = b"\"method\":";
const NOTIFICATION: &[u8] = b"\"method\":\"notifications/";
const MODEL: &[u8] = b"\"sampling/createMessage\"";
const USER: &[u8] = b"\"elicitation/create\"";

/// The end of event ids in streams that break: these characters are valid in a header as they are.
const UNENCODED: &str = "+%2B/=";
/// When to reconnect to a stream that ends after each event.
const RETRY: &[u8] = b"retry: 1200\n";

const EVENTS_KEPT: usize = 256;
const STREAMS_KEPT: usize = 32;
/// Events that a client has not received yet; a client that is slower is disconnected, and can resume.
pub const EVENTS_AHEAD: usize = 512;

#[derive(Default)]
pub struct Streams {
    kept: VecDeque<Stream>,
    opened: u64,
    /// Messages for a stream that is not open yet.
    unsent: VecDeque<Vec<u8>>,
    fault: Option<Streaming>,
}

struct Stream {
    number: u64,
    /// Opened by GET, for messages without a request.
    general: bool,
    events: VecDeque<(u64, Bytes)>,
    said: u64,
    finished: bool,
    live: Option<Sender<Bytes>>,
    /// Whether events are numbered without the number of the stream.
    renumbered: bool,
    /// Its work was aborted.
    aborted: bool,
    /// Each connection to it ends after one event.
    breaks: bool,
}

impl Streams {
    pub fn new(fault: Option<Streaming>) -> Self {
        Self { fault, ..Self::default() }
    }

    /// Opens a stream; `primed` sends an event id first, with which the client can resume.
    pub fn open(&mut self, general: bool, primed: bool) -> (u64, Receiver<Bytes>) {
        self.opened += 1;
        let (live, events) = channel(EVENTS_AHEAD);
        let number = self.opened;
        let past = VecDeque::new();
        let renumbered = self.fault == Some(Streaming::Renumbers);
        let live = Some(live);
        let (aborted, finished) = (false, false);
        let breaks = self.fault == Some(Streaming::Breaks) && !general;
        let mut stream = Stream { number, general, events: past, said: 0, finished, live, renumbered, aborted, breaks };
        if primed && self.fault != Some(Streaming::Unprimed) {
            stream.prime();
        }
        let drops = if general { Streaming::DropsGet } else { Streaming::Drops };
        let closes = general && self.fault == Some(Streaming::ClosesGet);
        if self.fault == Some(drops) || closes {
            stream.live = None;
        }
        if general {
            self.unsent.drain(..).for_each(|data| stream.say(&data));
        }
        if self.kept.len() >= STREAMS_KEPT {
            // Streams that are still open are more important than those that could only be resumed.
            let over = self.kept.iter().position(|stream| stream.finished).unwrap_or(0);
            self.kept.remove(over);
        }
        self.kept.push_back(stream);
        (number, events)
    }

    pub fn say(&mut self, number: u64, data: &[u8]) {
        let holds = |wanted: &[u8]| data.windows(wanted.len()).any(|part| part == wanted);
        let progress = holds(PROGRESS);
        let strays = match self.fault {
            Some(Streaming::AnswersOnGet) => !holds(METHOD),
            Some(Streaming::ProgressOnGet) => progress,
            Some(Streaming::AsksOnGet) => holds(MODEL) || holds(USER),
            _ => false,
        };
        if strays && self.kept.iter().any(|stream| stream.general && stream.is_live()) {
            return self.say_generally(data.to_vec());
        }
        let crossed = |stream: &&Stream| stream.number != number && !stream.general && !stream.finished;
        let number = match self.kept.iter().find(crossed) {
            Some(other) if progress && self.fault == Some(Streaming::Crosses) => other.number,
            _ => number,
        };
        let broadcasts = self.fault == Some(Streaming::Broadcasts) && holds(NOTIFICATION);
        let unnamed = self.fault == Some(Streaming::Unnamed);
        if let Some(stream) = self.find(number).filter(|stream| !stream.aborted) {
            if unnamed {
                stream.send([data, b"\n\n"].concat().into());
            } else {
                stream.say(data);
            }
        }
        if broadcasts && self.kept.iter().any(|stream| stream.general && stream.is_live()) {
            self.say_generally(data.to_vec());
        }
    }

    /// Sends a message without a request, on exactly one stream.
    pub fn say_generally(&mut self, data: Vec<u8>) {
        let mut open = self.kept.iter_mut().rev().filter(|stream| stream.general && !stream.finished);
        if let Some(stream) = open.find(|stream| stream.is_live()) {
            stream.say(&data);
            return;
        }
        if self.unsent.len() == EVENTS_KEPT {
            self.unsent.pop_front();
        }
        self.unsent.push_back(data);
    }

    /// Whether a stream opened by GET is open.
    pub fn is_listened_to(&self) -> bool {
        self.kept.iter().any(|stream| stream.general && stream.is_live())
    }

    pub fn finish(&mut self, number: u64) {
        if self.fault == Some(Streaming::Lingers) {
            return;
        }
        if let Some(stream) = self.find(number) {
            stream.finished = true;
            stream.live = None;
        }
    }

    /// Resumes a stream after an event. `None` if the event is no longer kept.
    pub fn resume(&mut self, last_event: &str) -> Option<Receiver<Bytes>> {
        let (number, said) = last_event.strip_suffix(UNENCODED).unwrap_or(last_event).split_once('-')?;
        let (number, said) = (number.parse().ok()?, said.parse::<u64>().ok()?);
        let (live, events) = channel(EVENTS_AHEAD);
        if self.fault == Some(Streaming::ReplaysAll) {
            let others = self.kept.iter().filter(|stream| stream.number != number && !stream.general);
            others.flat_map(|stream| &stream.events).for_each(|(_, event)| drop(live.try_send(event.clone())));
        }
        let other = self.kept.iter().find(|stream| stream.number != number && !stream.general && stream.said > said);
        let number = match other {
            Some(other) if self.fault == Some(Streaming::Mistakes) => other.number,
            _ => number,
        };
        let aborts = self.fault == Some(Streaming::Aborts);
        let closes = self.fault == Some(Streaming::ClosesGet);
        let behind = if self.fault == Some(Streaming::Repeats) { said } else { said + 1 };
        let stream = self.find(number).filter(|stream| said <= stream.said)?;
        stream.aborted = aborts && !stream.finished;
        let most = if stream.breaks { 1 } else { usize::MAX };
        let missed = stream.events.iter().filter(|(at, _)| *at >= behind).take(most);
        let mut told = 0;
        for (_, event) in missed {
            live.try_send(event.clone()).ok();
            told += 1;
        }
        let closes = closes && stream.general;
        let goes_on = !closes && !stream.finished && (!stream.breaks || told == 0);
        stream.live = goes_on.then_some(live);
        Some(events)
    }

    fn find(&mut self, number: u64) -> Option<&mut Stream> {
        self.kept.iter_mut().find(|stream| stream.number == number)
    }
}

impl Stream {
    fn is_live(&self) -> bool {
        self.live.as_ref().is_some_and(|live| !live.is_closed())
    }

    fn say(&mut self, data: &[u8]) {
        let id = self.next_id();
        self.send(event("message", Some(&id), data));
    }

    fn prime(&mut self) {
        let id = self.next_id();
        self.send(format!("id: {id}\ndata: \n\n").into());
    }

    fn next_id(&mut self) -> String {
        self.said += 1;
        let end = if self.breaks { UNENCODED } else { "" };
        if self.renumbered { self.said.to_string() } else { format!("{}-{}{end}", self.number, self.said) }
    }

    fn send(&mut self, event: Bytes) {
        let event = if self.breaks { [RETRY, &event].concat().into() } else { event };
        if self.events.len() == EVENTS_KEPT {
            self.events.pop_front();
        }
        self.events.push_back((self.said, event.clone()));
        if self.live.as_ref().is_some_and(|live| live.try_send(event).is_err()) || self.breaks {
            self.live = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(events: &mut Receiver<Bytes>) -> String {
        let mut text = String::new();
        while let Ok(event) = events.try_recv() {
            text.push_str(&String::from_utf8_lossy(&event));
        }
        text
    }

    #[test]
    fn a_client_that_comes_back_hears_what_it_missed_and_no_more() {
        let mut streams = Streams::default();
        let (number, mut events) = streams.open(false, true);
        streams.say(number, b"one");
        assert_eq!(drain(&mut events), "id: 1-1\ndata: \n\nevent: message\nid: 1-2\ndata: one\n\n");
        drop(events);
        streams.say(number, b"two");
        let (other, _kept) = streams.open(false, false);
        streams.say(other, b"not for this stream");
        let mut resumed = streams.resume("1-2").expect("the stream is kept");
        streams.say(number, b"three");
        streams.finish(number);
        assert_eq!(
            drain(&mut resumed),
            "event: message\nid: 1-3\ndata: two\n\nevent: message\nid: 1-4\ndata: three\n\n"
        );
        assert!(resumed.is_closed(), "a finished stream ends");
        assert!(streams.resume("7-1").is_none() && streams.resume("nonsense").is_none());
    }

    #[test]
    fn what_belongs_to_no_request_goes_to_one_stream_and_waits_for_it() {
        let mut streams = Streams::default();
        streams.say_generally(b"early".to_vec());
        let (_, mut first) = streams.open(true, false);
        let (_, mut second) = streams.open(true, false);
        streams.say_generally(b"later".to_vec());
        assert!(drain(&mut first).contains("early"));
        assert_eq!(drain(&mut first), "");
        assert!(drain(&mut second).contains("later"));
    }
}
