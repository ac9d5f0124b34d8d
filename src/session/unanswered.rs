//! A server that leaves requests unanswered does so again: the next ones are waited for as long as this server can be
//! expected to need, and no longer.

use std::{
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use super::conversation::lock;

/// So many requests get all the time there is before any get less.
const ENOUGH: usize = 2;

/// The others get this many times what the slowest answer took, ...
const SLOWER: u32 = 10;
/// ... and at least this.
const AT_LEAST: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Unanswered {
    missed: AtomicUsize,
    /// How many by suite.
    by: Mutex<HashMap<String, usize>>,
    /// In milliseconds.
    slowest_answer: AtomicU64,
}

impl Unanswered {
    /// How long to wait for an answer that usually gets so much time.
    pub fn limit(&self, usual: Duration) -> Duration {
        if self.missed.load(Relaxed) < ENOUGH {
            return usual;
        }
        usual.min(AT_LEAST.max(Duration::from_millis(self.slowest_answer.load(Relaxed)) * SLOWER))
    }

    pub fn answered(&self, within: Duration) {
        self.slowest_answer.fetch_max(u64::try_from(within.as_millis()).unwrap_or(u64::MAX), Relaxed);
    }

    /// What was missed came in the end: the server is only slow, and gets its time.
    pub fn late(&self) {
        self.slowest_answer.store(u32::MAX.into(), Relaxed);
    }

    pub fn missed(&self, by: &str) {
        self.missed.fetch_add(1, Relaxed);
        *lock(&self.by).entry(by.to_owned()).or_default() += 1;
    }

    pub fn any(&self) -> bool {
        !lock(&self.by).is_empty()
    }

    /// How many requests were waited for in vain, by suite.
    pub fn by_suite(&self) -> HashMap<String, usize> {
        lock(&self.by).clone()
    }

    pub fn count(&self) -> usize {
        self.missed.load(Relaxed)
    }

    /// What was missed meanwhile may have been for want of room, and is asked again.
    pub fn count_again_from(&self, count: usize) {
        self.missed.store(count, Relaxed);
    }

    /// What a reader of the report should know of it.
    pub fn told(&self, usual: Duration) -> Option<String> {
        let (limit, missed) = (self.limit(usual), self.missed.load(Relaxed));
        (limit < usual && missed > ENOUGH).then(|| {
            let [usual, limit] = [usual, limit].map(|time| time.as_secs_f32());
            format!("{ENOUGH} requests got no answer within {usual} s; others were then waited for {limit} s")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Duration = Duration::from_secs(10);

    #[test]
    fn less_time_is_given_once_enough_was_waited_for_in_vain() {
        let unanswered = Unanswered::default();
        unanswered.answered(Duration::from_millis(20));
        unanswered.missed("suite");
        assert_eq!(unanswered.limit(USUAL), USUAL);
        unanswered.missed("suite");
        assert_eq!((unanswered.limit(USUAL), unanswered.told(USUAL)), (AT_LEAST, None));
        unanswered.missed("suite");
        assert!(unanswered.told(USUAL).is_some_and(|told| told.ends_with("waited for 1 s")));
    }

    #[test]
    fn a_slow_server_gets_more_and_never_more_than_usual() {
        let unanswered = Unanswered::default();
        (0..3).for_each(|_| unanswered.missed("suite"));
        unanswered.answered(Duration::from_millis(300));
        assert_eq!(unanswered.limit(USUAL), Duration::from_secs(3));
        unanswered.late();
        assert_eq!((unanswered.limit(USUAL), unanswered.told(USUAL)), (USUAL, None));
    }
}
