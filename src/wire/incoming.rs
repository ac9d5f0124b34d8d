//! What a connection hands to the session.

use serde_json::Value;

use crate::evidence::HttpStatus;

/// What came, in the order of arrival.
#[derive(Debug)]
pub enum Incoming {
    /// Any JSON value; a batch arrives whole.
    Message { frame: u64, message: Value, post: Option<u64> },
    /// Bytes that are no JSON.
    Junk { frame: u64, post: Option<u64>, why: String },
    /// The head of the response to an HTTP request.
    Head { frame: u64, post: u64, status: HttpStatus },
    /// An HTTP exchange is over, its event stream included. `failure` where it did not end as HTTP does.
    PostDone { post: u64, failure: Option<String> },
    /// Nothing more will come on this connection: the process ended or closed stdout, or the event stream of HTTP+SSE did.
    Closed { why: String },
}
