//! What a connection hands to the session.

use serde_json::Value;

use crate::evidence::{HttpStatus, Reason};

/// What came, in the order of arrival.
#[derive(Debug)]
pub enum Incoming {
    /// Any JSON value; a batch arrives whole.
    Message { frame: u64, message: Value, post: Option<u64> },
    /// Bytes that are no JSON; `id` is that of the response that they may be all the same, beyond what is read.
    Junk { frame: u64, post: Option<u64>, why: Reason, id: Option<Value> },
    /// The body of a response that is no place for messages, if it is JSON.
    Document { frame: u64, post: Option<u64>, document: Option<Value> },
    /// The head of the response to an HTTP request.
    Head { frame: u64, post: u64, status: HttpStatus },
    /// A further stream of HTTP+SSE named the address that takes its messages.
    Endpoint { post: u64, url: String },
    /// An HTTP exchange is over, its event stream included. `failure` where it did not end as HTTP does.
    PostDone { post: u64, failure: Option<Reason> },
    /// Nothing more will come on this connection: the process ended or closed stdout, or the event stream of HTTP+SSE did.
    Closed { why: String },
}
