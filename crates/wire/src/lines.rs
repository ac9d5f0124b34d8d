//! Splits the output of a process into lines. It never buffers more than the limit of one line.

use std::mem;

/// The buffer is freed after a longer line.
const KEPT: usize = 1 << 20;

#[derive(Debug, PartialEq)]
pub enum Line {
    /// Without its `\n`, and without the `\r` before it if there was one.
    Whole { bytes: Vec<u8>, crlf: bool, terminated: bool },
    /// The limit was reached: bytes up to the next `\n` are only counted.
    TooLong { beginning: Vec<u8> },
    /// The end of a line that was too long, and its whole length.
    TooLongEnded { length: u64 },
    /// The number of consecutive lines of whitespace, reported when something else is received.
    Empty { count: u64 },
}

pub struct Lines {
    limit: usize,
    line: Vec<u8>,
    /// The length so far of a line that is too long, otherwise 0.
    skipped: u64,
    empty: u64,
}

impl Lines {
    pub fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new(), skipped: 0, empty: 0 }
    }

    /// The lines that this chunk completes.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let bytes = piece.strip_suffix(b"\n").unwrap_or(piece);
            self.gather(bytes, &mut lines);
            if bytes.len() < piece.len() {
                self.end(true, &mut lines);
            }
        }
        lines
    }

    /// The end of the output.
    pub fn finish(mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        if !self.line.is_empty() || self.skipped > 0 {
            self.end(false, &mut lines);
        }
        self.tell_empty(&mut lines);
        lines
    }

    fn gather(&mut self, bytes: &[u8], lines: &mut Vec<Line>) {
        if self.skipped > 0 {
            self.skipped += bytes.len() as u64;
        } else if self.line.len() + bytes.len() > self.limit {
            self.skipped = (self.line.len() + bytes.len()) as u64;
            self.line.extend_from_slice(&bytes[..self.limit - self.line.len()]);
            self.tell_empty(lines);
            lines.push(Line::TooLong { beginning: mem::take(&mut self.line) });
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn end(&mut self, terminated: bool, lines: &mut Vec<Line>) {
        if self.skipped > 0 {
            lines.push(Line::TooLongEnded { length: mem::take(&mut self.skipped) });
        } else if self.line.trim_ascii().is_empty() {
            self.line.clear();
            self.empty += 1;
        } else {
            self.tell_empty(lines);
            let crlf = terminated && self.line.pop_if(|last| *last == b'\r').is_some();
            let bytes = if self.line.capacity() > KEPT { mem::take(&mut self.line) } else { self.line.clone() };
            self.line.clear();
            lines.push(Line::Whole { bytes, crlf, terminated });
        }
    }

    fn tell_empty(&mut self, lines: &mut Vec<Line>) {
        if self.empty > 0 {
            lines.push(Line::Empty { count: mem::take(&mut self.empty) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str, crlf: bool, terminated: bool) -> Line {
        Line::Whole { bytes: text.into(), crlf, terminated }
    }

    /// The lines must not depend on how the pipe splits the output.
    fn lines(limit: usize, output: &str) -> Vec<Line> {
        let split = |size: usize| {
            let mut splitter = Lines::new(limit);
            let mut lines: Vec<Line> = output.as_bytes().chunks(size).flat_map(|chunk| splitter.feed(chunk)).collect();
            lines.extend(splitter.finish());
            lines
        };
        let at_once = split(usize::MAX);
        for size in 1..5 {
            assert_eq!(at_once, split(size));
        }
        at_once
    }

    #[test]
    fn tells_how_each_line_ended() {
        assert_eq!(
            lines(100, "{}\n[]\r\n7"),
            [whole("{}", false, true), whole("[]", true, true), whole("7", false, false)]
        );
        assert_eq!(lines(100, ""), []);
    }

    #[test]
    fn counts_empty_lines_before_what_follows() {
        assert_eq!(
            lines(100, "\n\r\n \n{}\n\n"),
            [Line::Empty { count: 3 }, whole("{}", false, true), Line::Empty { count: 1 }]
        );
    }

    #[test]
    fn skips_the_rest_of_a_line_that_is_too_long() {
        assert_eq!(
            lines(4, "abcd\nabcdefgh\n{}\nabcdefg"),
            [
                whole("abcd", false, true),
                Line::TooLong { beginning: b"abcd".into() },
                Line::TooLongEnded { length: 8 },
                whole("{}", false, true),
                Line::TooLong { beginning: b"abcd".into() },
                Line::TooLongEnded { length: 7 },
            ]
        );
    }
}
