//! A server with a rate limit: the delays so far, and whether to continue.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use conform_wire::PutOff;

/// After this many rejections in a row, each repeated several times, the run stops.
const MAX_REJECTIONS: usize = 3;

#[derive(Default)]
pub struct Delays {
    times: AtomicUsize,
    /// In milliseconds.
    took: AtomicU64,
    /// Requests that were finally rejected since the last accepted one.
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

    /// Whether any request was rate limited.
    pub fn any(&self) -> bool {
        self.times.load(Relaxed) > 0
    }

    /// Why no more requests are sent, if so.
    pub fn why_stop(&self) -> Option<String> {
        (self.turned_away.load(Relaxed) >= MAX_REJECTIONS).then(|| {
            format!("the server rejected {MAX_REJECTIONS} requests in a row as too many (429), also when repeated")
        })
    }

    /// A note for the report.
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
