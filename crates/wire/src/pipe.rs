//! Reads the output of a process, until it is closed or the process has exited.
//!
//! A child process may keep the pipe open. Then reading ends when no more output arrives.

use std::time::Duration;

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::watch,
    time::{Instant, timeout},
};

use conform_model::evidence::Exit;

const CHUNK: usize = 64 << 10;
/// After this time without output, the pipe of a process that exited counts as empty. A guess.
const QUIET: Duration = Duration::from_millis(100);
/// Maximum time to read the pipe of a process that exited, if something keeps writing or its last line is unfinished: a
/// wrapper such as npx may exit before its child has written all of a trace. Only reading counts, ...
const LONGEST: Duration = Duration::from_secs(2);
/// ... and each read counts as this at least. Guesses.
const READ: Duration = Duration::from_millis(1);

pub struct Pipe<R> {
    reader: R,
    buffer: Vec<u8>,
    exit: watch::Receiver<Option<Exit>>,
    /// The rest of `LONGEST` after the process exited.
    left: Option<Duration>,
    /// Whether the last output did not end in a newline.
    is_within_line: bool,
    /// Whether all output was read.
    is_at_end: bool,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    pub fn new(reader: R, exit: watch::Receiver<Option<Exit>>) -> Self {
        let buffer = vec![0; CHUNK];
        Self { reader, buffer, exit, left: None, is_within_line: false, is_at_end: false }
    }

    /// `None` at the end.
    pub async fn chunk(&mut self) -> Option<&[u8]> {
        let mut read = None;
        if self.left.is_none() {
            tokio::select! {
                biased;
                came = self.reader.read(&mut self.buffer) => read = came.ok(),
                _ = self.exit.wait_for(Option::is_some) => self.left = Some(LONGEST),
            }
        }
        if let Some(left) = self.left.filter(|left| !left.is_zero()) {
            let began = Instant::now();
            let quiet = if self.is_within_line { left } else { QUIET };
            read = timeout(quiet, self.reader.read(&mut self.buffer)).await.ok().and_then(Result::ok);
            self.left = Some(left.saturating_sub(began.elapsed().max(READ)));
        }
        self.is_at_end = read == Some(0);
        let chunk = read.filter(|length| *length > 0).map(|length| &self.buffer[..length])?;
        self.is_within_line = chunk.last() != Some(&b'\n');
        Some(chunk)
    }

    /// Whether reading ended in the middle of a line, of which more may have come.
    pub fn is_cut(&self) -> bool {
        self.is_within_line && !self.is_at_end
    }
}
