//! One test of a client: every scenario in each revision, and the evidence of all.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{
    contract,
    facts::{self, Start},
    job::ClientJob,
    process, reported,
    scenarios::{Planned, Worlds, planned},
    stage::Stage,
};
use crate::{
    error::Error,
    evidence::{Evidence, Frames, Recorder, RunContext, RunEnd, RunHeader, Scope, Side, Tested, Transport},
    plan::Filter,
    revision::Revision,
    run::inputs::job::Revisions,
    suite::{Scenario, Suite},
};

/// A client that had to be killed so often gets less time afterwards: it would hang again.
const HANGS: usize = 2;
/// So much.
const LESS: Duration = Duration::from_secs(5);

/// Starts the client again and again. `Err` is about the command and what was typed.
pub async fn conduct(
    job: &ClientJob,
    suites: &[Suite],
    filter: &Filter,
    recorder: Recorder,
) -> Result<Evidence, Error> {
    let (began, started) = (Instant::now(), SystemTime::now());
    let mut course = Course {
        job,
        recorder,
        worlds: Worlds::new(),
        planned: planned(suites, filter),
        began,
        hangs: 0,
        notes: Vec::new(),
        cut_short: None,
        scenes: Vec::new(),
    };
    match job.revisions {
        Revisions::Auto => course.newest().await?,
        Revisions::One(revision) => course.revision(revision).await?,
        Revisions::All => {
            for revision in Revision::ALL {
                course.revision(revision).await?;
            }
        }
    }
    let Course { recorder, notes, cut_short, scenes, .. } = course;
    let started = started.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let header = RunHeader {
        version: env!("CARGO_PKG_VERSION").into(),
        judged: Side::Client,
        target: Tested {
            name: job.name(),
            transport: job.transport.to_string(),
            command: Some(job.name()),
            ..Tested::default()
        },
        started,
        ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        scope: Scope { strict: job.strict, ..Scope::default() },
        evidence_frames: job.limits.evidence_frames,
        notes,
        end: RunEnd { cut_short, interrupted: job.interrupts.code(), failed_handshake: None },
    };
    Ok(Evidence { header, links: recorder.links(), frames: Frames::Recorded(recorder), scenes, cut_off: None })
}

struct Course<'a> {
    job: &'a ClientJob,
    recorder: Recorder,
    worlds: Worlds,
    planned: Vec<Planned<'a>>,
    began: Instant,
    hangs: usize,
    notes: Vec<String>,
    cut_short: Option<String>,
    scenes: Vec<RunContext>,
}

impl Course<'_> {
    /// The revision that the client uses when the newest is requested.
    async fn newest(&mut self) -> Result<(), Error> {
        let mut newest = Revision::ALL.into_iter().rev();
        let asked = newest.find(|revision| self.job.transport.is_defined_in(*revision));
        self.revision(asked.unwrap_or(Revision::NEWEST)).await
    }

    async fn revision(&mut self, asked: Revision) -> Result<(), Error> {
        let mut revision = asked;
        let mut starts = Vec::new();
        for index in 0..self.planned.len() {
            let (id, scenario) = (self.planned[index].id, self.planned[index].scenario);
            let applies = self.planned[index].applies(revision, self.job.transport)
                && self.worlds.shows(&scenario.world, revision, self.job.transport);
            if self.cut_short.is_some() || (!applies && !starts.is_empty()) {
                continue;
            }
            let left = self.job.limits.run.saturating_sub(self.began.elapsed());
            if left.is_zero() {
                self.cut_short = Some(format!("the run took {:?} (--run-timeout)", self.job.limits.run));
                continue;
            }
            let interrupts = self.job.interrupts.clone();
            let (start, links) = tokio::select! {
                started = self.start(id, scenario, revision) => started?,
                () = interrupts.first() => {
                    self.cut_short = Some("interrupted".to_owned());
                    continue;
                }
            };
            if starts.is_empty() {
                let Some(spoken) = self.spoken(&links) else {
                    return Err(never_connected(self.job, &start));
                };
                if spoken != asked && self.job.revisions != Revisions::Auto {
                    let note = format!(
                        "revision {asked} was not tested: the client uses {spoken} although {asked} was requested"
                    );
                    self.notes.push(note);
                    return Ok(());
                }
                revision = spoken;
            }
            for link in links {
                self.recorder.settle(link, revision);
            }
            starts.push(start);
        }
        self.keep(revision, &starts);
        Ok(())
    }

    fn spoken(&self, links: &[u32]) -> Option<Revision> {
        self.recorder.links().iter().filter(|link| links.contains(&link.link)).find_map(|link| link.revision)
    }

    /// One start of the client, and the connections that it opened.
    async fn start(&mut self, id: &str, scenario: &Scenario, revision: Revision) -> Result<(Start, Vec<u32>), Error> {
        let job = self.job;
        let stage =
            Stage::open(self.worlds.options(&scenario.world), job.transport, id, &job.program, &self.recorder).await?;
        let left = job.limits.run.saturating_sub(self.began.elapsed());
        let usual = if self.hangs < HANGS { job.limits.start } else { job.limits.start.min(LESS) };
        let limit = (usual + contract::waits(scenario)).min(left);
        let mut env = job.env.clone();
        env.extend(contract::environment(scenario, revision, job.transport, &stage, limit));
        let ran =
            process::run(&contract::command(&job.command, &stage.target), &env, job.cwd.as_deref(), limit).await?;
        self.hangs += usize::from(ran.hung);
        let reported = reported::actions(&scenario.drive, &stage.report());
        let (links, spawned) = stage.close().await;
        let start = facts::start(id, &scenario.world, &ran, &links, &spawned, reported, &self.recorder);
        Ok((start, links))
    }

    /// What the rules of this revision see: first those that judge everything.
    fn keep(&mut self, revision: Revision, starts: &[Start]) {
        let together = |of: fn(&Start) -> Vec<Value>| starts.iter().flat_map(of).collect::<Vec<_>>();
        let saves = |runs: Vec<Value>, spawns: Vec<Value>, actions: Vec<Value>| {
            IndexMap::from(
                [("runs", runs), ("spawns", spawns), ("actions", actions)]
                    .map(|(name, values)| (name.to_owned(), json!(values))),
            )
        };
        let all = saves(
            together(|start| vec![start.run.clone()]),
            together(|start| start.spawns.clone()),
            together(|start| start.actions.clone()),
        );
        self.scenes.push(scene(revision, self.job.transport, None, all));
        for planned in &self.planned {
            let start = starts.iter().find(|start| start.scenario == planned.id);
            let own = start.map(|start| saves(vec![start.run.clone()], start.spawns.clone(), start.actions.clone()));
            self.scenes.push(scene(revision, self.job.transport, Some(planned.id.to_owned()), own.unwrap_or_default()));
        }
    }
}

fn scene(
    revision: Revision,
    transport: Transport,
    scenario: Option<String>,
    saves: IndexMap<String, Value>,
) -> RunContext {
    RunContext {
        revision,
        subject: Side::Client,
        scenario,
        generated: false,
        transport,
        server: Value::Null,
        client: Value::Null,
        facts: Value::Null,
        proposals: crate::reference::PROPOSALS.map(str::to_owned).to_vec(),
        protected: false,
        saves,
        incidents: IndexMap::new(),
        skipped: IndexMap::new(),
    }
}

fn never_connected(job: &ClientJob, start: &Start) -> Error {
    let how = match (start.run["end"].as_str(), start.run["code"].as_i64()) {
        (Some("hung"), _) => format!("it did not connect within {:?}", job.limits.start),
        (Some("signal"), _) => format!("it was ended by signal {} before it connected", start.run["signal"]),
        (_, code) => format!("it exited with code {} before it connected", code.unwrap_or_default()),
    };
    let words = crate::wire::last_words(start.run["stderr"].as_str().unwrap_or_default());
    let said = words.map(|line| format!("; on stderr: {line}")).unwrap_or_default();
    let place = if job.transport.capabilities().process {
        "{stub} in the command is replaced by the path of the server to start; without it the path is the last argument"
    } else {
        "{url} in the command is replaced by the URL; without it the URL is the last argument"
    };
    Error::Client { tried: format!("to start {}", job.name()), came: how + &said, help: place.to_owned() }
}
