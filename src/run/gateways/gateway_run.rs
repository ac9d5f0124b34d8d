//! One test of a gateway: every scenario in each revision, and the evidence of both sides.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use futures_util::{StreamExt, stream};
use serde_json::Value;

use super::{
    compare::Comparison,
    context::{context, is_large, profile},
    driver::{Driver, Links},
    front::reach,
    job::{Front, GatewayJob},
    listed::Listed,
    troubles::{never_connected, of_gateway, with_words},
};
use crate::{
    error::Error,
    evidence::{Evidence, Frames, Recorder, RunContext, RunEnd, RunHeader, Scope, Side, Tested, Transport},
    judge::CREDENTIAL,
    outcome::CostRow,
    plan::Filter,
    revision::Revision,
    run::{
        clients::{Place, Planned, Stage, Worlds, planned},
        inputs::job::Revisions,
    },
    session::{Opener, Unopened, Wish},
    suite::{Scenario, Suite},
    target::Limits,
    wire::Secrets,
};

/// Time for messages that arrive after the last action. A guess.
const LAST: Duration = Duration::from_millis(300);

/// Scenarios that run at the same time: most of them wait.
const AT_ONCE: usize = 3;

/// What became of a scenario.
enum ScenarioEnd {
    /// The revision that the gateway speaks, and what is to be noted.
    Done(Revision, Vec<String>),
    /// Why the run ends early.
    CutShort(String),
    NotBegun,
}

pub struct Conducted {
    pub evidence: Evidence,
    /// The rules about servers, if they were compared.
    pub comparison: Option<Comparison>,
    /// Empty if it was not measured.
    pub cost: Vec<CostRow>,
}

/// Starts the gateway for one scenario after another. `Err` is about the command or the options.
pub async fn conduct(
    job: &GatewayJob,
    suites: &[Suite],
    filter: &Filter,
    servers: Option<&[Suite]>,
    with_cost: bool,
    recorder: Recorder,
) -> Result<Conducted, Error> {
    let (began, started) = (Instant::now(), SystemTime::now());
    let planned = planned(suites, filter);
    let (notes, cut_short, listed, contexts) = Default::default();
    let mut run =
        GatewayRun { job, recorder, worlds: Worlds::all(), planned, began, notes, cut_short, listed, contexts };
    match job.revisions {
        Revisions::Auto => run.newest().await.map_err(of_gateway)?,
        Revisions::One(revision) => run.revision(revision).await.map_err(of_gateway)?,
        Revisions::All => {
            for revision in Revision::ALL {
                run.revision(revision).await.map_err(of_gateway)?;
            }
        }
    }
    let comparison = match servers {
        Some(servers) if run.cut_short.is_none() => run.compare(servers).await,
        _ => None,
    };
    let cost = if with_cost && run.cut_short.is_none() { run.cost().await } else { Vec::new() };
    let GatewayRun { recorder, notes, cut_short, contexts, .. } = run;
    let started = started.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let target = Tested {
        name: job.name(),
        transport: job.transport().to_string(),
        command: matches!(job.front, Front::Process { .. } | Front::Port { .. }).then(|| job.name()),
        ..Tested::default()
    };
    let header = RunHeader {
        ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        scope: Scope { strict: job.strict, ..Scope::default() },
        notes,
        end: RunEnd { cut_short, interrupted: job.interrupts.code(), failed_handshake: None },
        ..RunHeader::new(Side::Gateway, target, started, job.limits.evidence_frames)
    };
    let frames = Frames::Recorded(recorder.clone());
    Ok(Conducted {
        evidence: Evidence { header, links: recorder.links(), frames, contexts, retries: Vec::new(), cut_off: None },
        comparison,
        cost,
    })
}

pub struct GatewayRun<'a> {
    pub job: &'a GatewayJob,
    recorder: Recorder,
    worlds: Worlds,
    planned: Vec<Planned<'a>>,
    pub began: Instant,
    notes: Vec<String>,
    pub cut_short: Option<String>,
    listed: Listed,
    pub contexts: Vec<RunContext>,
}

impl GatewayRun<'_> {
    /// The newest revision that the gateway speaks.
    async fn newest(&mut self) -> Result<(), Error> {
        let mut refused = None;
        for revision in Revision::ALL.into_iter().rev().filter(|revision| !revision.is_modern()) {
            if self.missing(revision).is_some() {
                continue;
            }
            match self.revision(revision).await {
                Err(Error::NotSpoken { asked, offered }) => {
                    refused.get_or_insert(Error::NotSpoken { asked, offered });
                }
                done => return done,
            }
        }
        Err(refused.unwrap_or_else(|| Error::usage("no revision has both transports")))
    }

    /// The transport that the revision does not have. If no revision has both, client and upstream use different ones.
    fn missing(&self, revision: Revision) -> Option<Transport> {
        let (front, back) = (self.job.transport(), self.job.back.transport);
        let shared = Revision::ALL.iter().any(|one| front.is_defined_in(*one) && back.is_defined_in(*one));
        let needed = if shared { vec![front, back] } else { vec![front] };
        needed.into_iter().find(|transport| !transport.is_defined_in(revision))
    }

    async fn revision(&mut self, asked: Revision) -> Result<(), Error> {
        let transport = self.job.transport();
        if let Some(missing) = self.missing(asked) {
            let why = format!("revision {asked} does not have the transport {missing}");
            if self.job.revisions == Revisions::One(asked) {
                let help = "--revision all tests each revision that has both transports".to_owned();
                return Err(Error::Usage { message: why, help: Some(help) });
            }
            self.note(format!("{why}: it was not tested"));
            return Ok(());
        }
        let shows = |planned: &Planned| {
            planned.applies(asked, transport)
                && self.worlds.shows(&planned.scenario.world, asked, self.job.back.transport)
        };
        let planned: Vec<_> = self
            .planned
            .iter()
            .filter(|planned| shows(planned))
            .map(|planned| (planned.id, planned.scenario))
            .collect();
        // The first scenario shows whether the gateway can be tested at all.
        let Some(((id, scenario), rest)) = planned.split_first() else { return Ok(()) };
        let first = self.within_limits(id, scenario, asked).await;
        let spoken = match first {
            // The gateway may speak another revision.
            Err(Error::NotSpoken { offered, .. }) if self.job.revisions == Revisions::All => {
                self.note(format!("revision {asked} was not tested: {offered}"));
                return Ok(());
            }
            first => self.finish(id, Ok(first?)),
        };
        // A gateway that runs already knows one upstream.
        let at_once = if matches!(self.job.front, Front::Url { .. }) { 1 } else { AT_ONCE };
        let this = &*self;
        // Large messages keep this program busy, and with it what runs at the same time.
        let (large, small): (Vec<_>, Vec<_>) = rest.iter().copied().partition(|(_, scenario)| is_large(scenario));
        let run = |(id, scenario)| async move { (id, this.within_limits(id, scenario, asked).await) };
        // One that takes long does not keep the others from starting.
        let numbered = small.into_iter().enumerate().map(|(number, one)| async move { (number, run(one).await) });
        let mut done: Vec<_> = stream::iter(numbered).buffer_unordered(at_once).collect().await;
        done.sort_by_key(|(number, _)| *number);
        let mut done: Vec<_> = done.into_iter().map(|(_, one)| one).collect();
        for one in large {
            done.push(run(one).await);
        }
        let spoken = done.into_iter().fold(spoken, |spoken, (id, one)| spoken.or(self.finish(id, one)));
        if let Some(revision) = spoken {
            self.keep(revision);
        }
        Ok(())
    }

    /// One scenario, unless the run is over.
    async fn within_limits(&self, id: &str, scenario: &Scenario, asked: Revision) -> Result<ScenarioEnd, Error> {
        let interrupts = self.job.interrupts.clone();
        let left = self.job.limits.run.saturating_sub(self.began.elapsed());
        let late = || ScenarioEnd::CutShort(format!("the run took {:?} (--run-timeout)", self.job.limits.run));
        if self.cut_short.is_some() {
            return Ok(ScenarioEnd::NotBegun);
        }
        if left.is_zero() {
            return Ok(late());
        }
        tokio::select! {
            done = self.scenario(id, scenario, asked) => done,
            () = interrupts.first() => Ok(ScenarioEnd::CutShort("interrupted".to_owned())),
            () = tokio::time::sleep(left) => Ok(late()),
        }
    }

    /// Keeps what a scenario says about the run. Returns the revision that the gateway speaks, if it was tested.
    fn finish(&mut self, id: &str, done: Result<ScenarioEnd, Error>) -> Option<Revision> {
        match done {
            Ok(ScenarioEnd::Done(revision, notes)) => {
                for note in notes {
                    self.note(note);
                }
                return Some(revision);
            }
            Ok(ScenarioEnd::CutShort(why)) => self.cut_short = self.cut_short.take().or(Some(why)),
            Ok(ScenarioEnd::NotBegun) => {}
            Err(error) => self.note(format!("`{id}` was not tested: {}", error.in_short())),
        }
        None
    }

    /// Starts the gateway for one scenario, and stops it again.
    async fn scenario(&self, id: &str, scenario: &Scenario, asked: Revision) -> Result<ScenarioEnd, Error> {
        let job = self.job;
        let place = Place::System { program: &job.program, address: &job.back.address, behind: true };
        let options = self.worlds.options(&scenario.world);
        let secrets = Secrets::of(job.secrets());
        let stage = Stage::open(options, job.back.transport, id, place, &self.recorder, &secrets).await?;
        let headers = match scenario.answers["credentials"].as_bool() {
            Some(true) => vec![
                ("Authorization".to_owned(), format!("Bearer {CREDENTIAL}")),
                ("Cookie".to_owned(), format!("session={CREDENTIAL}")),
            ],
            _ => Vec::new(),
        };
        let (start, listening) = reach(job, &stage.target, headers).await?;
        let limits = Limits { request: job.limits.start, memory_bytes: job.limits.memory_bytes, ..Limits::default() };
        let opener = Opener {
            target: job.target(start),
            limits,
            recorder: self.recorder.clone(),
            profile: profile(scenario),
            known: Arc::default(),
        };
        let wish = Wish::Exactly(asked);
        let done = self.drive(opener, wish, id, scenario, stage.live_links()).await;
        let is_connected = |links: &[u32]| self.recorder.indexes().any(|frame| links.contains(&frame.link));
        let said = match &listening {
            Some(listening) if done.is_err() || !is_connected(&stage.links()) => listening.said().await,
            _ => String::new(),
        };
        // A gateway that keeps running ends its session with the upstream only after its client has left.
        if !job.transport().capabilities().process {
            stage.until_sessions_end().await;
        }
        if let Some(listening) = listening {
            listening.end().await;
        }
        let (links, _) = stage.close().await;
        let (revision, notes) = done.map_err(|unopened| with_words(unopened.error, &said))?;
        if !is_connected(&links) {
            return Err(never_connected(job, &said));
        }
        for link in links {
            self.recorder.settle(link, revision);
        }
        Ok(ScenarioEnd::Done(revision, notes))
    }

    async fn drive(
        &self,
        opener: Opener,
        wish: Wish,
        id: &str,
        scenario: &Scenario,
        behind: Links,
    ) -> Result<(Revision, Vec<String>), Unopened> {
        let mut driver = Driver::open(opener, wish, id, self.listed.clone(), behind).await?;
        let revision = driver.first().and_then(|session| session.revision());
        let revision = revision.ok_or_else(|| Error::usage("no revision was negotiated"))?;
        driver.perform(scenario).await;
        tokio::time::sleep(LAST).await;
        let notes = std::mem::take(&mut driver.notes);
        driver.close().await;
        Ok((revision, notes))
    }

    /// Saves the evidence for the rules of this revision, first for those without a scenario.
    fn keep(&mut self, revision: Revision) {
        let transport = self.job.transport();
        self.contexts.push(context(revision, transport, self.job.back.transport, None));
        for planned in &self.planned {
            let world = planned.world(&self.worlds, Value::Null);
            self.contexts.push(context(revision, transport, self.job.back.transport, Some(world)));
        }
    }

    pub fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
