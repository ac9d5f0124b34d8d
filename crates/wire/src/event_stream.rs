//! Reads `text/event-stream` as the HTML standard specifies, from chunks that may end at any byte.
//!
//! Unlike a browser it also returns blocks that dispatch no event, and the names of the fields in each event, because
//! both are evidence.

use std::mem;

use conform_model::evidence::Event;

const BOM: &[u8] = b"\xEF\xBB\xBF";
/// The buffer is freed after a longer line.
const KEPT: usize = 1 << 20;

/// The lines between two empty lines, without comments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    pub event: Event,
    /// The data lines, joined by `\n`. `None`: there is no data line, so no event is dispatched.
    pub data: Option<Vec<u8>>,
    /// It exceeded the limit; `data` is truncated.
    pub too_long: bool,
}

pub struct EventStream {
    /// The limit for one block: bytes beyond it are dropped.
    limit: usize,
    line: Vec<u8>,
    /// The current line exceeds the limit.
    line_too_long: bool,
    at_start: bool,
    /// The last byte was CR, so a following LF belongs to it.
    after_cr: bool,
    block: Block,
    any_field: bool,
}

impl EventStream {
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            line_too_long: false,
            at_start: true,
            after_cr: false,
            block: Block::default(),
            any_field: false,
        }
    }

    /// The blocks that this chunk completes.
    pub fn feed(&mut self, mut chunk: &[u8]) -> Vec<Block> {
        let mut blocks = Vec::new();
        while let Some(&first) = chunk.first() {
            if mem::take(&mut self.after_cr) && first == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let Some(end) = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.gather(chunk);
                break;
            };
            self.after_cr = chunk[end] == b'\r';
            self.gather(&chunk[..end]);
            blocks.extend(self.end_line());
            chunk = &chunk[end + 1..];
        }
        blocks
    }

    /// The incomplete block at the end of the stream, which would never be dispatched.
    pub fn finish(mut self) -> Option<Block> {
        let mut cut_off = self.any_field || self.line_too_long;
        if !self.line.is_empty() {
            self.end_line();
            cut_off |= self.any_field;
        }
        cut_off.then_some(self.block)
    }

    fn gather(&mut self, bytes: &[u8]) {
        let held = self.line.len() + self.block.data.as_ref().map_or(0, Vec::len);
        let room = self.limit.saturating_sub(held);
        self.line_too_long |= bytes.len() > room;
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn end_line(&mut self) -> Option<Block> {
        let line = mem::take(&mut self.line);
        let too_long = mem::take(&mut self.line_too_long);
        let bytes = if mem::take(&mut self.at_start) { line.strip_prefix(BOM).unwrap_or(&line) } else { &line };
        let ended = bytes.is_empty() && !too_long;
        if !ended {
            self.block.too_long |= too_long;
            self.any_field |= too_long;
            self.field(bytes);
        }
        if line.capacity() <= KEPT {
            self.line = line;
            self.line.clear();
        }
        let block = if ended { mem::take(&mut self.block) } else { return None };
        mem::take(&mut self.any_field).then_some(block)
    }

    fn field(&mut self, line: &[u8]) {
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = match colon {
            Some(0) => return,
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            b"data" => match &mut self.block.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.block.data = Some(value.to_vec()),
            },
            b"event" => self.block.event.name = Some(text()).filter(|name| !name.is_empty()),
            b"id" if !value.contains(&0) => self.block.event.id = Some(text()),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.block.event.retry = Some(text().parse().unwrap_or(u64::MAX));
            }
            _ => return,
        }
        self.any_field = true;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(stream: &[u8]) -> Vec<Block> {
        EventStream::new(1000).feed(stream)
    }

    fn data(stream: &str) -> Vec<String> {
        let text = |block: Block| block.data.map(|data| String::from_utf8(data).expect("UTF-8"));
        whole(stream.as_bytes()).into_iter().filter_map(text).collect()
    }

    #[test]
    fn takes_any_line_ending() {
        for stream in ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r"] {
            assert_eq!(data(stream), ["a", "b"], "{stream:?}");
        }
    }

    #[test]
    fn joins_data_lines_and_takes_one_blank_off() {
        assert_eq!(data("data:a\ndata:  b\ndata\n\n"), ["a\n b\n"]);
    }

    #[test]
    fn skips_comments_unknown_fields_and_a_byte_order_mark() {
        assert_eq!(data(": ping\n\n\u{FEFF}data: no\n\n: again\nfoo: bar\ndata: yes\n\n"), ["yes"]);
        assert_eq!(data("\u{FEFF}data: first\n\n"), ["first"]);
    }

    #[test]
    fn keeps_the_fields_of_each_block() {
        let blocks = whole(b"id: 1\nretry: 500\ndata:\n\nevent: message\nid: a\0b\nretry: 5s\ndata: {}\n\nid\n\n");
        let event = |id: Option<&str>, name: Option<&str>, retry| Event {
            id: id.map(str::to_owned),
            name: name.map(str::to_owned),
            retry,
            endpoint: None,
        };
        assert_eq!(blocks.len(), 3);
        assert_eq!((&blocks[0].event, blocks[0].data.as_deref()), (&event(Some("1"), None, Some(500)), Some(&b""[..])));
        assert_eq!(
            (&blocks[1].event, blocks[1].data.as_deref()),
            (&event(None, Some("message"), None), Some(&b"{}"[..]))
        );
        assert_eq!((&blocks[2].event, blocks[2].data.as_deref()), (&event(Some(""), None, None), None));
    }

    #[test]
    fn holds_no_more_than_the_limit_and_goes_on_after_it() {
        let mut stream = EventStream::new(16);
        for _ in 0..1000 {
            assert!(stream.feed(b"data: 0123456789\ndata").is_empty());
            assert!(stream.line.len() + stream.block.data.as_ref().map_or(0, Vec::len) <= 16 + 2);
        }
        let blocks = stream.feed(b"\n\ndata: fine\n\n");
        assert!(blocks[0].too_long);
        assert_eq!((blocks[1].too_long, blocks[1].data.as_deref()), (false, Some(&b"fine"[..])));
    }

    #[test]
    fn shows_what_the_end_cut_off() {
        let mut stream = EventStream::new(100);
        assert!(stream.feed(b"data: a\n\ndata: b\ndata: c").len() == 1);
        assert_eq!(stream.finish().and_then(|block| block.data).as_deref(), Some(&b"b\nc"[..]));
        let mut stream = EventStream::new(100);
        stream.feed(b"data: a\n\n: ping");
        assert_eq!(stream.finish(), None);
    }

    proptest! {
        #[test]
        fn yields_the_same_wherever_it_is_split(
            lines in prop::collection::vec("(data|id|event|retry|: c|\u{FEFF})?:? ?[a-z0-9é\u{0}]{0,6}(\r|\n|\r\n)", 0..20),
            noise in prop::collection::vec(any::<u8>(), 0..8),
            limit in 1..60_usize,
            splits in prop::collection::vec(1..9_usize, 1..8),
        ) {
            let mut bytes = lines.concat().into_bytes();
            bytes.extend(noise);
            let mut at_once = EventStream::new(limit);
            let expected = at_once.feed(&bytes);
            let mut in_pieces = EventStream::new(limit);
            let mut seen = Vec::new();
            let mut rest = &bytes[..];
            for length in splits.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, after) = rest.split_at(rest.len().min(*length));
                seen.extend(in_pieces.feed(piece));
                rest = after;
            }
            prop_assert_eq!(seen, expected);
            prop_assert_eq!(in_pieces.finish(), at_once.finish());
        }
    }
}
