//! What a connection passes to the session.

use serde_json::Value;

use conform_model::evidence::{Exit, HttpStatus, Reason};

/// Everything that was received, in the order of arrival.
#[derive(Debug)]
pub enum Incoming {
    /// Any JSON value; a batch is one value.
    Message { frame: u64, message: Value, post: Option<u64> },
    /// Bytes that are not valid JSON or exceed a limit; `id` is set if they may still be a response.
    Junk { frame: u64, post: Option<u64>, why: Reason, id: Option<Value> },
    /// A body that cannot contain a message, parsed if it is JSON.
    Document { frame: u64, post: Option<u64>, document: Option<Value> },
    /// The head of the response to an HTTP request.
    Head { frame: u64, post: u64, status: HttpStatus },
    /// Another stream of HTTP+SSE sent its URL for messages.
    Endpoint { post: u64, url: String },
    /// An HTTP exchange ended, with its event stream. `failure` is set if it did not end properly.
    PostDone { post: u64, failure: Option<Reason> },
    /// The connection is closed: the process exited or closed stdout, or the event stream of HTTP+SSE ended.
    Closed { why: String, exit: Option<Exit> },
}
