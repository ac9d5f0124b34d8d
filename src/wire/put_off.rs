//! Sends requests again that were put off by a server that limits their rate, cut off, or sent while the server was away.
//! What that takes is not held against the request.

use std::time::Duration;

use reqwest::{Response, StatusCode, header::RETRY_AFTER};
use tokio::time::Instant;

/// A server that turns a request away more often than this means it.
const TIMES_AT_MOST: u32 = 6;
/// Longer than this nobody waits for one request.
const LONGEST: Duration = Duration::from_secs(30);
/// A status of 503 alone may also say that something is broken: it is believed to pass as often as this, ...
const TIMES_IF_BUSY: u32 = 4;
/// ... until so many requests were waited for without success.
const BUSY_IN_VAIN: usize = 2;
/// Where the server does not say when; each further time it is twice as long.
const FIRST: Duration = Duration::from_millis(500);

/// A connection that ended may have done so for another reason than the request, but not again after this time.
const SETTLED: Duration = Duration::from_millis(300);
/// A request is sent so often at most while its connections end, ...
const DELIVERIES: u32 = 3;
/// ... and one that may leave something behind so often: the server may have closed a connection just when it was used again.
const DELIVERIES_OF_CALLS: u32 = 2;
/// Requests whose connections ended together are sent again this far apart, so that the one to blame fails alone.
const APART: Duration = Duration::from_millis(60);
const ASKED_AT_ONCE: u64 = 8;

/// Whoever starts a server anew does so within this time, ...
const AWAY: Duration = Duration::from_secs(3);
/// ... in which it is tried so often.
const TRIES: u32 = 12;

/// How a request fared so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PutOff {
    pub times: u32,
    /// What they took, the wait that is under way included.
    pub took: Duration,
    /// How often nobody listened, after the server had been there.
    missed: u32,
    /// How often its connection has ended in place of a response.
    cut_off: u32,
    /// Nobody listens, and the request was never sent.
    pub unsent: bool,
    /// The server ended under it, or each of its connections.
    pub fatal: bool,
}

impl PutOff {
    /// How long to wait until it is sent once more, if the response says that it came too soon. `unavailable` is how many
    /// requests were answered by 503 in the end.
    pub fn again(&mut self, response: &Response, sent: Instant, unavailable: usize) -> Option<Duration> {
        let told = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.trim().parse().ok());
        let told = told.map(Duration::from_secs);
        let times = match response.status() {
            StatusCode::TOO_MANY_REQUESTS => TIMES_AT_MOST,
            StatusCode::SERVICE_UNAVAILABLE if told.is_some() => TIMES_AT_MOST,
            StatusCode::SERVICE_UNAVAILABLE if unavailable < BUSY_IN_VAIN => TIMES_IF_BUSY,
            _ => 0,
        };
        let least = FIRST * 2_u32.pow(self.times);
        let wait = told.unwrap_or_default().max(least);
        if self.times >= times || wait > LONGEST {
            return None;
        }
        self.times += 1;
        self.took += sent.elapsed() + wait;
        Some(wait)
    }

    /// How long to wait until it is tried once more, where its connection ended in place of a response.
    pub fn cut_off(&mut self, post: u64, sent: Instant, is_call: bool) -> Option<Duration> {
        self.cut_off += 1;
        self.fatal = self.cut_off == if is_call { DELIVERIES_OF_CALLS } else { DELIVERIES };
        if self.fatal {
            return None;
        }
        let wait = match self.cut_off {
            1 if !is_call => Duration::ZERO,
            _ => SETTLED + APART * u32::try_from(post % ASKED_AT_ONCE).unwrap_or_default(),
        };
        self.took += sent.elapsed() + wait;
        Some(wait)
    }

    /// How long to wait until it is tried once more, where no connection came about.
    pub fn missed(&mut self, was_there: bool, sent: Instant) -> Option<Duration> {
        if !was_there || self.missed == TRIES {
            // One that was sent before may be what the server ended under.
            self.unsent = self.cut_off == 0;
            self.fatal = !self.unsent;
            return None;
        }
        let wait = AWAY / TRIES;
        self.missed += 1;
        self.took += sent.elapsed() + wait;
        Some(wait)
    }
}
