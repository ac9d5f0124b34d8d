//! Everything that happened at the origins of a world, with one clock.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hyper::{
    HeaderMap,
    body::Bytes,
    header::{LOCATION, WWW_AUTHENTICATE},
    http::request::Parts,
};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::visitor::{How, USER_AGENT};
use crate::{
    reference::server::{
        http::{Body, Reply},
        oauth::{About, Origin},
    },
    wire::challenge::parse,
};

/// A world ends this long after the last event: no correct client waits longer before it goes on. A guess.
const QUIET: Duration = Duration::from_secs(10);
/// More requests are not kept: a client that sends them without end has been seen by then.
const MOST: usize = 2000;
/// How much is kept of the body of a request.
const BODY: usize = 64 << 10;

/// One HTTP request and its response.
#[derive(Clone, Debug)]
pub struct Passed {
    pub at: Instant,
    pub to: Origin,
    pub about: &'static str,
    /// Whether the user's browser sent it.
    pub by_user: bool,
    pub frame: u64,
    pub link: u32,
    pub method: String,
    pub path: String,
    pub query: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub status: u16,
    pub location: Option<String>,
    /// `WWW-Authenticate` of the response.
    pub challenges: Vec<Value>,
    /// The response, if it is JSON.
    pub response: Value,
}

/// One URL that the client had opened, and what became of it.
#[derive(Clone, Debug)]
pub struct Visit {
    pub at: Instant,
    pub url: String,
    pub how: How,
    /// The URL of the client to which the last redirect led.
    pub delivered: Option<String>,
    pub end: String,
}

/// A shared handle.
#[derive(Clone)]
pub struct Journal(Arc<Mutex<Kept>>);

pub struct Kept {
    pub began: Instant,
    last: Option<Instant>,
    pub passed: Vec<Passed>,
    pub visits: Vec<Visit>,
}

impl Default for Journal {
    fn default() -> Self {
        let kept = Kept { began: Instant::now(), last: None, passed: Vec::new(), visits: Vec::new() };
        Self(Arc::new(Mutex::new(kept)))
    }
}

impl Journal {
    pub fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The response to this request is sent.
    pub fn passed(&self, to: Origin, (link, frame): (u32, u64), head: Parts, body: &Bytes, reply: &Reply) {
        let mut kept = self.lock();
        let now = Instant::now();
        kept.last = Some(now);
        if kept.passed.len() >= MOST {
            return;
        }
        let response = match reply.body() {
            Body::Whole(Some(bytes)) => serde_json::from_slice(bytes).unwrap_or_default(),
            _ => Value::Null,
        };
        let about = reply.extensions().get::<About>().map_or("", |about| about.0);
        let location = reply.headers().get(LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let asked = reply.headers().get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let challenges = asked.flat_map(parse).collect();
        kept.passed.push(Passed {
            at: now,
            to,
            about,
            by_user: head.headers.get("user-agent").is_some_and(|agent| agent == USER_AGENT),
            frame,
            link,
            method: head.method.to_string(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            headers: head.headers,
            body: body.slice(..body.len().min(BODY)),
            status: reply.status().as_u16(),
            location,
            challenges,
            response,
        });
    }

    pub fn visited(&self, visit: Visit) {
        let mut kept = self.lock();
        kept.last = Some(Instant::now());
        if kept.visits.len() < MOST {
            kept.visits.push(visit);
        }
    }

    /// Something else happened.
    pub fn touch(&self) {
        self.lock().last = Some(Instant::now());
    }

    /// Returns when nothing has happened for a while. A client that has sent nothing yet may still be starting.
    pub async fn quiet(&self, more: Duration) {
        loop {
            let now = Instant::now();
            let due = self.lock().last.unwrap_or(now) + QUIET + more;
            if due <= now {
                return;
            }
            sleep_until(due).await;
        }
    }
}
