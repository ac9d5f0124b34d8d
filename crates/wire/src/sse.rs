//! A server of the HTTP+SSE transport: all responses are on one event stream, all requests go to the URL that it names.

use reqwest::Url;
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use super::{
    Envelope, Incoming, OpenError, Posted,
    exchange::Role,
    failure::help,
    http::{Body, Http},
};
use crate::target::{Limits, Target};
use conform_model::evidence::{Cause, Reason, Recorder, Transport};

pub struct Sse {
    pub http: Http,
    /// Where messages go.
    pub messages: Url,
    /// The exchange of the event stream, which is the connection.
    stream: u64,
}

impl Sse {
    pub async fn open(
        url: &str,
        headers: &[(String, String)],
        target: &Target,
        limits: &Limits,
        recorder: &Recorder,
    ) -> Result<(Self, mpsc::Receiver<Incoming>), OpenError> {
        let (http, incoming) = Http::open(url, headers, target, limits, Transport::Sse, recorder)?;
        let failed_by = |came: Reason| OpenError {
            tried: format!("to open the event stream of {}", http.shown_url()),
            help: help(came.cause).unwrap_or("is this an HTTP+SSE server? Use --http for Streamable HTTP").to_owned(),
            cause: Some(came.cause),
            came: http.core.channel.hide(came.words),
        };
        let failed = |came: String| failed_by(Reason::new(Cause::Other, came));
        let (found, endpoint) = oneshot::channel();
        let envelope = Envelope { by: "handshake".to_owned(), headers: Vec::new() };
        let posted = http.listen(&envelope, Role::Stream(Some(found))).map_err(failed)?;
        let endpoint = match timeout(limits.request, endpoint).await {
            Ok(Ok(Ok(endpoint))) => endpoint,
            Ok(Ok(Err(why))) => return Err(failed_by(why)),
            Ok(Err(_)) | Err(_) => return Err(failed(format!("no endpoint event within {:?}", limits.request))),
        };
        let messages =
            http.core.url.join(&endpoint).map_err(|error| failed(format!("the endpoint {endpoint:?}: {error}")))?;
        if messages.origin() != http.core.url.origin() {
            return Err(failed(format!("the endpoint {messages} is on another server")));
        }
        let stream = posted.post.unwrap_or_default();
        Ok((Self { http, messages, stream }, incoming))
    }

    pub fn send(&self, envelope: &Envelope, body: Body) -> Result<Posted, String> {
        if !self.http.is_open(self.stream) {
            return Err("the event stream has ended".to_owned());
        }
        self.http.post(&self.messages, envelope, body, Role::Message)
    }
}
