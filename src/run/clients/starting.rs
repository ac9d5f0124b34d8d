//! Starts the client in a scenario, and collects what it did.

use std::{future::pending, time::Duration};

use super::{
    client_run::ClientRun,
    contract,
    facts::{self, End, Start},
    inside,
    oauth::{self, Views},
    process, reported,
    scenarios::Planned,
    stage::{ANYWHERE, Place, Stage},
};
use crate::{error::Error, revision::Revision, target::Program};

/// A client that was killed this often gets less time afterwards: it would probably hang again.
const HANGS: usize = 2;
/// The reduced limit. A guess.
const LESS: Duration = Duration::from_secs(5);

impl ClientRun<'_> {
    /// All starts of the client in one scenario, each with its connections. There are fewer if the run has to stop.
    pub(super) async fn scenario(
        &self,
        planned: &Planned<'_>,
        revision: Revision,
    ) -> Result<Vec<(Start, Vec<u32>)>, Error> {
        let job = self.job;
        let mut starts = Vec::new();
        for number in 0..job.lines(&planned.scenario.drive, "").len() {
            let left = job.limits.run.saturating_sub(self.began.elapsed());
            if left.is_zero() {
                self.cut_short.get_or_init(|| format!("the run took {:?} (--run-timeout)", job.limits.run));
            }
            if self.cut_short.get().is_some() {
                break;
            }
            let interrupts = job.interrupts.first();
            tokio::select! {
                started = self.start_known_scenario(planned, number, revision, left) => {
                    let started = started?;
                    // A start that the end of the run interrupted did not hang by itself.
                    if started.0.run.end != End::Hung || self.began.elapsed() < job.limits.run {
                        starts.push(started);
                    }
                }
                () = interrupts => drop(self.cut_short.set("interrupted".to_owned())),
            }
        }
        Ok(starts)
    }

    /// One start of the client, under the closest official scenario that the client knows.
    async fn start_known_scenario(
        &self,
        planned: &Planned<'_>,
        number: usize,
        revision: Revision,
        left: Duration,
    ) -> Result<(Start, Vec<u32>), Error> {
        let mut names = contract::official_scenarios(&planned.scenario.drive, revision);
        let last = names.pop().unwrap_or_default();
        for name in names {
            if self.unknown.borrow().contains(name) {
                continue;
            }
            let (start, links) = self.start(planned, number, name, revision, left).await?;
            let failed = start.run.code.is_some_and(|code| code != 0);
            // Some scenarios of the official suite exist in 2026-07-28 alone, and the client may use it there.
            let is_newer = !revision.features().stateless && self.is_stateless(&start, &links);
            let rejected = !start.run.follows && (is_newer || failed && !start.run.connected);
            if !rejected || self.known.borrow().contains(name) {
                self.known.borrow_mut().insert(name);
                return Ok((start, links));
            }
            self.unknown.borrow_mut().insert(name);
        }
        self.start(planned, number, last, revision, left).await
    }

    /// One start of the client, and the connections that it opened.
    async fn start(
        &self,
        planned: &Planned<'_>,
        number: usize,
        carrier: &str,
        revision: Revision,
        left: Duration,
    ) -> Result<(Start, Vec<u32>), Error> {
        let Planned { id, scenario, .. } = *planned;
        let (job, client) = (self.job, &self.job.client);
        let mut options = self.worlds.options(&scenario.world);
        // A client that supports newer revisions negotiates this one then.
        options.revisions.retain(|offered| *offered <= revision);
        let place = match &job.inside {
            Some(_) => Place::Memory,
            None => Place::System { program: &job.program, address: ANYWHERE, behind: false },
        };
        let stage = Stage::open(options, client.transport, id, place, &self.recorder, &self.secrets).await?;
        // A login has its own end: most of these clients wait for a user who will not return.
        let usual = if stage.login.is_some() || self.hangs.get() < HANGS {
            job.limits.start
        } else {
            job.limits.start.min(LESS)
        };
        let limit = (usual.max(scenario.patience) + contract::waits(scenario)).min(left);
        // The user's own variables count most.
        let real = stage.login.is_some() && job.inside.is_none();
        let mut env = if real { oauth::environment(stage.folder()) } else { Vec::new() };
        env.extend(client.env.iter().cloned());
        env.extend(contract::environment(scenario, carrier, revision, client.transport, &stage, limit));
        let journal = stage.login.as_ref().map(|login| login.journal.clone());
        let over = async {
            match &journal {
                Some(journal) => journal.quiet(contract::waits(scenario)).await,
                None => pending().await,
            }
        };
        let mut ran = if let Some(inside) = &job.inside {
            inside::run(&**inside, &stage, env, limit, over).await
        } else {
            let argv = job.lines(&scenario.drive, &stage.target).swap_remove(number);
            let program = Program { argv, env, cwd: client.cwd.clone() };
            process::run(&program, limit, stage.login.as_ref(), over).await?
        };
        self.hangs.set(self.hangs.get() + usize::from(ran.hung && stage.login.is_none()));
        ran.stderr = self.secrets.hide(ran.stderr);
        let (actions, follows, mistakes) = reported::actions(&scenario.drive, &stage.report());
        let mistakes = mistakes.into_iter().map(|mistake| format!("{mistake} (world {})", scenario.world));
        self.unread_reports.borrow_mut().extend(mistakes);
        let mut reported = (actions, follows);
        reported.0.iter_mut().for_each(|action| self.secrets.hide_in(action));
        let secrets = stage.secrets();
        let target = stage.target.clone();
        let (mut links, spawned) = stage.close().await;
        let mut start = facts::start(id, &scenario.world, &ran, &links, &spawned, reported, &self.recorder);
        if let Some(journal) = journal {
            let views = Views::of(&journal.lock(), &secrets, &target, &scenario.world, self.fetches.get());
            self.fetches.set(self.fetches.get() || views.fetches());
            start.views = Some(views);
            // Only the rules of this scenario judge what happened in it: messages that were rejected and sent again
            // would look like mistakes to others.
            links.clear();
        }
        start.run.carried = !start.run.follows && client.actions.is_empty();
        Ok((start, links))
    }
}
