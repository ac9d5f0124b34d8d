//! One test of a client: every scenario in each revision, and the evidence of all.

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::HashSet,
    time::{SystemTime, UNIX_EPOCH},
};

use futures_util::{
    FutureExt,
    stream::{self, StreamExt, TryStreamExt},
};
use indexmap::IndexMap;
use tokio::time::Instant;

use super::{
    context::{context, saves},
    contract,
    facts::Start,
    fallback,
    job::ClientJob,
    oauth::Reached,
    reported,
    scenarios::{Planned, Worlds, planned},
    unconnected::never_connected,
};
use crate::{
    error::Error,
    evidence::{Evidence, Frames, Recorder, RunContext, RunEnd, RunHeader, Scope, Side, Tested},
    plan::Filter,
    revision::Revision,
    run::inputs::job::Revisions,
    suite::Suite,
    wire::Secrets,
};

/// Starts the client for each scenario. `Err` is about the command or the options.
pub async fn conduct(
    job: &ClientJob,
    suites: &[Suite],
    filter: &Filter,
    recorder: Recorder,
) -> Result<Evidence, Error> {
    let mut run = ClientRun::new(job, suites, filter, recorder);
    run.planned.retain(|planned| !job.lines(&planned.scenario.drive, "").is_empty());
    if run.planned.is_empty() {
        return Err(Error::Usage {
            message: "the client has no template for any action that the selected rules need".to_owned(),
            help: Some("add a template to `actions`, or select other rules".to_owned()),
        });
    }
    match job.revisions {
        Revisions::Auto => run.newest().await?,
        Revisions::One(revision) => {
            let transport = job.client.transport;
            if !transport.is_used_with(revision) {
                let others = Revision::ALL.into_iter().filter(|other| transport.is_used_with(*other));
                let names: Vec<_> = others.map(|other| other.to_string()).collect();
                return Err(Error::Usage {
                    message: format!("revision {revision} does not define the transport {transport}"),
                    help: Some(format!("use another --transport, or one of these revisions: {}", names.join(", "))),
                });
            }
            run.revision(revision).await?;
        }
        Revisions::All => run.every_revision().await?,
    }
    Ok(run.evidence())
}

pub struct ClientRun<'a> {
    pub(super) job: &'a ClientJob,
    pub recorder: Recorder,
    pub worlds: Worlds,
    pub planned: Vec<Planned<'a>>,
    pub(super) secrets: Secrets,
    pub(super) began: Instant,
    started: SystemTime,
    pub(super) hangs: Cell<usize>,
    /// Whether the client followed the redirects of a login itself.
    pub(super) fetches: Cell<bool>,
    /// Official scenarios at which the client exited before it connected, and those at which it connected.
    pub(super) unknown: RefCell<HashSet<&'static str>>,
    pub(super) known: RefCell<HashSet<&'static str>>,
    notes: Vec<String>,
    /// Lines of the client's reports of actions that do not follow the format.
    pub(super) unread_reports: RefCell<Vec<String>>,
    pub(super) cut_short: OnceCell<String>,
    contexts: Vec<RunContext>,
}

impl<'a> ClientRun<'a> {
    pub fn new(job: &'a ClientJob, suites: &'a [Suite], filter: &Filter, recorder: Recorder) -> Self {
        Self {
            job,
            recorder,
            worlds: Worlds::all(),
            planned: planned(suites, filter),
            secrets: Secrets::of(job.client.secrets.clone()),
            began: Instant::now(),
            started: SystemTime::now(),
            hangs: Cell::new(0),
            fetches: Cell::new(false),
            unknown: RefCell::default(),
            known: RefCell::default(),
            notes: Vec::new(),
            unread_reports: RefCell::default(),
            cut_short: OnceCell::new(),
            contexts: Vec::new(),
        }
    }

    pub fn evidence(self) -> Evidence {
        let Self { job, recorder, began, started, mut notes, unread_reports, cut_short, contexts, .. } = self;
        notes.extend(reported::note(&unread_reports.into_inner()));
        let started = started.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let target = Tested {
            name: job.named.clone().unwrap_or_else(|| job.command()),
            transport: job.client.transport.to_string(),
            command: (job.named.is_none() && !job.client.command.is_empty()).then(|| job.command()),
            ..Tested::default()
        };
        let header = RunHeader {
            ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            scope: Scope { strict: job.strict, ..Scope::default() },
            notes,
            end: RunEnd {
                cut_short: cut_short.into_inner(),
                interrupted: job.interrupts.code(),
                failed_handshake: None,
            },
            ..RunHeader::new(Side::Client, target, started, job.limits.evidence_frames)
        };
        Evidence {
            header,
            links: recorder.links(),
            frames: Frames::Recorded(recorder),
            contexts,
            retries: Vec::new(),
            cut_off: None,
        }
    }

    /// The revision that the client uses when it is offered the newest one.
    async fn newest(&mut self) -> Result<(), Error> {
        let mut newest = Revision::ALL.into_iter().rev();
        let asked = newest.find(|revision| self.job.client.transport.is_defined_in(*revision));
        self.revision(asked.unwrap_or(Revision::NEWEST)).await
    }

    /// A revision that cannot be tested does not discard the results of the others.
    async fn every_revision(&mut self) -> Result<(), Error> {
        let mut first = None;
        for revision in Revision::ALL {
            if !self.job.client.transport.is_used_with(revision) {
                let transport = self.job.client.transport;
                self.notes
                    .push(format!("revision {revision} was not tested: it does not define the transport {transport}"));
                continue;
            }
            match self.revision(revision).await {
                Err(Error::Party { party, tried, came, help }) => {
                    self.notes.push(format!("revision {revision} was not tested: {came}"));
                    first.get_or_insert(Error::Party { party, tried, came, help });
                }
                other => other?,
            }
        }
        match first {
            Some(error) if self.contexts.is_empty() => Err(error),
            _ => Ok(()),
        }
    }

    async fn revision(&mut self, asked: Revision) -> Result<(), Error> {
        let transport = self.job.client.transport;
        // The first start shows which revision the client uses.
        let first = self.scenario(&self.planned[0], asked).await?;
        let links: Vec<u32> = first.iter().flat_map(|(_, links)| links.iter().copied()).collect();
        let revision = match (self.spoken(&links), first.first()) {
            // One that sends only what is not a message did connect, and there are rules about that.
            (None, Some((start, _))) if self.cut_short.get().is_none() && !start.run.connected => {
                return Err(never_connected(self.job, start));
            }
            (Some(spoken), _) if spoken != asked && self.fell_back(asked, &links) => {
                self.notes.push(format!(
                    "the client fell back to {spoken}, although the server supports {asked}: what it sent before is judged in {asked}"
                ));
                // Without the server's support for what it fell back from, the rest of the client can be judged.
                if self.job.revisions == Revisions::Auto {
                    Box::pin(self.revision(spoken)).await?;
                }
                return Ok(());
            }
            (Some(spoken), _) if spoken != asked && self.job.revisions != Revisions::Auto => {
                self.notes.push(format!(
                    "revision {asked} was not tested: the client uses {spoken} although {asked} was requested"
                ));
                return Ok(());
            }
            (spoken, _) => spoken.unwrap_or(asked),
        };
        let others = self.planned[1..].iter().filter(|planned| {
            planned.applies(revision, transport) && self.worlds.shows(&planned.scenario.world, revision, transport)
        });
        let (others, later): (Vec<_>, Vec<_>) = others.partition(|planned| planned.after().is_none());
        let (logins, skills): (Vec<_>, Vec<_>) = later.into_iter().partition(|planned| planned.has_login());
        let (tasks, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|planned| planned.may_have_tasks());
        let (first_tasks, tasks) = tasks.split_at(tasks.len().min(1));
        let mut others = self.scenarios([others.as_slice(), first_tasks].concat(), revision).await?;
        // A client without tasks shows nothing in the other worlds about them.
        let is_first = |start: &Start| first_tasks.iter().any(|first| first.id == start.scenario);
        if others.iter().any(|(start, _)| start.run.tasks > 0 && is_first(start)) {
            others.extend(self.scenarios(tasks.to_vec(), revision).await?);
        }
        // A client that does not log in where everything is as usual shows nothing in the other worlds.
        let reached = others.iter().filter_map(|(start, _)| Some(start.views.as_ref()?.reached)).max();
        match reached {
            Some(Reached::Accepted) => others.extend(self.scenarios(logins, revision).await?),
            Some(reached) => {
                self.notes
                    .push(format!("the client did not log in, so authorization is not tested: {}", reached.words()));
            }
            None => {}
        }
        // The same holds for one that uses no skills there.
        if others.iter().any(|(start, _)| start.run.uses_skills()) {
            others.extend(self.scenarios(skills, revision).await?);
        }
        let all = first.into_iter().chain(others);
        // A client may use another revision in some scenarios, as those of the official suite do.
        let stateless = revision.features().stateless;
        let differs = |(start, links): &(Start, Vec<u32>)| {
            // One that was rejected for lack of a token says nothing about its revision.
            start.views.is_none() && if stateless { start.initializes } else { self.is_stateless(start, links) }
        };
        let (others, starts): (Vec<_>, Vec<_>) = all.partition(differs);
        if !others.is_empty() {
            let what = if stateless {
                "began with initialize, which this revision does not have"
            } else {
                "did not initialize"
            };
            self.notes.push(format!(
                "starts that are not judged in {revision}: {} of {}, because the client {what}",
                others.len(),
                others.len() + starts.len()
            ));
        }
        let follows = |(start, _): &(Start, Vec<u32>)| start.run.follows;
        if self.job.client.actions.is_empty() && self.planned.len() > 1 && !starts.iter().any(follows) {
            self.notes.push(
                "the client reported no actions, so only what it does on its own was judged; `mcp-conform docs clients` \
                 describes how it receives instructions"
                    .to_owned(),
            );
        }
        for link in starts.iter().flat_map(|(_, links)| links) {
            self.recorder.settle(*link, revision);
        }
        let starts: Vec<Start> = starts.into_iter().map(|(start, _)| start).collect();
        self.keep(revision, &starts);
        Ok(())
    }

    /// Runs these scenarios, several at the same time if the client supports that.
    async fn scenarios(&self, planned: Vec<&Planned<'_>>, revision: Revision) -> Result<Vec<(Start, Vec<u32>)>, Error> {
        self.job.scenarios.plan(planned.len());
        let starts = planned
            .into_iter()
            .map(|planned| self.scenario(planned, revision).inspect(|_| self.job.scenarios.one_done()));
        let all: Vec<_> = stream::iter(starts).buffered(self.job.client.parallel).try_collect().await?;
        Ok(all.into_iter().flatten().collect())
    }

    /// Whether the client gave up a revision that the server supports. Then what it sent before is kept for the rules of
    /// that revision.
    fn fell_back(&mut self, asked: Revision, links: &[u32]) -> bool {
        let may_choose = self.job.revisions == Revisions::Auto;
        let ends = fallback::given_up(&self.recorder, links, may_choose).filter(|_| asked.features().stateless);
        for (link, end) in ends.iter().flatten() {
            self.recorder.settle_until(*link, asked, *end);
        }
        if ends.is_some() {
            self.keep(asked, &[]);
        }
        ends.is_some()
    }

    /// Whether the client used 2026-07-28 without falling back. With actions, the instructions name the revision to use.
    pub(super) fn is_stateless(&self, start: &Start, links: &[u32]) -> bool {
        start.run.carried && start.only_discovers
            || self.spoken(links).is_some_and(|spoken| spoken.features().stateless)
    }

    pub fn spoken(&self, links: &[u32]) -> Option<Revision> {
        self.recorder.links().iter().filter(|link| links.contains(&link.link)).find_map(|link| link.revision)
    }

    /// Saves the evidence for the rules of this revision, first for those without a scenario.
    pub fn keep(&mut self, revision: Revision, starts: &[Start]) {
        let transport = self.job.client.transport;
        self.contexts.push(context(revision, transport, None, saves(&starts.iter())));
        for planned in &self.planned {
            let world = planned.world(&self.worlds, contract::actions(planned.scenario));
            let own: Vec<&Start> = starts.iter().filter(|start| start.scenario == planned.id).collect();
            let saves = if own.is_empty() { IndexMap::new() } else { saves(&own.into_iter()) };
            self.contexts.push(context(revision, transport, Some(world), saves));
        }
    }
}
