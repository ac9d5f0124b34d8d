//! Records traffic over stdio, line by line.

use super::{LONGEST_MESSAGE, Tap};
use crate::lines::{Line, Lines};
use conform_model::evidence::{Cause, Reason, Side};

/// One direction.
pub struct LineTap {
    tap: Tap,
    from: Side,
    lines: Lines,
}

impl LineTap {
    pub fn new(tap: Tap, from: Side) -> Self {
        Self { tap, from, lines: Lines::new(LONGEST_MESSAGE) }
    }

    pub fn feed(&mut self, chunk: &[u8]) {
        for line in self.lines.feed(chunk) {
            take(&self.tap, self.from, line);
        }
    }

    /// The end of the output.
    pub fn finish(self) {
        for line in self.lines.finish() {
            take(&self.tap, self.from, line);
        }
    }
}

fn take(tap: &Tap, from: Side, line: Line) {
    match line {
        Line::Whole { bytes, crlf, terminated } => {
            let flaws = [(crlf, "crlf"), (!terminated, "unterminated")];
            let flaws: Vec<&str> = flaws.iter().filter(|(there, _)| *there).map(|(_, flaw)| *flaw).collect();
            tap.passed(from, None, &bytes, &flaws, None);
        }
        Line::TooLong { beginning } => {
            let length = beginning.len() as u64;
            tap.junk(from, None, &beginning, length, Reason::too_long(LONGEST_MESSAGE), None);
        }
        Line::TooLongEnded { length } => tap.note(from, format!("the long line ended after {length} bytes")),
        Line::Empty { count } => {
            let words = if count == 1 { "empty line".to_owned() } else { format!("{count} empty lines") };
            tap.junk(from, None, b"", 0, Reason::new(Cause::EmptyLine, words), None);
        }
    }
}
