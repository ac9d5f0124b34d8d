//! A process that the client started as its server, and how the client treats it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, duplex, split},
    sync::mpsc,
    time::Instant,
};

use super::packets::{Kind, receive, send};
use crate::{
    evidence::{Ended, Side},
    reference,
    tap::{LineTap, Tap},
};

/// More than a pipe holds, so that input that a server does not read hides nothing that follows it.
const CAPACITY: usize = 1 << 20;
const ONE_READ: usize = 64 << 10;

/// What is known of the process.
#[derive(Default)]
pub struct Spawned {
    /// Which of the client's processes it is, from 0.
    pub number: usize,
    hello: Value,
    stdin_closed: Option<Duration>,
    /// Whether stdin ended in the middle of a line.
    cut: bool,
    signals: Vec<(String, Duration)>,
    exited: bool,
    took: Duration,
}

impl Spawned {
    /// Whether it exited while the client used it.
    pub fn exited_unasked(&self) -> bool {
        self.exited && self.signals.is_empty() && self.stdin_closed.is_none()
    }

    /// As rules see it.
    pub fn described(&self, link: u32) -> Value {
        let first = self.signals.first().map(|(_, at)| *at);
        let ended_by = match (self.exited, first, self.stdin_closed) {
            (_, Some(_), _) => "signal",
            (true, None, Some(_)) => "stdin",
            (true, None, None) => "server",
            (false, None, _) => "kill",
        };
        let ms = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        // A killed process cannot report the signal.
        let first = first.or((!self.exited).then_some(self.took));
        let to_signal = first.zip(self.stdin_closed).map(|(signal, closed)| ms(signal.saturating_sub(closed)));
        json!({
            "arguments": self.hello["arguments"],
            "nr": self.number,
            "cut": self.cut,
            "stdin_closed": self.stdin_closed.is_some(),
            "signals": self.signals.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "ms_to_signal": to_signal,
            "ended_by": ended_by,
            "ms": ms(self.took),
            "link": link,
            "frames": [],
        })
    }
}

/// Serves one of these processes until it ends.
pub async fn serve_stub(
    stream: impl AsyncRead + AsyncWrite,
    options: reference::server::Options,
    tap: Tap,
    number: usize,
) -> Spawned {
    let began = Instant::now();
    let (mut from, mut to) = split(stream);
    let (input, read) = duplex(CAPACITY);
    let (written, mut output) = duplex(CAPACITY);
    let (said, mut errors) = duplex(CAPACITY);
    let (tell, mut packets) = mpsc::channel::<(Kind, Vec<u8>)>(16);
    let mut spawned = Spawned { number, ..Spawned::default() };
    let server = async {
        let served = reference::server::serve(options, read, written, said).await;
        let why = served.err();
        (u8::from(why.is_some()), why)
    };
    let output_tap = tap.clone();
    let forward = async {
        let outputs = async {
            let mut lines = LineTap::new(output_tap, Side::Server);
            let mut piece = vec![0; ONE_READ];
            while let Ok(length @ 1..) = output.read(&mut piece).await {
                lines.feed(&piece[..length]);
                if tell.send((Kind::Stdout, piece[..length].to_owned())).await.is_err() {
                    break;
                }
            }
            lines.finish();
        };
        let said = async {
            let mut piece = vec![0; ONE_READ];
            while let Ok(length @ 1..) = errors.read(&mut piece).await {
                if tell.send((Kind::Stderr, piece[..length].to_owned())).await.is_err() {
                    break;
                }
            }
        };
        let ((code, why), (), ()) = tokio::join!(server, outputs, said);
        if let Some(why) = why {
            let _ = tell.send((Kind::Stderr, format!("{why}\n").into_bytes())).await;
        }
        let _ = tell.send((Kind::Exit, vec![code])).await;
    };
    let sending = async {
        while let Some((kind, bytes)) = packets.recv().await {
            if send(&mut to, kind, &bytes).await.is_err() {
                return false;
            }
            if kind == Kind::Exit {
                return true;
            }
        }
        false
    };
    let reading = take(&mut from, input, &tap, began, &mut spawned);
    let exited = {
        tokio::pin!(reading);
        let serving = async { tokio::join!(forward, sending).1 };
        tokio::pin!(serving);
        tokio::select! {
            exited = &mut serving => exited,
            () = &mut reading => false,
        }
    };
    spawned.exited = exited;
    spawned.took = began.elapsed();
    let ended = match (exited, spawned.signals.is_empty(), spawned.stdin_closed) {
        (true, _, None) => Ended::Unasked,
        (true, ..) => Ended::StdinClosed,
        (false, false, _) => Ended::Terminated,
        (false, true, _) => Ended::Killed,
    };
    tap.ended("the process that the client started has ended", ended, None);
    spawned
}

/// Reads the packets of the stub until it ends.
async fn take(
    from: &mut (impl AsyncRead + Unpin),
    input: DuplexStream,
    tap: &Tap,
    began: Instant,
    spawned: &mut Spawned,
) {
    let mut input: Option<Box<dyn AsyncWrite + Send + Unpin>> = Some(Box::new(input));
    let mut lines = Some(LineTap::new(tap.clone(), Side::Client));
    while let Ok(Some((kind, bytes))) = receive(from).await {
        match kind {
            Kind::Hello => spawned.hello = serde_json::from_slice(&bytes).unwrap_or_default(),
            Kind::Stdin => {
                spawned.cut = bytes.last() != Some(&b'\n');
                if let Some(lines) = &mut lines {
                    lines.feed(&bytes);
                }
                if let Some(input) = &mut input {
                    let _ = input.write_all(&bytes).await;
                }
            }
            Kind::End => {
                if let Some(lines) = lines.take() {
                    lines.finish();
                }
                input = None;
                spawned.stdin_closed = Some(began.elapsed());
                tap.note(Side::Client, "stdin was closed");
            }
            Kind::Signal => {
                let name = String::from_utf8_lossy(&bytes).into_owned();
                tap.note(Side::Client, format!("the client sent {name}"));
                spawned.signals.push((name, began.elapsed()));
            }
            _ => {}
        }
    }
    if let Some(lines) = lines {
        lines.finish();
    }
}
