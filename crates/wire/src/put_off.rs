//! Repeats requests that a server rejected because of a rate limit, whose connection ended, or that were sent while the
//! server was restarting. The delay does not count as the response time of the request.

use std::time::Duration;

use reqwest::{Response, StatusCode, header::RETRY_AFTER};
use tokio::time::Instant;

/// After this many rejections the server rejects the request for good.
const TIMES_AT_MOST: u32 = 6;
/// A longer delay is not waited for. A guess.
const LONGEST: Duration = Duration::from_secs(30);
/// Status 503 alone may also mean a permanent failure. It is taken as temporary this many times, ...
const TIMES_IF_BUSY: u32 = 4;
/// ... until this many requests were repeated without success.
const MAX_FAILED_503: usize = 2;
/// The delay if the server sends no `Retry-After`; it doubles each time. A guess.
const FIRST: Duration = Duration::from_millis(500);

/// The first time, a connection may have ended for a reason other than the request. After this delay it does not.
/// A guess.
const SETTLED: Duration = Duration::from_millis(300);
/// How often a request is sent at most while its connections end, ...
const DELIVERIES: u32 = 3;
/// ... and a tool call, which may have side effects: the server may have closed an idle connection at that moment.
const DELIVERIES_OF_CALLS: u32 = 2;
/// Requests whose connections ended together are repeated with this interval, so that only the one that caused it
/// fails. A guess.
const APART: Duration = Duration::from_millis(60);
const ASKED_AT_ONCE: u64 = 8;

/// A supervisor restarts a server within this time, ...
const AWAY: Duration = Duration::from_secs(3);
/// ... in which this many connections are tried. Guesses.
const TRIES: u32 = 12;

/// The attempts of a request so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PutOff {
    pub times: u32,
    /// The time of all attempts, including the current delay.
    pub took: Duration,
    /// The number of `connection refused` errors after the server had been reachable.
    missed: u32,
    /// How often its connection ended before a response.
    cut_off: u32,
    /// Each attempt ended in `connection refused`, so the request was never sent.
    pub unsent: bool,
    /// The server exited during the request, or each of its connections ended.
    pub fatal: bool,
}

impl PutOff {
    /// The delay before the request is repeated, if the response says that the server is busy. `unavailable` is the
    /// number of requests whose final response was status 503.
    pub fn again(&mut self, response: &Response, sent: Instant, unavailable: usize) -> Option<Duration> {
        let told = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.trim().parse().ok());
        let told = told.map(Duration::from_secs);
        let times = match response.status() {
            StatusCode::TOO_MANY_REQUESTS => TIMES_AT_MOST,
            StatusCode::SERVICE_UNAVAILABLE if told.is_some() => TIMES_AT_MOST,
            StatusCode::SERVICE_UNAVAILABLE if unavailable < MAX_FAILED_503 => TIMES_IF_BUSY,
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

    /// The delay before the request is repeated after its connection ended without a response.
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

    /// The delay before the next attempt after no connection was established.
    pub fn missed(&mut self, was_there: bool, sent: Instant) -> Option<Duration> {
        if !was_there || self.missed == TRIES {
            // If the request was sent before, it may have crashed the server.
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
