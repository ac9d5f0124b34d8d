//! Saves time on requests without a reply. If two requests of a kind get none, the third is expected to get none: the
//! suite skips it, and other suites wait only briefly for theirs.
//!
//! Which requests are sent depends only on the suite, and so do the verdicts. What all suites know together only
//! shortens waits, since the order of suites differs from run to run.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use indexmap::IndexMap;
use tokio::time::Instant;

use super::conversation::lock;

/// After the first request without a reply, others get half the timeout; after this many, a small part of it. A suite
/// sends at most this many of a kind. A second full timeout would add 10 s to every run with a server that does not
/// respond to two features: 35 s and 40 s were observed with the faults error-id-null and missing-params-unanswered.
const MAX_UNANSWERED: usize = 2;

/// Later requests get this many times the duration of the slowest response, ...
const SLOWER: u32 = 10;
/// ... and at least this. A guess.
const AT_LEAST: Duration = Duration::from_secs(1);

/// The same for a kind of request that never got a response. A server that does not respond to a feature affects up to
/// ten suites.
const KIND_SLOWDOWN: u32 = 2;
/// Observed on a busy machine: 0.5 s was too little for a ping to a server that had always responded at once. With 0.6 s
/// a server that does not acknowledge subscriptions takes more than 30 s over HTTP.
const SHORT_TIMEOUT: Duration = Duration::from_millis(550);

/// After this much time spent on requests without a reply, all others get a short timeout. Observed: 91 s with a server
/// that stops responding, and 41 s with one that does not respond to a single method over HTTP.
const MAX_TIME_UNANSWERED: Duration = Duration::from_secs(15);

/// The minimum wait for notifications after several did not arrive. It is longer than for requests, because many
/// servers check for changes every second or two. A guess.
const ANNOUNCED: Duration = Duration::from_secs(2);

/// A request that a step of a suite sends, or a notification that it waits for.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub kind: Kind,
    pub suite: String,
    /// The timeout of the step.
    pub within: Duration,
}

/// What requests have in common that get no response for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// The method and its subject, or the awaited notification.
    pub text: String,
    /// The types of its parameters: deliberately invalid requests are of another kind.
    pub types: String,
    pub awaited: bool,
}

/// A time for a message.
fn seconds(time: Duration) -> f32 {
    (time.as_secs_f32() * 100.0).round() / 100.0
}

/// Why a request ended that got no reply.
pub fn no_reply(within: Duration) -> String {
    format!("no reply within {} s", seconds(within))
}

#[derive(Default)]
pub struct Unanswered(Mutex<State>);

struct State {
    /// Requests without a reply within the usual timeout, or a shorter one after earlier such requests.
    missed: usize,
    /// Their number by suite.
    by_suite: HashMap<String, usize>,
    /// The slowest response of all requests but tool calls, which may be slow by nature, and of tool calls.
    slowest: [Duration; 2],
    /// A late response arrived: the server is only slow, and gets the full timeout.
    is_slow: bool,
    /// The total time of waits for requests that timed out, and when the last such wait ended. Overlaps count once.
    waited: Duration,
    waited_until: Option<Instant>,
    /// The number of notifications that did not arrive; `None` once one arrived.
    silent_awaits: Option<usize>,
    /// Since the last reply to one of the kind.
    kinds: HashMap<Kind, Misses>,
    /// By suite, over the whole run.
    suites: HashMap<(String, Kind), Misses>,
    given_up: IndexMap<Kind, GivenUp>,
}

/// The number of requests without a reply, and the shortest timeout among them.
#[derive(Clone, Copy)]
struct Misses {
    times: usize,
    within: Duration,
}

/// The number of requests of a kind without a reply, and the suites that skipped it afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenUp {
    pub sent: usize,
    pub suites: Vec<String>,
}

impl State {
    /// `least`, or `times` the slowest response; unlimited for a slow server.
    fn at_least(&self, least: Duration, times: u32, of_tool: bool) -> Duration {
        let is_slow = self.is_slow && !self.has_waited_long();
        if is_slow { Duration::MAX } else { least.max(self.slowest[usize::from(of_tool)] * times) }
    }

    fn has_waited_long(&self) -> bool {
        self.waited >= MAX_TIME_UNANSWERED
    }
}

impl Misses {
    fn hold(&self, within: Duration) -> bool {
        within <= self.within
    }
}

impl Unanswered {
    /// The timeout of a request. `usual` is the normal timeout, if the step has none of its own.
    pub fn limit(&self, usual: Option<Duration>, of_tool: bool, wanted: Option<&Wanted>) -> Duration {
        let state = self.state();
        let at_least = |least, times| state.at_least(least, times, of_tool);
        let full = wanted.map(|wanted| wanted.within).or(usual).unwrap_or_default();
        let mut limit = full;
        if usual.is_some() && state.missed > 0 {
            let least = if state.missed < MAX_UNANSWERED { full / 2 } else { AT_LEAST };
            limit = limit.min(at_least(least, SLOWER));
        }
        let is_awaited = wanted.is_some_and(|wanted| wanted.kind.awaited);
        if state.has_waited_long() && !state.is_slow && !is_awaited {
            limit = limit.min(at_least(SHORT_TIMEOUT, KIND_SLOWDOWN));
        }
        let is_silent =
            state.missed >= MAX_UNANSWERED || state.silent_awaits.is_some_and(|awaits| awaits >= MAX_UNANSWERED);
        if is_silent && is_awaited {
            limit = limit.min(at_least(ANNOUNCED, SLOWER));
        }
        match wanted.and_then(|wanted| state.kinds.get(&wanted.kind)).filter(|misses| misses.hold(full)) {
            Some(misses) if misses.times >= MAX_UNANSWERED => {
                limit.min(SHORT_TIMEOUT.max(state.slowest[usize::from(of_tool)] * KIND_SLOWDOWN))
            }
            // The second request of a kind gets a shorter timeout than the first.
            Some(_) if usual.is_some() => limit.min(at_least(full / 2, SLOWER)),
            _ => limit,
        }
    }

    /// The timeout of a harmless request after one without a response.
    pub fn limit_after_silence(&self, usual: Duration) -> Duration {
        usual.min(self.state().at_least(AT_LEAST, SLOWER, false))
    }

    /// Records a response, with its duration if it had the usual timeout.
    pub fn answered(&self, usually: Option<Duration>, of_tool: bool, wanted: Option<&Wanted>) {
        let mut state = self.state();
        let slowest = &mut state.slowest[usize::from(of_tool)];
        *slowest = usually.unwrap_or_default().max(*slowest);
        if let Some(Wanted { kind, .. }) = wanted {
            state.kinds.remove(kind);
            if kind.awaited {
                state.silent_awaits = None;
            }
        }
    }

    /// Records time spent on a request without a reply.
    pub fn waited(&self, since: Instant) {
        let mut state = self.state();
        let now = Instant::now();
        let began = state.waited_until.map_or(since, |until| until.max(since));
        state.waited += now.saturating_duration_since(began);
        state.waited_until = Some(now);
    }

    /// Records a request without a response; `usual` if it had the usual timeout.
    pub fn missed(&self, usual: bool, by: &str, wanted: Option<&Wanted>) {
        let mut state = self.state();
        if usual {
            state.missed += 1;
            *state.by_suite.entry(by.to_owned()).or_default() += 1;
        }
        if let Some(Wanted { kind, suite, within }) = wanted {
            if let Some(awaits) = state.silent_awaits.as_mut().filter(|_| kind.awaited) {
                *awaits += 1;
            }
            let once_more = |misses: &mut Misses| {
                *misses = Misses { times: misses.times + 1, within: misses.within.min(*within) };
            };
            let first = Misses { times: 1, within: *within };
            state.kinds.entry(kind.clone()).and_modify(once_more).or_insert(first);
            state.suites.entry((suite.clone(), kind.clone())).and_modify(once_more).or_insert(first);
            state.given_up.entry(kind.clone()).or_default().sent += 1;
        }
    }

    /// A server that does not respond to a harmless request, either, is unlikely to respond to others.
    pub fn missed_probe(&self) {
        self.state().missed += 1;
    }

    /// Whether to skip the request, because two of its kind in the suite got no reply.
    pub fn gives_up(&self, wanted: &Wanted) -> bool {
        let mut state = self.state();
        let Wanted { kind, suite, within } = wanted;
        let misses = state.suites.get(&(suite.clone(), kind.clone()));
        let gives_up = misses.is_some_and(|misses| misses.times >= MAX_UNANSWERED && misses.hold(*within));
        if gives_up {
            let suites = &mut state.given_up.entry(kind.clone()).or_default().suites;
            if !suites.contains(suite) {
                suites.push(suite.clone());
            }
        }
        gives_up
    }

    /// Records a late response: the server is only slow, and gets the full timeout.
    pub fn late(&self) {
        self.state().is_slow = true;
    }

    /// The number of requests without a response within the usual timeout, by suite.
    pub fn by_suite(&self) -> HashMap<String, usize> {
        self.state().by_suite.clone()
    }

    pub fn count(&self) -> usize {
        self.state().missed
    }

    /// Resets the counts. The load of concurrent suites may be the cause, so these suites repeat their requests.
    pub fn reset_counts(&self, count: usize, suites: &[&str]) {
        let mut state = self.state();
        state.missed = count;
        state.suites.retain(|(suite, _), _| !suites.contains(&suite.as_str()));
        state.kinds.values_mut().for_each(|misses| misses.times = misses.times.min(MAX_UNANSWERED - 1));
    }

    /// The kinds of requests that suites skipped.
    pub fn given_up(&self) -> Vec<(Kind, GivenUp)> {
        let state = self.state();
        let given_up = state.given_up.iter().filter(|(_, given_up)| !given_up.suites.is_empty());
        given_up.map(|(kind, given_up)| (kind.clone(), given_up.clone())).collect()
    }

    /// A note on shorter timeouts for the report.
    pub fn told(&self, usual: Duration) -> Option<String> {
        let (limit, missed) = (self.limit(Some(usual), false, None), self.count());
        (limit < usual && missed > MAX_UNANSWERED).then(|| {
            let [usual, limit] = [usual, limit].map(seconds);
            format!(
                "after {MAX_UNANSWERED} requests without a response within {usual} s, the timeout of others was {limit} s"
            )
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl Default for State {
    fn default() -> Self {
        Self {
            missed: 0,
            by_suite: HashMap::new(),
            slowest: [Duration::ZERO; 2],
            is_slow: false,
            waited: Duration::ZERO,
            waited_until: None,
            silent_awaits: Some(0),
            kinds: HashMap::new(),
            suites: HashMap::new(),
            given_up: IndexMap::new(),
        }
    }
}

#[cfg(test)]
mod tests;
