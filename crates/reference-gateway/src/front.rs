//! Responses of the reference gateway over HTTP.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use hyper::{
    Response, StatusCode,
    body::{Bytes, Frame},
};
use tokio::sync::{mpsc::UnboundedReceiver, oneshot};

pub enum Body {
    Whole(Option<Bytes>),
    /// The second part is dropped with the body, when the client has read everything or has left.
    Events(UnboundedReceiver<Bytes>, #[expect(dead_code)] Option<oneshot::Sender<()>>),
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match &mut *self {
            Self::Whole(bytes) => Poll::Ready(bytes.take()),
            Self::Events(events, _) => events.poll_recv(context),
        };
        data.map(|data| data.map(|data| Ok(Frame::data(data))))
    }
}

fn reply(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

pub fn empty(status: StatusCode) -> Response<Body> {
    reply(status, Body::Whole(None))
}

pub fn rejected(status: StatusCode, why: &'static str) -> Response<Body> {
    reply(status, Body::Whole(Some(Bytes::from_static(why.as_bytes()))))
}

pub fn events(receiver: UnboundedReceiver<Bytes>, end: Option<oneshot::Sender<()>>) -> Response<Body> {
    let mut response = reply(StatusCode::OK, Body::Events(receiver, end));
    response.headers_mut().insert("content-type", hyper::header::HeaderValue::from_static("text/event-stream"));
    response
}

/// One event; the data is one line.
pub fn event(name: &str, data: &str) -> Bytes {
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// A session id that cannot be guessed.
pub fn number() -> String {
    let mut bytes = [0; 16];
    // Without random numbers of the system no session can be created.
    getrandom::fill(&mut bytes).unwrap_or_else(|why| unreachable!("the system has random numbers: {why}"));
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
