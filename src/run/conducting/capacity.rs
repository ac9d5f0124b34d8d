//! Measurements of a server before its suites are scheduled: the cost of a connection, and how many it serves.

use std::{fmt, sync::atomic::Ordering, time::Duration};

use futures_util::future::join_all;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, timeout},
};

use super::{
    executor::Executor,
    schedule::{Phase, schedule},
    suite_effects::needs_two,
};
use crate::{
    evidence::{RunContext, Transport},
    revision::Revision,
    session::{Conversation, Wish},
    suite::Suite,
};

/// A server that starts within this time uses less of a processor than the shortest wait of a suite. A guess.
const QUICK_START: Duration = Duration::from_millis(50);

/// If responses over HTTP take longer than this, requests may be sent concurrently, if that is quicker. For faster
/// servers the saved time is not worth the loss: sent sequentially, the request that crashed the server is known at
/// once. Observed: with responses of 100 ms, concurrent requests make a run of 67 s take 25 s; the limit is a guess.
const SLOW_RESPONSE: Duration = Duration::from_millis(20);

/// A concurrent connection is served within this time, unless starts are slow. A guess.
const SERVED_WITHIN: Duration = Duration::from_secs(5);

/// Concurrent processes: one that starts keeps a processor busy, and more only slow each other down, ...
const PROCESSES: usize = 4;
/// ... unless they start so quickly that they mostly wait.
const QUICK_PROCESSES: usize = 16;
/// Concurrent sessions over HTTP: as many connections as browsers open to one host.
const SESSIONS: usize = 6;

/// Suites that share a session over HTTP: another session costs a request or two.
const IN_A_SESSION: usize = 3;
/// Suites that could share one process are divided among this many, if a start takes less than a wait.
const SHARING: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// The cost of a connection: the shortest handshake so far.
    pub start: Duration,
    /// Whether each connection starts a separate process.
    pub process: bool,
    /// How many concurrent connections are served, up to the number that is useful.
    pub connections: usize,
    /// How many suites send requests concurrently.
    pub at_once: usize,
}

impl Capacity {
    /// The largest useful capacity over a transport.
    fn most(transport: Transport, start: Duration) -> Self {
        let able = transport.capabilities();
        let most = match () {
            () if able.endpoint => 1,
            () if able.stream_per_request => SESSIONS,
            () if start < QUICK_START => QUICK_PROCESSES,
            () => PROCESSES,
        };
        Self { start, process: able.process, connections: most, at_once: most }
    }

    /// Whether another connection costs less than waiting for the server.
    pub fn starts_quickly(self) -> bool {
        !self.process || self.start < QUICK_START
    }

    /// How many of these suites share a connection, if they can share one.
    pub fn share(self, suites: usize) -> usize {
        match () {
            () if self.at_once == 1 || !self.starts_quickly() => suites,
            () if self.process => suites.div_ceil(SHARING),
            () => IN_A_SESSION,
        }
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let Self { start, connections, at_once, .. } = self;
        writeln!(out, "  a connection starts in {} ms", start.as_millis())?;
        writeln!(out, "  it serves {connections} connections at once; {at_once} suites send requests at once")
    }
}

impl Executor<'_> {
    /// The capacity of the server, measured as far as it matters for `suites`. A second connection that was opened for
    /// this stays open.
    pub async fn measure(
        &self,
        suites: &[&Suite],
        context: &RunContext,
        first: Option<&Conversation>,
    ) -> (Capacity, Option<Conversation>) {
        let able = context.transport.capabilities();
        let most = || Capacity::most(context.transport, self.opener.known.quickest());
        let one = Capacity { connections: 1, at_once: 1, ..most() };
        let of_use = most().connections > 1
            && (suites.iter().any(|suite| needs_two(suite, context))
                || schedule(suites, context, most()).iter().any(Phase::is_concurrent));
        let Some(first) = first.filter(|_| of_use && self.stop.why().is_none()) else { return (one, None) };
        let may_be_many = able.stream_per_request && self.job.limits.in_flight >= SESSIONS;
        if may_be_many && self.serves_many(context.revision).await {
            let at_once = if self.gains_from_concurrency(first).await { SESSIONS } else { 1 };
            return (Capacity { at_once, ..most() }, None);
        }
        let second = self.stop.unless(Box::pin(self.second(first, context.revision))).await;
        match second.ok().flatten() {
            None => (one, None),
            second if able.process => (most(), second),
            second => (Capacity { connections: 2, ..one }, second),
        }
    }

    /// Whether the server is slow to respond to one request, and not much slower to respond to several.
    async fn gains_from_concurrency(&self, first: &Conversation) -> bool {
        let session = first.session().await;
        let took = async |requests| {
            let began = Instant::now();
            let responses = join_all((0..requests).map(|_| session.responds())).await;
            responses.into_iter().all(|well| well).then(|| began.elapsed())
        };
        let gains = async {
            let one = took(1).await?;
            Some(one > SLOW_RESPONSE && took(SESSIONS).await? < one * 2)
        };
        self.stop.unless(gains).await.is_ok_and(|gains| gains == Some(true))
    }

    fn second_within(&self) -> Duration {
        SERVED_WITHIN.max(self.opener.known.slow_start())
    }

    /// Whether the server serves as many sessions as there are lanes: an event stream in each may block a thread of the
    /// server.
    async fn serves_many(&self, revision: Revision) -> bool {
        let (over, _) = watch::channel(false);
        let (served, mut all_served) = mpsc::channel(SESSIONS);
        for _ in 0..SESSIONS {
            let (opener, served, mut over) = (self.opener.clone(), served.clone(), over.subscribe());
            self.endings.spawn(async move {
                let session = opener.open(Wish::Exactly(revision)).await.ok()?;
                if session.responds().await {
                    served.send(()).await.ok()?;
                }
                drop(served);
                over.wait_for(|over| *over).await.ok()?;
                session.close().await;
                None
            });
        }
        drop(served);
        let all = async {
            for _ in 0..SESSIONS {
                all_served.recv().await?;
            }
            Some(())
        };
        let served = timeout(self.second_within(), all).await.is_ok_and(|all| all.is_some());
        over.send_replace(true);
        self.endings.wait().await;
        served
    }

    /// A second connection, if the server serves it together with the first.
    async fn second(&self, first: &Conversation, revision: Revision) -> Option<Conversation> {
        if self.opener.is_single() {
            return None;
        }
        let session = first.session().await;
        // A connection that is delayed until the first one is closed would consume the whole run timeout.
        let within = self.second_within();
        let opened = timeout(within, self.open(&self.opener, revision)).await;
        if opened.is_err() {
            // The machine may have become busy, and the first process may be as slow to exit.
            self.opener.recorder.started(within);
        }
        let second = opened.ok().and_then(Result::ok);
        let well = self.stop.unless(session.responds()).await.is_ok_and(|well| well);
        if second.is_some() && well {
            return second;
        }
        // If neither connection is served, the cause is something else.
        self.opener.known.single.fetch_or(second.is_some() || well, Ordering::Relaxed);
        self.close(second, false).await;
        None
    }
}
