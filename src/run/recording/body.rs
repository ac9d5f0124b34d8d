//! Bodies of requests and responses: each chunk is recorded and forwarded as it arrives.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};

use super::{
    endpoint::Rewrite,
    queue::{Queue, Seen},
};
use crate::evidence::Ended;

/// The body of a request.
pub struct RequestBody {
    body: Incoming,
    exchange: u64,
    queue: Queue,
}

impl RequestBody {
    pub fn new(body: Incoming, exchange: u64, queue: Queue) -> Self {
        Self { body, exchange, queue }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.queue.note(Seen::RequestBody(self.exchange, data.clone()));
        }
        if frame.is_none() || self.body.is_end_stream() {
            self.queue.note(Seen::RequestEnd(self.exchange));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Ends an exchange when it is dropped: after the response, or when the client has disconnected.
pub struct Ending {
    exchange: u64,
    queue: Queue,
    over: bool,
}

impl Ending {
    pub fn new(exchange: u64, queue: Queue) -> Self {
        Self { exchange, queue, over: false }
    }

    pub fn end(&mut self, ended: Ended) {
        if !self.over {
            self.over = true;
            self.queue.note(Seen::Over(self.exchange, ended));
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.end(Ended::Dropped);
    }
}

/// The body of a response.
pub struct ResponseBody<B> {
    body: B,
    ending: Ending,
    /// A change to the beginning of the body.
    rewrite: Option<Rewrite>,
}

impl<B> ResponseBody<B> {
    pub fn new(body: B, ending: Ending, rewrite: Option<Rewrite>) -> Self {
        Self { body, ending, rewrite }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for ResponseBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        loop {
            let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
            match frame {
                Some(Ok(frame)) => {
                    let frame = match frame.into_data() {
                        Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                        Ok(data) => {
                            self.ending.queue.note(Seen::ResponseBody(self.ending.exchange, data.clone()));
                            match self.rewrite.as_mut().map(|rewrite| rewrite.feed(&data)) {
                                None => data,
                                Some(changed) if changed.is_empty() => continue,
                                Some(changed) => changed.into(),
                            }
                        }
                    };
                    if self.body.is_end_stream() {
                        self.ending.end(Ended::Complete);
                    }
                    return Poll::Ready(Some(Ok(Frame::data(frame))));
                }
                Some(Err(why)) => {
                    self.ending.end(Ended::Broken);
                    return Poll::Ready(Some(Err(why)));
                }
                None => {
                    self.ending.end(Ended::Complete);
                    let rest = self.rewrite.take().map(Rewrite::finish).unwrap_or_default();
                    return Poll::Ready((!rest.is_empty()).then(|| Ok(Frame::data(rest.into()))));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream() && self.rewrite.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        if self.rewrite.is_some() { SizeHint::default() } else { self.body.size_hint() }
    }
}
