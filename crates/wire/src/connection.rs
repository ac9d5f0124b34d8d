//! One connection to the server under test, whatever the transport.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;

use super::{
    Ending, Envelope, HttpRequest, Incoming, OpenError, Posted, PutOff,
    channel::Channel,
    exchange::Role,
    http::{Body, Http},
    login::{self, LoggedIn},
    process::Started,
    sse::Sse,
    stdio::Stdio,
};
use crate::target::{Limits, Start, Target};
use conform_model::evidence::{Event, Recorder, Transport};

/// Everything that is sent or received is recorded. What is received also goes to the receiver.
///
/// Dropping it closes the connection at once: a process is killed, with all its children.
pub struct Wire(Kind);

enum Kind {
    Stdio(Stdio),
    Http(Http),
    Sse(Sse),
}

impl Wire {
    pub async fn open(
        target: &Target,
        limits: &Limits,
        recorder: &Recorder,
    ) -> Result<(Self, mpsc::Receiver<Incoming>), OpenError> {
        match &target.start {
            Start::Program(program) => Ok(Self::over(Started::now(program, target, limits)?, target, limits, recorder)),
            Start::Url { transport, url, headers } if !transport.capabilities().endpoint => {
                let (http, incoming) = Http::open(url, headers, target, limits, *transport, recorder)?;
                Ok((Self(Kind::Http(http)), incoming))
            }
            Start::Url { url, headers, .. } => {
                let (sse, incoming) = Sse::open(url, headers, target, limits, recorder).await?;
                Ok((Self(Kind::Sse(sse)), incoming))
            }
        }
    }

    /// A connection to a process that has received nothing yet.
    pub fn over(
        started: Started,
        target: &Target,
        limits: &Limits,
        recorder: &Recorder,
    ) -> (Self, mpsc::Receiver<Incoming>) {
        let (stdio, incoming) = Stdio::over(started, target, limits, recorder);
        (Self(Kind::Stdio(stdio)), incoming)
    }

    pub fn link(&self) -> u32 {
        self.channel().link
    }

    /// Records that the connection is given up. Requests open for less than `patience` might still have got a response.
    pub fn gave_up(&self, why: &str, patience: Duration) {
        self.channel().gave_up(why, patience);
    }

    fn channel(&self) -> &Channel {
        match &self.0 {
            Kind::Stdio(stdio) => &stdio.channel,
            Kind::Http(http) | Kind::Sse(Sse { http, .. }) => &http.core.channel,
        }
    }

    pub fn transport(&self) -> Transport {
        match &self.0 {
            Kind::Stdio(_) => Transport::Stdio,
            Kind::Http(_) => Transport::Http,
            Kind::Sse(_) => Transport::Sse,
        }
    }

    /// Records and sends one message; never waits for a server that does not read. `Err`: the connection is closed.
    pub fn send(&self, envelope: &Envelope, message: &Value) -> Result<Posted, String> {
        match &self.0 {
            Kind::Stdio(stdio) => stdio.send(envelope, message),
            Kind::Http(http) => http.send(envelope, Body::Message(message)),
            Kind::Sse(sse) => sse.send(envelope, Body::Message(message)),
        }
    }

    /// Sends bytes in place of a message: over stdio a line, in this many pieces, over HTTP the body of a POST.
    pub fn send_raw(&self, envelope: &Envelope, bytes: &[u8], pieces: usize) -> Result<Posted, String> {
        match &self.0 {
            Kind::Stdio(stdio) => stdio.send_raw(envelope, bytes, pieces),
            Kind::Http(http) => http.send(envelope, Body::Raw(bytes)),
            Kind::Sse(sse) => sse.send(envelope, Body::Raw(bytes)),
        }
    }

    /// Sends a complete HTTP request. Everything received for it has the number of its exchange.
    pub fn http(&self, request: &HttpRequest) -> Result<Posted, String> {
        match &self.0 {
            Kind::Stdio(_) => Err("stdio has no HTTP requests".to_owned()),
            Kind::Http(http) => http.request(&http.core.url, request),
            Kind::Sse(sse) => sse.http.request(&sse.messages, request),
        }
    }

    /// Opens the URL as a user's browser, logs in, and approves or denies. Ends at the redirect to the client.
    pub async fn login(&self, request: &HttpRequest, denies: bool) -> LoggedIn {
        match &self.0 {
            Kind::Http(http) => login::login(http, request, denies).await,
            Kind::Stdio(_) | Kind::Sse(_) => LoggedIn::default(),
        }
    }

    /// What is known of a received token or code.
    pub fn described(&self, placeholder: &str) -> Option<Value> {
        self.channel().received.described(placeholder)
    }

    /// Waits until a process has read what was sent to it, if the system reports that.
    pub async fn taken(&self) {
        if let Kind::Stdio(stdio) = &self.0 {
            stdio.taken().await;
        }
    }

    /// Opens the standalone event stream of Streamable HTTP (GET).
    pub fn listen(&self, envelope: &Envelope) -> Result<Posted, String> {
        match &self.0 {
            Kind::Http(http) => http.listen(envelope, Role::Usual),
            Kind::Stdio(_) | Kind::Sse(_) => Err("only Streamable HTTP has a stream to open".to_owned()),
        }
    }

    /// Closes an exchange and its stream, like a disconnecting client. Its `PostDone` is still received.
    pub fn abandon(&self, post: u64) {
        if let Kind::Http(http) | Kind::Sse(Sse { http, .. }) = &self.0 {
            http.abandon(post);
        }
    }

    /// How often the server delayed a request, and for how long.
    pub fn put_off(&self, post: Option<u64>) -> PutOff {
        match (&self.0, post) {
            (Kind::Http(http) | Kind::Sse(Sse { http, .. }), Some(post)) => http.put_off(post),
            _ => PutOff::default(),
        }
    }

    /// The last event id of a stream and the last reconnection time in milliseconds, for resuming it.
    pub fn last_event(&self, post: u64) -> Option<Event> {
        match &self.0 {
            Kind::Stdio(_) => None,
            Kind::Http(http) | Kind::Sse(Sse { http, .. }) => http.last_event(post),
        }
    }

    /// Stops the process of an abandoned connection, because it may prevent others from starting.
    pub async fn kill(&self) {
        if let Kind::Stdio(stdio) = &self.0 {
            stdio.kill().await;
        }
    }

    /// Closes the connection in order. Messages that arrive meanwhile are recorded.
    pub async fn close(self) -> Ending {
        match self.0 {
            Kind::Stdio(stdio) => stdio.close().await,
            Kind::Http(http) | Kind::Sse(Sse { http, .. }) => http.close(),
        }
    }

    /// The last output of the server on stderr.
    pub fn stderr_tail(&self) -> String {
        match &self.0 {
            Kind::Stdio(stdio) => stdio.tail.text(),
            Kind::Http(_) | Kind::Sse(_) => String::new(),
        }
    }
}
