//! Bodies of HTTP responses: complete, or event by event.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use hyper::{
    Response, StatusCode,
    body::{Bytes, Frame},
    header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue},
};
use tokio::sync::mpsc::{Receiver, channel};

use crate::{faults::Rewrite, turn::Outgoing};

pub enum Body {
    Whole(Option<Bytes>),
    /// Event by event, and how each is changed before it is sent.
    Events(Receiver<Bytes>, Option<Rewrite>),
}

pub type Reply = Response<Body>;

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match &mut *self {
            Self::Whole(bytes) => Poll::Ready(bytes.take()),
            Self::Events(events, change) => events.poll_recv(context).map(|event| match change {
                Some(change) => event.map(|event| change(&event).into()),
                None => event,
            }),
        };
        data.map(|data| data.map(|data| Ok(Frame::data(data))))
    }
}

pub fn empty(status: StatusCode) -> Reply {
    reply(status, Body::Whole(None))
}

/// As text without a content type, like many servers of HTTP+SSE respond to a message.
pub fn accepted() -> Reply {
    reply(StatusCode::ACCEPTED, Body::Whole(Some("Accepted".into())))
}

pub fn json(status: u16, bytes: Vec<u8>) -> Reply {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut reply = reply(status, Body::Whole(Some(bytes.into())));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

/// A complete event stream.
pub fn all_events(out: &[Outgoing]) -> Reply {
    events_of(&out.iter().map(|out| out.bytes.clone().into()).collect::<Vec<_>>())
}

/// An event stream of these messages.
pub fn events_of(messages: &[Bytes]) -> Reply {
    let (sender, receiver) = channel(messages.len().max(1));
    for message in messages {
        sender.try_send(event("message", None, message)).ok();
    }
    events(receiver)
}

pub fn events(events: Receiver<Bytes>) -> Reply {
    let mut reply = reply(StatusCode::OK, Body::Events(events, None));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    reply
}

fn reply(status: StatusCode, body: Body) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    reply
}

/// One event of an event stream. A line break in the data begins another `data` line.
pub fn event(name: &str, id: Option<&str>, data: &[u8]) -> Bytes {
    let mut event = format!("event: {name}\n").into_bytes();
    if let Some(id) = id {
        event.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    for line in data.split(|&byte| byte == b'\n') {
        event.extend_from_slice(b"data: ");
        event.extend_from_slice(line);
        event.push(b'\n');
    }
    event.push(b'\n');
    event.into()
}
