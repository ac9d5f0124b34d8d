//! One test of a gateway: every scenario in each revision, and the evidence of both sides.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

use super::{
    driver::Driver,
    front::reach,
    job::{Front, GatewayJob},
    listed::Listed,
};
use crate::{
    error::Error,
    evidence::{Evidence, Frames, Recorder, RunContext, RunEnd, RunHeader, Scope, Side, Tested, Transport},
    judge::CREDENTIAL,
    outcome::{CostRow, RuleResult, World},
    plan::Filter,
    revision::Revision,
    run::{
        clients::{Place, Planned, Stage, Worlds, planned},
        inputs::job::Revisions,
    },
    session::{ClientProfile, Opener, Unopened, Wish},
    suite::{Scenario, Suite},
    target::Limits,
    wire::Secrets,
};

/// Time for messages that arrive after the last action. A guess.
const LAST: Duration = Duration::from_millis(300);

pub struct Conducted {
    pub evidence: Evidence,
    /// Rules about servers that the upstream passes and the gateway fails.
    pub worse: Vec<RuleResult>,
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
        GatewayRun { job, recorder, worlds: Worlds::new(), planned, began, notes, cut_short, listed, contexts };
    match job.revisions {
        Revisions::Auto => run.newest().await.map_err(of_gateway)?,
        Revisions::One(revision) => run.revision(revision).await.map_err(of_gateway)?,
        Revisions::All => {
            for revision in Revision::ALL {
                run.revision(revision).await.map_err(of_gateway)?;
            }
        }
    }
    let worse = match servers {
        Some(servers) if run.cut_short.is_none() => run.compare(servers).await,
        _ => Vec::new(),
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
        evidence: Evidence { header, links: recorder.links(), frames, contexts, cut_off: None },
        worse,
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
        let (mut spoken, mut met) = (None, false);
        for index in 0..self.planned.len() {
            let (id, scenario) = (self.planned[index].id, self.planned[index].scenario);
            let applies = self.planned[index].applies(asked, transport)
                && self.worlds.shows(&scenario.world, asked, self.job.back.transport);
            if self.cut_short.is_some() || !applies {
                continue;
            }
            if self.job.limits.run.saturating_sub(self.began.elapsed()).is_zero() {
                self.cut_short = Some(format!("the run took {:?} (--run-timeout)", self.job.limits.run));
                continue;
            }
            let interrupts = self.job.interrupts.clone();
            let left = self.job.limits.run.saturating_sub(self.began.elapsed());
            let met_one = tokio::select! {
                met_one = self.scenario(id, scenario, asked) => met_one,
                () = interrupts.first() => {
                    self.cut_short = Some("interrupted".to_owned());
                    continue;
                }
                () = tokio::time::sleep(left) => {
                    self.cut_short = Some(format!("the run took {:?} (--run-timeout)", self.job.limits.run));
                    continue;
                }
            };
            match met_one {
                Ok(revision) => spoken = spoken.or(Some(revision)),
                // The gateway may speak another revision.
                Err(Error::NotSpoken { offered, .. }) if self.job.revisions == Revisions::All => {
                    self.note(format!("revision {asked} was not tested: {offered}"));
                    return Ok(());
                }
                Err(error) if !met => return Err(error),
                Err(error) => self.note(format!("`{id}` was not tested: {}", error.in_short())),
            }
            met = true;
        }
        if let Some(revision) = spoken {
            self.keep(revision);
        }
        Ok(())
    }

    /// One scenario: starts the gateway and stops it again.
    async fn scenario(&mut self, id: &str, scenario: &Scenario, asked: Revision) -> Result<Revision, Error> {
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
            profile: ClientProfile { decorated: true, ..ClientProfile::default() },
            known: Arc::default(),
        };
        let wish = Wish::Exactly(asked);
        let done = self.drive(opener, wish, id, scenario).await;
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
        let revision = done.map_err(|unopened| with_words(unopened.error, &said))?;
        if !is_connected(&links) {
            return Err(never_connected(job, &said));
        }
        for link in links {
            self.recorder.settle(link, revision);
        }
        Ok(revision)
    }

    async fn drive(&mut self, opener: Opener, wish: Wish, id: &str, scenario: &Scenario) -> Result<Revision, Unopened> {
        let mut driver = Driver::open(opener, wish, id, self.listed.clone()).await?;
        let revision = driver.first().and_then(|session| session.revision());
        let revision = revision.ok_or_else(|| Error::usage("no revision was negotiated"))?;
        driver.perform(scenario).await;
        tokio::time::sleep(LAST).await;
        let notes = std::mem::take(&mut driver.notes);
        driver.close().await;
        for note in notes {
            self.note(note);
        }
        Ok(revision)
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

fn context(revision: Revision, transport: Transport, back: Transport, world: Option<World>) -> RunContext {
    RunContext {
        scenario: world.as_ref().map(|world| world.scenario.clone()),
        world,
        server: json!({ "back": back }),
        proposals: crate::reference::server::PROPOSALS.map(str::to_owned).to_vec(),
        ..RunContext::new(revision, Side::Gateway, transport)
    }
}

/// Here the gateway is the server of our client.
fn of_gateway(error: Error) -> Error {
    match error {
        Error::Target { tried, came, help, .. } => Error::Party { party: "gateway", tried, came, help },
        other => other,
    }
}

fn with_words(error: Error, said: &str) -> Error {
    let Some(line) = crate::wire::last_words(said) else { return error };
    match error {
        Error::Target { tried, came, help, refused } => {
            Error::Target { tried, came: format!("{came}; the gateway printed: {line}"), help, refused }
        }
        other => other,
    }
}

fn never_connected(job: &GatewayJob, said: &str) -> Error {
    let words = crate::wire::last_words(said).map(|line| format!("; it printed: {line}")).unwrap_or_default();
    let upstream = if job.back.transport.capabilities().process {
        "{upstream} in the command is replaced by the path of a program that the gateway has to start, without arguments"
    } else {
        "{upstream} in the command is replaced by the URL that the gateway has to connect to"
    };
    Error::Party {
        party: "gateway",
        tried: format!("to test {}", job.name()),
        came: format!("the gateway never connected to its upstream{words}"),
        help: upstream.to_owned(),
    }
}
