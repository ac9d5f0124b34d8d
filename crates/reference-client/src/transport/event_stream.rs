//! Event streams, as the HTML standard defines them.

use std::time::Duration;

use crate::transport::streams::StreamWays;

/// A guess: far more than any message of a world, far less than the memory of a machine.
const MOST_BYTES: usize = 64 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Empty for an event without a name.
    pub name: String,
    pub data: String,
    /// The last event id when the event was complete.
    pub id: Option<String>,
    /// It was received on the stream of a GET without `Last-Event-ID`.
    pub standalone: bool,
}

/// Reads a stream in chunks of any size.
#[derive(Debug)]
pub struct EventStream {
    ways: StreamWays,
    begun: bool,
    /// The last chunk ended with a carriage return, so a following line feed belongs to it.
    after_return: bool,
    line: Vec<u8>,
    name: String,
    data: Option<String>,
    id: Option<String>,
    /// The current event has an id.
    new_id: bool,
    pub last_id: Option<String>,
    pub first_id: Option<String>,
    pub retry: Option<Duration>,
    events: Vec<Event>,
    /// The stream cannot be read any further.
    pub failed: bool,
    pub standalone: bool,
}

impl EventStream {
    pub fn new(ways: StreamWays, last_id: Option<String>) -> Self {
        Self {
            ways,
            begun: false,
            after_return: false,
            line: Vec::new(),
            name: String::new(),
            data: None,
            id: last_id.clone(),
            new_id: false,
            last_id,
            first_id: None,
            retry: None,
            events: Vec::new(),
            failed: false,
            standalone: false,
        }
    }

    /// The events that a chunk completes.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<Event> {
        for &byte in chunk {
            let follows_return = std::mem::take(&mut self.after_return);
            match byte {
                b'\n' if follows_return => {}
                b'\n' => self.end_line(),
                b'\r' if self.ways.line_feeds_only || self.ways.keeps_returns => self.line.push(byte),
                b'\r' => {
                    self.after_return = true;
                    self.end_line();
                }
                _ => self.line.push(byte),
            }
            if self.line.len() > self.ways.longest_line.unwrap_or(MOST_BYTES) {
                self.failed = true;
                self.line.clear();
            }
        }
        if self.ways.chunk_is_event {
            self.end_line();
            self.dispatch();
        }
        let mut events = std::mem::take(&mut self.events);
        if self.ways.first_of_chunk {
            events.truncate(1);
        }
        events
    }

    /// The incomplete event at the end, for a fault that uses it.
    pub fn finish(&mut self) -> Vec<Event> {
        if self.ways.keeps_unfinished {
            if !self.line.is_empty() {
                self.end_line();
            }
            self.dispatch();
        }
        std::mem::take(&mut self.events)
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if !std::mem::replace(&mut self.begun, true) && !self.ways.keeps_byte_order_mark {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() || (self.ways.keeps_returns && line == b"\r") {
            return self.dispatch();
        }
        let text = String::from_utf8_lossy(line).into_owned();
        if text.starts_with(':') {
            if self.ways.comments_are_data {
                self.add_data(text.trim_start_matches(':').trim_start());
            }
            if self.ways.comment_ends_event {
                self.dispatch();
            }
            return;
        }
        let (field, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = match value.strip_prefix(' ') {
            Some(value) => value,
            None if self.ways.needs_space && !value.is_empty() => return,
            None => value,
        };
        self.take_field(field, value);
    }

    fn take_field(&mut self, field: &str, value: &str) {
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => self.add_data(value),
            "id" if !value.contains('\0') && !self.ways.ignores_ids => {
                self.id = Some(value.to_owned()).filter(|id| !id.is_empty() || self.ways.keeps_empty_id);
                self.new_id = true;
                if self.ways.takes_id_at_once {
                    self.take_id();
                }
            }
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().map(Duration::from_millis);
            }
            "id" | "retry" => {}
            _ => self.failed |= self.ways.fails_at_unknown_field,
        }
    }

    fn add_data(&mut self, value: &str) {
        match &mut self.data {
            Some(data) if !self.ways.last_data_line => {
                if self.ways.each_data_line {
                    let event = Event {
                        name: self.name.clone(),
                        data: std::mem::take(data),
                        id: self.id.clone(),
                        standalone: self.standalone,
                    };
                    self.events.push(event);
                } else {
                    data.push('\n');
                }
                data.push_str(value);
                if data.len() > MOST_BYTES {
                    self.failed = true;
                    data.clear();
                }
            }
            data => *data = Some(value.to_owned()),
        }
    }

    fn take_id(&mut self) {
        self.last_id.clone_from(&self.id);
        if self.first_id.is_none() {
            self.first_id.clone_from(&self.id);
        }
    }

    fn dispatch(&mut self) {
        let (name, data) = (std::mem::take(&mut self.name), self.data.take());
        let empty = data.as_ref().is_none_or(String::is_empty);
        if std::mem::take(&mut self.new_id) && !(empty && self.ways.skips_priming) {
            self.take_id();
        }
        if !empty || (data.is_some() && self.ways.dispatches_empty) {
            self.events.push(Event {
                name,
                data: data.unwrap_or_default(),
                id: self.id.clone(),
                standalone: self.standalone,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        let mut stream = EventStream::new(StreamWays::USUAL, None);
        stream.push(text.as_bytes()).into_iter().map(|event| (event.name, event.data)).collect()
    }

    fn data(text: &str) -> Vec<String> {
        read(text).into_iter().map(|(_, data)| data).collect()
    }

    #[test]
    fn lines_may_end_in_any_way() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["event: message", "data: 1", "", "data:2", ": comment", "data:3", "", ""].join(end);
            assert_eq!(data(&text), ["1", "2\n3"], "{end:?}");
        }
    }

    #[test]
    fn chunks_may_break_anywhere() {
        let text = "\u{feff}id: \u{e9}1\r\ndata: {\"a\":\r\ndata: \"\u{1f600}\"}\r\n\r\nretry: 20\ndata: x\n\n";
        let mut stream = EventStream::new(StreamWays::USUAL, None);
        let events: Vec<Event> = text.as_bytes().iter().flat_map(|&byte| stream.push(&[byte])).collect();
        let texts: Vec<&str> = events.iter().map(|event| event.data.as_str()).collect();
        assert_eq!(texts, ["{\"a\":\n\"\u{1f600}\"}", "x"]);
        assert_eq!(stream.last_id.as_deref(), Some("\u{e9}1"));
        assert_eq!(stream.retry, Some(Duration::from_millis(20)));
    }

    #[test]
    fn an_unfinished_event_is_dropped_with_its_id() {
        let mut stream = EventStream::new(StreamWays::USUAL, None);
        assert_eq!(stream.push(b"id: 1\ndata: a\n\nid: 2\ndata: b\n").len(), 1);
        assert_eq!(stream.finish(), []);
        assert_eq!(stream.last_id.as_deref(), Some("1"));
    }

    #[test]
    fn a_priming_event_sets_the_id_only() {
        let mut stream = EventStream::new(StreamWays::USUAL, None);
        assert_eq!(stream.push(b"id: 7\ndata:\n\n"), []);
        assert_eq!(stream.last_id.as_deref(), Some("7"));
        assert_eq!(stream.push(b"id\n\n"), []);
        assert_eq!(stream.last_id, None, "an empty id resets it");
    }

    #[test]
    fn fields_are_read_by_name() {
        assert_eq!(read("foo: 1\nevent: ping\ndata\n\n"), []);
        assert_eq!(
            read("data: 1\nevent: ping\n\ndata:  2\n\n"),
            [("ping".to_owned(), "1".to_owned()), (String::new(), " 2".to_owned())]
        );
    }
}
