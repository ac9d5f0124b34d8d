//! Requests that a server puts off, as it takes only so many in a time, and those that find nobody listening, as it may be
//! started anew: each is sent again, and what that takes is not held against the request.

use std::time::{Duration, Instant};

use reqwest::{Response, StatusCode, header::RETRY_AFTER};

/// A server that turns a request away more often than this means it.
const TIMES_AT_MOST: u32 = 6;
/// Longer than this nobody waits for one request.
const LONGEST: Duration = Duration::from_secs(30);
/// Where the server does not say when; each further time it is twice as long.
const FIRST: Duration = Duration::from_millis(500);

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
    /// Nobody listens, and the request was never sent.
    pub unsent: bool,
    /// The server ended under it.
    pub fatal: bool,
}

impl PutOff {
    /// How long to wait until it is sent once more, if the response says that it came too soon.
    pub fn again(&mut self, response: &Response, sent: Instant) -> Option<Duration> {
        let told = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.trim().parse().ok());
        let told = told.map(Duration::from_secs);
        let puts_off = match response.status() {
            StatusCode::TOO_MANY_REQUESTS => true,
            StatusCode::SERVICE_UNAVAILABLE => told.is_some(),
            _ => false,
        };
        let least = FIRST * 2_u32.pow(self.times);
        let wait = told.unwrap_or_default().max(least);
        if !puts_off || self.times == TIMES_AT_MOST || wait > LONGEST {
            return None;
        }
        self.times += 1;
        self.took += sent.elapsed() + wait;
        Some(wait)
    }

    /// How long to wait until it is tried once more, where no connection came about.
    pub fn missed(&mut self, was_there: bool, sent: Instant) -> Option<Duration> {
        if !was_there || self.missed == TRIES {
            self.unsent = true;
            return None;
        }
        let wait = AWAY / TRIES;
        self.missed += 1;
        self.took += sent.elapsed() + wait;
        Some(wait)
    }
}
