//! A server process: one message per line on its stdin and stdout.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::AsyncWriteExt,
    sync::{mpsc, watch},
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use super::{
    Ending, Envelope, Incoming, Posted,
    channel::{Carrier, Channel},
    lines::{Line, Lines},
    pipe::Pipe,
    process::{Child, Finish, Pipes, Readable, Started, Tail, Writable},
    secrets::Secrets,
    unread::{LOOK, Unread},
};
use crate::target::{Limits, Target};
use conform_model::evidence::{Cause, Ended, Exit, Reason, Recorder, Transport};

/// A line, and the number of pieces in which it is written.
struct Queued {
    bytes: Vec<u8>,
    pieces: usize,
    /// Whether it is written together with the next line, if that is queued already.
    joined: bool,
}

/// How often, and how many times, to check whether a piece has been read. Guesses.
const GLANCE: Duration = Duration::from_millis(2);
const GLANCES: u32 = 100;

pub struct Stdio {
    pub channel: Channel,
    pub tail: Tail,
    child: Child,
    queue: mpsc::UnboundedSender<Queued>,
    unread: Unread,
    /// Bytes in the queue, and its limit.
    waiting: Arc<AtomicUsize>,
    limit: usize,
    close: watch::Sender<bool>,
    reading: JoinHandle<()>,
    grace: Duration,
    /// The time until its first output on stdout, if there was any.
    heard: Arc<OnceLock<Duration>>,
}

impl Stdio {
    /// A connection to a process that has received nothing yet.
    pub fn over(
        Started { child, pipes, .. }: Started,
        target: &Target,
        limits: &Limits,
        recorder: &Recorder,
    ) -> (Self, mpsc::Receiver<Incoming>) {
        let Pipes { stdin, unread, stdout, stderr } = pipes;
        let secrets = Secrets::of(target.secrets.iter().cloned());
        let (channel, incoming, close) =
            Channel::open(Transport::Stdio, recorder, secrets.clone(), limits.message_values);
        let (queue, queued) = mpsc::unbounded_channel();
        let waiting = Arc::<AtomicUsize>::default();
        tokio::spawn(write(stdin, unread.clone(), queued, waiting.clone(), channel.clone()));
        let tail = Tail::hiding(secrets);
        let draining = tokio::spawn(tail.clone().drain(Pipe::new(stderr, child.exit.clone())));
        let heard = Arc::<OnceLock<Duration>>::default();
        let reader = Reader {
            pipe: Pipe::new(stdout, child.exit.clone()),
            exit: child.exit.clone(),
            draining,
            tail: tail.clone(),
            channel: channel.clone(),
            limit: limits.message_bytes,
            junk_lines: limits.junk_lines,
            grace: limits.grace,
            began: Instant::now(),
            heard: heard.clone(),
        };
        let reading = tokio::spawn(reader.run());
        let (limit, grace) = (limits.message_bytes, limits.grace);
        (Self { channel, tail, child, queue, unread, waiting, limit, close, reading, grace, heard }, incoming)
    }

    pub fn send(&self, envelope: &Envelope, message: &Value) -> Result<Posted, String> {
        let bytes = message.to_string().into_bytes();
        let length = bytes.len();
        self.enqueue(Queued { bytes, pieces: 1, joined: false })?;
        Ok(Posted { frame: self.channel.sent(&envelope.by, None, message.clone(), length), post: None })
    }

    /// Input that is not split is written together with the next message. Otherwise the verdict on a server that drops the
    /// rest of a chunk after invalid input would depend on chance.
    pub fn send_raw(&self, envelope: &Envelope, bytes: &[u8], pieces: usize) -> Result<Posted, String> {
        self.enqueue(Queued { bytes: bytes.to_vec(), pieces, joined: pieces == 1 })?;
        Ok(Posted { frame: self.channel.sent_raw(&envelope.by, None, bytes, pieces), post: None })
    }

    /// The writer runs only when this task waits, so a frame recorded after this call still precedes the response.
    fn enqueue(&self, mut queued: Queued) -> Result<(), String> {
        if let Some(exit) = self.child.exited() {
            return Err(format!("the server {exit}"));
        }
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting > self.limit {
            return Err(format!("the server does not read stdin: {waiting} bytes are waiting"));
        }
        queued.bytes.push(b'\n');
        let length = queued.bytes.len();
        self.queue.send(queued).map_err(|_| "the server closed its stdin".to_owned())?;
        self.waiting.fetch_add(length, Ordering::Relaxed);
        Ok(())
    }

    pub async fn taken(&self) {
        let waits = || self.waiting.load(Ordering::Relaxed) > 0 || self.unread.any();
        while waits() && self.child.exited().is_none() {
            sleep(LOOK).await;
        }
    }

    /// Stops the process, whether or not it reads its input.
    pub async fn kill(&self) {
        self.close.send_replace(true);
        if self.child.exited().is_none() {
            self.child.kill().await;
        }
    }

    pub async fn close(self) -> Ending {
        let Self { channel, tail, mut child, queue, unread, close, mut reading, grace, heard, .. } = self;
        drop(unread);
        let heard = heard.get();
        let was_stopped = close.send_replace(true);
        let Finish { how, ended, exit } = if let Some(exit) = child.exited() {
            Finish { how: format!("{exit} before stdin was closed"), ended: Ended::Unasked, exit }
        } else {
            drop(queue);
            // One that was still starting, or that was stopped, shows nothing about the next one.
            let shows_nothing = heard.is_none() || was_stopped;
            let outlives = shows_nothing || channel.outlives_stdin();
            let end = child.end(heard.copied().unwrap_or_default(), channel.slowest_start(), outlives).await;
            if !shows_nothing && end.ended != Ended::StdinClosed {
                channel.outlived_stdin();
            }
            end
        };
        child.gone().await;
        if timeout(grace, &mut reading).await.is_err() {
            reading.abort();
        }
        let failed = ended == Ended::StdinClosed && ended.is_failure(Some(&exit));
        let how = with_words(how, tail.telling_line().filter(|_| failed));
        // A process that was still starting did not read its stdin yet, and one that was stopped did not exit on its own.
        match heard.filter(|_| !was_stopped) {
            Some(_) => channel.exited(how.clone(), ended, exit),
            None => channel.note(Carrier::default(), how.clone(), None),
        }
        Ending { how, ended: Some(ended) }
    }
}

/// Waits until the process has read the bytes, or for the maximum time.
async fn read(unread: &Unread) {
    for _ in 0..GLANCES {
        sleep(GLANCE).await;
        if !unread.any() {
            return;
        }
    }
}

async fn write(
    mut stdin: Writable,
    unread: Unread,
    mut queued: mpsc::UnboundedReceiver<Queued>,
    waiting: Arc<AtomicUsize>,
    channel: Channel,
) {
    while let Some(Queued { mut bytes, pieces, mut joined }) = queued.recv().await {
        while joined && let Ok(next) = queued.try_recv() {
            bytes.extend(next.bytes);
            joined = next.joined;
        }
        for (index, piece) in bytes.chunks(bytes.len().div_ceil(pieces)).enumerate() {
            if index > 0 {
                read(&unread).await;
            }
            if let Err(error) = stdin.write_all(piece).await {
                channel.note(Carrier::default(), format!("could not be written to: {error}"), None);
                return;
            }
        }
        waiting.fetch_sub(bytes.len(), Ordering::Relaxed);
    }
}

/// Reads stdout line by line.
struct Reader {
    pipe: Pipe<Readable>,
    exit: watch::Receiver<Option<Exit>>,
    draining: JoinHandle<()>,
    tail: Tail,
    channel: Channel,
    limit: usize,
    /// After this many consecutive lines that are not messages, the output is not MCP.
    junk_lines: usize,
    grace: Duration,
    began: Instant,
    heard: Arc<OnceLock<Duration>>,
}

impl Reader {
    async fn run(mut self) {
        let (mut lines, mut junk) = (Lines::new(self.limit), 0);
        while let Some(chunk) = self.pipe.chunk().await {
            self.heard.get_or_init(|| {
                let took = self.began.elapsed();
                self.channel.started(took);
                took
            });
            for line in lines.feed(chunk) {
                junk = if take(&self.channel, self.limit, line).await { 0 } else { junk + 1 };
                if junk >= self.junk_lines {
                    let why =
                        format!("wrote {junk} consecutive lines to stdout that are not messages; reading stopped");
                    self.channel.note(Carrier::default(), why.clone(), None);
                    self.channel.hand_on(Incoming::Closed { why, exit: None }).await;
                    return;
                }
            }
        }
        for line in lines.finish() {
            take(&self.channel, self.limit, line).await;
        }
        let (why, exit) = self.why().await;
        match exit.clone().filter(|_| !self.channel.is_closing()) {
            Some(exit) => self.channel.exited(why.clone(), Ended::Unasked, exit),
            None => self.channel.note(Carrier::default(), why.clone(), None),
        }
        self.channel.hand_on(Incoming::Closed { why, exit }).await;
    }

    /// Why stdout was closed: because the process exited, or for another reason.
    async fn why(&mut self) -> (String, Option<Exit>) {
        let exit = timeout(self.grace, self.exit.wait_for(Option::is_some)).await;
        let Some(exit) = exit.ok().and_then(Result::ok).and_then(|exit| exit.clone()) else {
            return ("closed stdout but keeps running".to_owned(), None);
        };
        if timeout(self.grace, &mut self.draining).await.is_err() && self.tail.is_within_line() {
            self.tail.mark_cut();
        }
        let words = if self.heard.get().is_some() { self.tail.telling_line() } else { self.tail.last_words() };
        (with_words(exit.to_string(), words), Some(exit))
    }
}

/// How a process ended, with its words on stderr.
fn with_words(how: String, words: Option<String>) -> String {
    match words {
        Some(line) => format!("{how}; on stderr: {line}"),
        None => how,
    }
}

/// Passes on a line; returns whether it is a message.
async fn take(channel: &Channel, limit: usize, line: Line) -> bool {
    let nowhere = Carrier::default();
    match line {
        Line::Whole { bytes, crlf, terminated } => {
            let flaws: Vec<&str> = [(crlf, "crlf"), (!terminated, "unterminated")]
                .iter()
                .filter(|flaw| flaw.0)
                .map(|flaw| flaw.1)
                .collect();
            return channel.received(nowhere, &bytes, &flaws, None).await;
        }
        Line::TooLong { beginning } => {
            channel.junk(nowhere, &beginning, beginning.len() as u64, Reason::too_long(limit), None).await;
        }
        Line::TooLongEnded { length } => {
            channel.note(Carrier::default(), format!("the line that was too long ended after {length} bytes"), None);
        }
        Line::Empty { count } => {
            let why = if count == 1 { "empty line".to_owned() } else { format!("{count} empty lines") };
            channel.junk(nowhere, b"", 0, Reason::new(Cause::EmptyLine, why), None).await;
        }
    }
    false
}
