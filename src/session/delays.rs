//! A server that takes only so many requests in a time: what that has cost, and whether it is of any use to go on.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use crate::wire::PutOff;

/// So many in a row, each sent again and again, and the server means it.
const ENOUGH: usize = 3;

#[derive(Default)]
pub struct Delays {
    times: AtomicUsize,
    /// In milliseconds.
    took: AtomicU64,
    /// Requests that were turned away for good since one was served.
    turned_away: AtomicUsize,
}

impl Delays {
    pub fn note(&self, delay: PutOff, status: Option<u16>) {
        if delay.times > 0 {
            self.times.fetch_add(delay.times as usize, Relaxed);
            self.took.fetch_add(u64::try_from(delay.took.as_millis()).unwrap_or(u64::MAX), Relaxed);
        }
        match status {
            Some(429) => _ = self.turned_away.fetch_add(1, Relaxed),
            Some(_) => self.turned_away.store(0, Relaxed),
            None => {}
        }
    }

    /// Whether any request came too soon.
    pub fn any(&self) -> bool {
        self.times.load(Relaxed) > 0
    }

    /// Why nothing more is to be asked, if so.
    pub fn why_stop(&self) -> Option<String> {
        (self.turned_away.load(Relaxed) >= ENOUGH)
            .then(|| format!("the server rejected {ENOUGH} requests in a row as too many (429), also when repeated"))
    }

    /// What a reader of the report should know of it.
    pub fn told(&self) -> Option<String> {
        let (times, took) = (self.times.load(Relaxed), self.took.load(Relaxed));
        (times > 0).then(|| {
            format!(
                "the server limits the request rate: {times} were rejected (429 or 503) and sent again, \
                 {} s later on average",
                Duration::from_millis(took / times as u64).as_secs_f32()
            )
        })
    }
}
