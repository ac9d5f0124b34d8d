use std::time::Duration;

use serde_json::Value;

use super::{complete::Deviation, unanswered::Wanted};

/// How a request differs from a normal one.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// An id to use instead of the next number.
    pub id: Option<Value>,
    /// How it deliberately deviates from a complete request.
    pub deviation: Deviation,
    /// Replaces the request timeout.
    pub timeout: Option<Duration>,
    /// Additional HTTP headers.
    pub headers: Vec<(String, String)>,
    /// Cancel after this time. A request that is slow by nature does not show that the server hangs.
    pub patience: Option<Duration>,
    /// It is the first request to a process, and the start of the process does not count.
    pub starting: bool,
    /// Set for a request of a step, which is skipped if similar ones get no response.
    pub wanted: Option<Wanted>,
}
