//! What is measured of a server before its suites are scheduled: what a connection costs, and how many it serves.

use std::{sync::atomic::Ordering, time::Duration};

use futures_util::future::join_all;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, timeout},
};

use super::{
    executor::{AT_ONCE_OVER_HTTP, Lanes},
    gathered::Gathered,
};
use crate::{
    evidence::RunContext,
    revision::Revision,
    session::{Conversation, Wish},
    suite::Suite,
    target::Start,
};

/// A server that starts in this time takes less of a processor than the shortest wait of a suite.
const QUICK_START: Duration = Duration::from_millis(50);

/// Answers over HTTP that take longer than this are waited for side by side, if that is quicker. From others no time is to
/// be gained that would be worth not knowing at once whose request has ended a server.
const SLOW_ANSWER: Duration = Duration::from_millis(20);

/// A connection beside others is served within this time, if starts are not slow.
const SERVED_WITHIN: Duration = Duration::from_secs(5);

/// As far as the schedule depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    /// A further connection costs less than waiting on the server's behalf.
    pub connects_quickly: bool,
    /// Several suites at once are through sooner, and the server serves as many connections as that takes.
    pub concurrent: bool,
    /// The server serves a second connection beside the first.
    pub second: bool,
}

impl<'a> Lanes<'a> {
    /// Whether a further connection costs less than waiting on the server's behalf.
    pub fn connects_quickly(&self) -> bool {
        matches!(self.job.target.start, Start::Http { .. }) || self.opener.known.quickest() < QUICK_START
    }

    /// Whether the user lets several suites ask a server over HTTP at once.
    pub fn may_be_concurrent(&self) -> bool {
        self.job.limits.in_flight >= AT_ONCE_OVER_HTTP
    }

    /// Whether the server is slow to answer one request, and not much slower to answer several, as it may be asked to.
    pub async fn gains_from_concurrency(&self, first: &Conversation) -> bool {
        if !self.may_be_concurrent() {
            return false;
        }
        let session = first.session().await;
        let took = async |requests| {
            let began = Instant::now();
            let asked = join_all((0..requests).map(|_| session.is_well())).await;
            asked.into_iter().all(|well| well).then(|| began.elapsed())
        };
        let gains = async {
            let one = took(1).await?;
            Some(one > SLOW_ANSWER && took(AT_ONCE_OVER_HTTP).await? < one * 2)
        };
        self.stop.unless(gains).await.is_ok_and(|gains| gains == Some(true))
    }

    fn second_within(&self) -> Duration {
        SERVED_WITHIN.max(self.opener.known.slow_start())
    }

    /// Whether the server serves as many sessions as lanes have: an event stream in each may hold a thread of it.
    pub async fn serves_many(&self, revision: Revision) -> bool {
        let (over, _) = watch::channel(false);
        let (served, mut all_served) = mpsc::channel(AT_ONCE_OVER_HTTP);
        for _ in 0..AT_ONCE_OVER_HTTP {
            let (opener, served, mut over) = (self.opener.clone(), served.clone(), over.subscribe());
            self.end(async move {
                let session = opener.open(Wish::Exactly(revision)).await.ok()?;
                if session.is_well().await {
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
            for _ in 0..AT_ONCE_OVER_HTTP {
                all_served.recv().await?;
            }
            Some(())
        };
        let bears = timeout(self.second_within(), all).await.is_ok_and(|all| all.is_some());
        over.send_replace(true);
        self.closed().await;
        bears
    }

    /// What a reader of the report should know of a server that refused every connection but one.
    pub fn bears_one(&self) -> Option<String> {
        let bears_one = self.opener.known.single.load(Ordering::Relaxed);
        bears_one
            .then(|| "the server supports one connection at a time: rules that need two were not judged".to_owned())
    }

    /// A second connection, if the server bears it beside the first.
    pub async fn second(&self, first: &Conversation, revision: Revision) -> Option<Conversation> {
        if self.opener.is_single() {
            return None;
        }
        let session = first.session().await;
        // One that is put off, or waits until the first is gone, would take as long as there is.
        let within = self.second_within();
        let opened = timeout(within, self.open(&self.opener, revision)).await;
        if opened.is_err() {
            // The machine may have become busy, and the first process may end as slowly.
            self.opener.recorder.started(within);
        }
        let second = opened.ok().and_then(Result::ok);
        let well = self.stop.unless(session.is_well()).await.is_ok_and(|well| well);
        if second.is_some() && well {
            return second;
        }
        // Where neither is served, it is for another reason.
        self.opener.known.single.fetch_or(second.is_some() || well, Ordering::Relaxed);
        self.close(second, false).await;
        None
    }

    /// What came of a suite that has no need of the first connection, if the server bears another process beside that.
    pub async fn probe(&self, first: &Conversation, suite: &'a Suite, scene: &RunContext) -> Option<Gathered<'a>> {
        let session = first.session().await;
        let asked = timeout(self.second_within(), self.suite(suite, scene, &mut None, true)).await;
        let gathered = asked.ok()?.ok()?;
        let well = self.stop.unless(session.is_well()).await.is_ok_and(|well| well);
        // Who does not answer may wait for the first process to end.
        (well && gathered.is_answered()).then_some(gathered)
    }
}
