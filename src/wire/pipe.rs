//! Reads what a process writes, until it ends or the process is gone.
//!
//! Something that the process started may hold the pipe open after it: then reading ends when nothing comes any more.

use std::time::Duration;

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::watch,
    time::{Instant, timeout},
};

const CHUNK: usize = 64 << 10;
/// Nothing for so long from the pipe of a dead process: it is empty.
const QUIET: Duration = Duration::from_millis(100);
/// So long the pipe of a dead process is read even if something goes on writing. Only the reading counts, ...
const LONGEST: Duration = Duration::from_secs(2);
/// ... and each read for this at least.
const READ: Duration = Duration::from_millis(1);

pub struct Pipe<R> {
    reader: R,
    buffer: Vec<u8>,
    exit: watch::Receiver<Option<String>>,
    /// What is left of `LONGEST` when the process is gone.
    left: Option<Duration>,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    pub fn new(reader: R, exit: watch::Receiver<Option<String>>) -> Self {
        Self { reader, buffer: vec![0; CHUNK], exit, left: None }
    }

    /// `None` when nothing more will come.
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
            read = timeout(QUIET, self.reader.read(&mut self.buffer)).await.ok().and_then(Result::ok);
            self.left = Some(left.saturating_sub(began.elapsed().max(READ)));
        }
        read.filter(|length| *length > 0).map(|length| &self.buffer[..length])
    }
}
