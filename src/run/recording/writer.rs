//! The thread that reads the queue and writes the record.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, channel},
    },
    thread,
};

use super::{
    exchanges::Exchanges,
    file::{LAST, Output},
    queue::{Queue, Seen, Taken, queue},
};
use crate::{
    evidence::{Recorder, Side, Transport},
    tap::{LineTap, Tap},
    wire::Secrets,
};

/// The transport between client and server.
pub enum Between {
    Stdio,
    /// HTTP, with the path of the server.
    Http(String),
}

pub struct Writer {
    pub queue: Queue,
    done: Receiver<()>,
}

impl Writer {
    /// `secrets` are removed from the record wherever they occur.
    pub fn start(output: Output, between: Between, secrets: Vec<String>) -> Self {
        let (queue, taken) = queue();
        let (tell, done) = channel();
        thread::spawn(move || {
            Writing::new(output, between, secrets).until_last(&taken);
            let _ = tell.send(());
        });
        Self { queue, done }
    }

    /// Waits a limited time for the rest of the record.
    pub fn close(self) {
        self.queue.note(Seen::Last);
        let _ = self.done.recv_timeout(LAST);
    }
}

struct Writing {
    output: Arc<Mutex<Output>>,
    recorder: Recorder,
    passing: Passing,
}

enum Passing {
    Stdio(Box<Process>),
    Http(Box<Exchanges>),
}

struct Process {
    tap: Tap,
    secrets: Secrets,
    client: Half,
    server: Half,
}

/// One direction of stdio.
struct Half {
    side: Side,
    lines: Option<LineTap>,
    /// The rest of the line belongs to a message whose beginning is missing.
    skips: bool,
}

impl Half {
    fn new(side: Side, tap: &Tap) -> Self {
        Self { side, lines: Some(LineTap::new(tap.clone(), side)), skips: false }
    }

    fn feed(&mut self, mut chunk: &[u8]) {
        if self.skips {
            let Some(end) = chunk.iter().position(|byte| *byte == b'\n') else { return };
            chunk = &chunk[end + 1..];
            self.skips = false;
        }
        if let Some(lines) = &mut self.lines {
            lines.feed(chunk);
        }
    }

    fn finish(&mut self) {
        if let Some(lines) = self.lines.take().filter(|_| !self.skips) {
            lines.finish();
        }
    }

    fn missed(&mut self, tap: &Tap) {
        if self.lines.is_some() {
            (self.lines, self.skips) = (Some(LineTap::new(tap.clone(), self.side)), true);
        }
    }
}

impl Writing {
    fn new(output: Output, between: Between, secrets: Vec<String>) -> Self {
        let output = Arc::new(Mutex::new(output));
        let file = Arc::clone(&output);
        let recorder = Recorder::to(Box::new(move |kind, text| lock(&file).line(kind, text)));
        let passing = match between {
            Between::Stdio => {
                let secrets = Secrets::of(secrets);
                let tap = Tap::new(recorder.clone(), recorder.open_link(Transport::Stdio))
                    .hiding_credentials(secrets.clone());
                let [client, server] = [Side::Client, Side::Server].map(|side| Half::new(side, &tap));
                Passing::Stdio(Box::new(Process { tap, secrets, client, server }))
            }
            Between::Http(path) => Passing::Http(Box::new(Exchanges::new(recorder.clone(), path, secrets))),
        };
        Self { output, recorder, passing }
    }

    fn until_last(mut self, taken: &Taken) {
        let output = Arc::clone(&self.output);
        while let Some((at, seen)) = taken.next(|| lock(&output).flush()) {
            if matches!(seen, Seen::Last) {
                break;
            }
            self.recorder.seen_at(at);
            match &mut self.passing {
                Passing::Stdio(process) => process.take(seen, &self.recorder, &output),
                Passing::Http(exchanges) => take_http(exchanges, seen, &output),
            }
        }
        if let Passing::Stdio(process) = &mut self.passing {
            process.client.finish();
            process.server.finish();
        }
        lock(&output).close();
    }
}

impl Process {
    fn take(&mut self, seen: Seen, recorder: &Recorder, output: &Mutex<Output>) {
        match seen {
            Seen::Chunk(Side::Client, bytes) => self.client.feed(&bytes),
            Seen::Chunk(Side::Server, bytes) => self.server.feed(&bytes),
            Seen::Finished(Side::Client) => self.client.finish(),
            Seen::Finished(Side::Server) => self.server.finish(),
            Seen::Note(side, text) => self.tap.note(side, text),
            Seen::Exited(text, ended, exit) => {
                self.server.finish();
                self.tap.ended(text, ended, Some(exit));
            }
            Seen::Gap(count) => {
                lock(output).note(missing(count));
                let link = recorder.open_link(Transport::Stdio);
                recorder.late(link);
                self.tap = Tap::new(recorder.clone(), link).hiding_credentials(self.secrets.clone());
                self.client.missed(&self.tap);
                self.server.missed(&self.tap);
            }
            _ => {}
        }
    }
}

fn take_http(exchanges: &mut Exchanges, seen: Seen, output: &Mutex<Output>) {
    match seen {
        Seen::Request { exchange, connection, peer, head } => exchanges.request(exchange, connection, peer, head),
        Seen::RequestBody(exchange, bytes) => exchanges.request_body(exchange, &bytes),
        Seen::RequestEnd(exchange) => exchanges.begin(exchange),
        Seen::Response(exchange, head) => exchanges.respond(exchange, &head),
        Seen::ResponseBody(exchange, bytes) => exchanges.response_body(exchange, &bytes),
        Seen::Over(exchange, ended) => exchanges.over(exchange, ended),
        Seen::Disconnected(connection) => exchanges.disconnected(connection),
        Seen::Gap(count) => {
            lock(output).note(missing(count));
            exchanges.missed();
        }
        _ => {}
    }
}

fn missing(count: u64) -> String {
    format!(
        "{count} pieces of traffic were not recorded, as the file was written more slowly than they arrived; conversations \
         are judged up to there"
    )
}

fn lock(output: &Mutex<Output>) -> MutexGuard<'_, Output> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}
