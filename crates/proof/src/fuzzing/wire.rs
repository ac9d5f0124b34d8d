//! Bytes from a server: lines, events and messages, split anywhere.

use std::{fmt::Debug, iter};

use serde_json::Value;

use mcp_conform::{
    evidence::Manner,
    reference::server::message::classify,
    session::ClientProfile,
    wire::{
        event_stream::{Block, EventStream},
        json::{self, Reading},
        lines::{Line, Lines},
    },
};

/// The limit of a run for one message.
const VALUES: usize = 250_000;

/// Up to this many bytes, the input is split at each position; longer input is only split into single bytes.
const CUTS: usize = 300;

/// The result does not depend on how the bytes are split.
fn in_any_pieces<T: Debug + PartialEq>(bytes: &[u8], read: impl Fn(&mut dyn Iterator<Item = &[u8]>) -> T) -> T {
    let whole = read(&mut iter::once(bytes));
    assert_eq!(read(&mut bytes.chunks(1)), whole, "byte by byte");
    for cut in 0..Some(bytes.len()).filter(|length| *length <= CUTS).unwrap_or_default() {
        let (before, after) = bytes.split_at(cut);
        assert_eq!(read(&mut [before, after].into_iter()), whole, "cut after {cut} bytes");
    }
    whole
}

/// The first byte selects the limit of a frame.
fn limited(bytes: &[u8]) -> (usize, &[u8]) {
    match bytes.split_first() {
        Some((&limit, rest)) => (1 + usize::from(limit) * usize::from(limit), rest),
        None => (1, bytes),
    }
}

/// The stdout of a process: every line is reported once, and none exceeds the limit.
pub fn frames(bytes: &[u8]) {
    let (limit, output) = limited(bytes);
    let lines = in_any_pieces(output, |pieces| {
        let mut lines = Lines::new(limit);
        let mut told: Vec<Line> = pieces.flat_map(|piece| lines.feed(piece)).collect();
        told.extend(lines.finish());
        told
    });
    let mut count = 0;
    for line in lines {
        match line {
            Line::Whole { bytes, .. } => {
                assert!(bytes.len() <= limit && !bytes.trim_ascii().is_empty() && !bytes.contains(&b'\n'));
                messages(&bytes);
                count += 1;
            }
            Line::TooLong { beginning } => assert_eq!(beginning.len(), limit),
            Line::TooLongEnded { length } => {
                assert!(length > limit as u64);
                count += 1;
            }
            Line::Empty { count: empty } => {
                assert!(empty > 0);
                count += empty;
            }
        }
    }
    assert_eq!(count, output.split_inclusive(|byte| *byte == b'\n').count() as u64, "lines");
}

/// An event stream: its blocks, each within the limit.
pub fn events(bytes: &[u8]) {
    let (limit, stream) = limited(bytes);
    let (blocks, cut_off) = in_any_pieces(stream, |pieces| {
        let mut stream = EventStream::new(limit);
        let blocks: Vec<Block> = pieces.flat_map(|piece| stream.feed(piece)).collect();
        (blocks, stream.finish())
    });
    for block in blocks.iter().chain(&cut_off) {
        // Line breaks between data lines do not count.
        let data = block.data.as_deref().unwrap_or_default();
        let lines = data.split(|byte| *byte == b'\n').count();
        assert!(data.len() < limit + lines, "{} bytes of {limit}", data.len());
    }
}

/// One message: parsed as `serde_json` does, equal when it is written and parsed again, and always with a response.
pub fn messages(bytes: &[u8]) {
    let Reading::Message { message, flaws } = json::read(bytes, VALUES) else { return };
    if flaws.is_empty() {
        assert_eq!(serde_json::from_slice::<Value>(bytes).ok().as_ref(), Some(&message));
    }
    match json::read(message.to_string().as_bytes(), usize::MAX) {
        Reading::Message { message: again, flaws } => {
            assert_eq!(again.to_string(), message.to_string());
            assert!(flaws.is_empty());
        }
        Reading::Junk { why } => panic!("{message}: {why}"),
    }
    classify(&message);
    let manners = [Manner::Accept, Manner::Decline, Manner::Refuse, Manner::Wrong, Manner::Unfit, Manner::Tireless];
    for manner in iter::once(None).chain(manners.map(Some)) {
        let answer = ClientProfile::default().respond(&message, manner, 1);
        assert_eq!(answer["id"], message["id"]);
    }
}
