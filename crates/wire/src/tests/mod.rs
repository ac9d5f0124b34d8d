//! Connections to real processes and sockets that misbehave in every way.

mod http;
mod http_secrets;
mod login;
mod server;
mod sse;
#[cfg(unix)]
mod stdio;

use std::time::Duration;

use serde_json::Value;
use tokio::{sync::mpsc::Receiver, time::timeout};

use super::*;
use crate::target::{Limits, Program, Start, Target, Token};
use conform_model::evidence::{Cause, Frame, FrameKind, Reason, Recorder, Transport};

/// Longer than anything here takes, so reaching it is a failure.
const PATIENCE: Duration = Duration::from_secs(20);

struct Open {
    wire: Wire,
    incoming: Receiver<Incoming>,
    recorder: Recorder,
}

fn limits() -> Limits {
    Limits { request: PATIENCE, grace: PATIENCE, ..Limits::default() }
}

fn envelope() -> Envelope {
    Envelope { by: "test".to_owned(), headers: vec![] }
}

async fn try_open(start: Start, limits: &Limits) -> Result<Open, OpenError> {
    open_target(&Target::new("test", start), limits).await
}

async fn open_target(target: &Target, limits: &Limits) -> Result<Open, OpenError> {
    let recorder = Recorder::new(limits.memory_bytes, limits.disk_bytes, limits.record_messages);
    let (wire, incoming) = Wire::open(target, limits, &recorder).await?;
    Ok(Open { wire, incoming, recorder })
}

async fn open(start: Start, limits: &Limits) -> Open {
    try_open(start, limits).await.expect("a connection")
}

impl Open {
    async fn next(&mut self) -> Incoming {
        timeout(PATIENCE, self.incoming.recv()).await.expect("something in time").expect("an open channel")
    }

    async fn message(&mut self) -> Value {
        match self.next().await {
            Incoming::Message { message, .. } => message,
            other => panic!("not a message: {other:?}"),
        }
    }

    async fn junk(&mut self) -> String {
        match self.next().await {
            Incoming::Junk { why, .. } => why.words,
            other => panic!("not junk: {other:?}"),
        }
    }

    async fn document(&mut self) -> Option<Value> {
        match self.next().await {
            Incoming::Document { document, .. } => document,
            other => panic!("not a document: {other:?}"),
        }
    }

    async fn closed(&mut self) -> String {
        match self.next().await {
            Incoming::Closed { why, .. } => why,
            other => panic!("not the end: {other:?}"),
        }
    }

    async fn head(&mut self) -> u16 {
        match self.next().await {
            Incoming::Head { status, .. } => status.status,
            other => panic!("not a head: {other:?}"),
        }
    }

    async fn post_done(&mut self) -> Option<String> {
        self.failure().await.map(|failure| failure.words)
    }

    async fn failure(&mut self) -> Option<Reason> {
        match self.next().await {
            Incoming::PostDone { failure, .. } => failure,
            other => panic!("not the end of an exchange: {other:?}"),
        }
    }

    fn frames(&self) -> Vec<Frame> {
        self.recorder.frames().map(|frame| (*frame).clone()).collect()
    }

    fn notes(&self) -> Vec<String> {
        let frames = self.frames().into_iter();
        frames.filter(|frame| frame.kind == FrameKind::Note).filter_map(|frame| frame.text).collect()
    }
}
