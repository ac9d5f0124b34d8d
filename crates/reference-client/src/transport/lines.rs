//! Splits the output of a process into lines.

/// How stdout and stderr of the server are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineWays {
    /// Lines also end at U+2028, U+2029 and U+0085.
    pub splits_at_unicode: bool,
    /// Each chunk is treated as one line.
    pub chunk_is_line: bool,
    /// Each chunk is decoded by itself.
    pub decodes_chunks: bool,
    /// A longer line is split, and the rest is treated as another line.
    pub longest_line: Option<usize>,
    pub stderr: Stderr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stderr {
    Drained,
    /// The pipe is read only after the exit.
    Unread,
    /// Any output ends the connection.
    IsFailure,
    /// Output that is not UTF-8 ends the client.
    Strict,
}

impl LineWays {
    pub const USUAL: Self = Self {
        splits_at_unicode: false,
        chunk_is_line: false,
        decodes_chunks: false,
        longest_line: None,
        stderr: Stderr::Drained,
    };
}

/// A guess: far more than any message of a world, far less than the memory of a machine.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// Collects chunks until a line is complete.
pub struct Lines {
    ways: LineWays,
    rest: Vec<u8>,
}

impl Lines {
    pub fn new(ways: LineWays) -> Self {
        Self { ways, rest: Vec::new() }
    }

    /// The lines that a chunk completes, without the line feed.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<Vec<u8>> {
        if self.ways.decodes_chunks {
            self.rest.extend_from_slice(String::from_utf8_lossy(chunk).as_bytes());
        } else {
            self.rest.extend_from_slice(chunk);
        }
        if self.ways.chunk_is_line {
            return vec![std::mem::take(&mut self.rest)];
        }
        let mut lines = Vec::new();
        while let Some((end, next)) = self.line_end() {
            let mut line: Vec<u8> = self.rest.drain(..next).collect();
            line.truncate(end);
            lines.push(line);
        }
        let longest = self.ways.longest_line.unwrap_or(MOST_BYTES);
        while self.rest.len() > longest {
            lines.push(self.rest.drain(..longest).collect());
        }
        lines
    }

    /// The end of the first line, and the beginning of the next one.
    fn line_end(&self) -> Option<(usize, usize)> {
        let feed = self.rest.iter().position(|&byte| byte == b'\n').map(|at| (at, at + 1));
        if !self.ways.splits_at_unicode {
            return feed;
        }
        let other = ["\u{2028}", "\u{2029}", "\u{85}"].iter().filter_map(|end| {
            let at = self.rest.windows(end.len()).position(|window| window == end.as_bytes())?;
            Some((at, at + end.len()))
        });
        other.chain(feed).min()
    }
}
