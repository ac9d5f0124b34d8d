//! Requests that wait for their replies, and what arrived meanwhile.

use serde_json::Value;
use tokio::sync::oneshot;

use conform_model::evidence::{HttpStatus, Reason, correlate::Request};

/// How the wait for a reply ended.
#[derive(Debug)]
pub enum Outcome {
    Response {
        frame: u64,
        message: Value,
    },
    /// A subscription was acknowledged, or an event stream began.
    Open,
    /// The HTTP exchange ended without a response.
    Done {
        junk: Option<(u64, Reason)>,
        failure: Option<Reason>,
    },
    Closed(String),
}

/// A request that waits for its reply.
pub struct Waiter {
    pub number: u64,
    /// The number of responses before it was sent.
    pub answered: u64,
    /// Absent for raw bytes and whole HTTP requests.
    pub id: Option<Value>,
    /// Its progress token.
    pub token: Option<Value>,
    pub post: Option<u64>,
    /// The last event id of a stream that ended before the response.
    pub left_at: Option<String>,
    /// Accepts an error without id, as servers send for unreadable bytes, and the code that is expected then.
    pub unidentified: Option<i64>,
    /// Ends with the HTTP exchange even if a response arrived, so that the whole exchange is recorded.
    pub whole_exchange: bool,
    /// Ends, and closes the exchange, when an event stream begins.
    pub opens: bool,
    pub subscription: bool,
    pub seen: Seen,
    pub tell: oneshot::Sender<(Outcome, Seen)>,
}

impl Waiter {
    pub fn request(&self) -> Request<'_> {
        Request {
            number: self.number,
            id: self.id.as_ref(),
            exchange: self.post,
            subscription: self.subscription,
            unreadable: self.unidentified,
            whole_exchange: self.whole_exchange,
        }
    }
}

/// What arrived while a request waited.
#[derive(Debug, Default)]
pub struct Seen {
    pub http: Option<HttpStatus>,
    pub endpoint: Option<String>,
    pub notifications: Vec<Value>,
    pub frames: Vec<u64>,
    pub junk: Option<(u64, Reason)>,
    pub response: Option<(u64, Value)>,
    /// Requests of the server.
    pub wanted: Vec<Value>,
    /// A body that cannot be a message, if it is JSON.
    pub document: Option<(u64, Option<Value>)>,
}

/// A notification or request of the server, with its frame.
pub struct Arrived {
    pub frame: u64,
    pub message: Value,
}
