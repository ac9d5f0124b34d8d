//! The body of a response on its way to the client.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use hyper::body::{Body, Bytes, Frame};

use super::Exchange;
use conform_model::evidence::Ended;

/// The body of the server's response, recorded as the client reads it.
pub struct TappedBody<B> {
    body: B,
    exchange: Exchange,
}

impl<B> TappedBody<B> {
    pub fn new(body: B, exchange: Exchange) -> Self {
        Self { body, exchange }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for TappedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.exchange.feed(data);
                }
                if self.body.is_end_stream() {
                    self.exchange.end(Ended::Complete);
                }
            }
            Some(Err(_)) => self.exchange.end(Ended::Broken),
            None => self.exchange.end(Ended::Complete),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}
