//! One run: open a conversation, gather what the suites ask for, judge it; once for each revision to be tested.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::json;
use tokio::{
    task::JoinHandle,
    time::{error::Elapsed, timeout},
};

use super::{
    Job, Revisions, clients, graph,
    scene::{describe, left_alone, scene},
    shown::show_frames,
    timeline::timeline,
    unopened,
    verdict::sum_up,
};
use crate::{
    error::Error,
    evidence::{End, Frame, Recorder, Scene, Transport},
    gather::{Stage, add_prefixes, adoption, authorization, complete_facts, gather},
    judge::judge,
    outcome::RunReport,
    plan::{Filter, deciding, plan, proposals},
    revision::Revision,
    session::{CallOptions, Conversation, Opener, Unopened, Wish},
    suite::{Client, Connection, SURVEY, Suite},
    target::Start,
    wire::Ending,
};

/// A run that is over: the report, and the evidence it rests on.
pub struct Conducted {
    pub report: RunReport,
    pub recorder: Recorder,
    pub scenes: Vec<Scene>,
}

pub async fn conduct(job: &Job, suites: &[Suite], filter: &Filter) -> Result<Conducted, Error> {
    let began = Instant::now();
    let recorder = Recorder::new(job.limits.memory_bytes);
    let mut run = Run {
        job,
        suites,
        filter,
        opener: Opener {
            target: job.target.clone(),
            limits: job.limits.clone(),
            recorder: recorder.clone(),
            face: clients::usual(job),
            hangs: Arc::default(),
        },
        recorder,
        deadline: began + job.limits.run,
        notes: Vec::new(),
        scenes: Vec::new(),
        endings: Vec::new(),
    };
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let opened = match job.revisions {
        Revisions::Auto => run.revision(Wish::Newest).await,
        Revisions::One(revision) => run.revision(Wish::Exactly(revision)).await,
        Revisions::All => run.every_revision().await,
    };
    let failure = match opened {
        Ok(()) => None,
        Err(unopened) => Some(run.fall_back(unopened).await?),
    };
    let Run { recorder, mut notes, scenes, .. } = run;
    notes.extend(recorder.lost());
    let mut rules = Vec::new();
    for scene in &scenes {
        rules.extend(judge(&plan(suites, scene, filter), scene, &recorder.links(), recorder.frames()));
    }
    if failure.is_some() {
        unopened::explain(&mut rules);
    }
    show_frames(&mut rules, recorder.frames());
    let target = describe(&job.target, &scenes);
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut report = sum_up(target, rules, notes, started, ms, job.strict);
    illustrate(&mut report, suites, &scenes, recorder.frames());
    let report = match failure {
        Some(error) => unopened::conclude(error, report)?,
        None => report,
    };
    Ok(Conducted { report, recorder, scenes })
}

/// Adds what a report shows besides verdicts.
pub fn illustrate(
    report: &mut RunReport,
    suites: &[Suite],
    scenes: &[Scene],
    frames: impl Iterator<Item = Arc<Frame>>,
) {
    report.timeline = timeline(frames);
    report.graph = scenes.last().and_then(|scene| graph::graph(scene, suites));
}

/// A run on its way.
struct Run<'a> {
    job: &'a Job,
    suites: &'a [Suite],
    filter: &'a Filter,
    recorder: Recorder,
    opener: Opener,
    deadline: Instant,
    notes: Vec<String>,
    scenes: Vec<Scene>,
    /// Conversations that are being ended, and whether a bad end is to be noted.
    endings: Vec<(JoinHandle<Result<Ending, Elapsed>>, bool)>,
}

impl Run<'_> {
    async fn every_revision(&mut self) -> Result<(), Unopened> {
        let mut refusal = None;
        for revision in Revision::ALL {
            match self.revision(Wish::Exactly(revision)).await {
                Ok(()) => {}
                Err(unopened @ Unopened { error: Error::NotSpoken { .. }, .. }) => refusal = Some(unopened),
                Err(unopened) if self.scenes.is_empty() => refusal = Some(unopened),
                Err(unopened) => return Err(unopened),
            }
        }
        match refusal {
            Some(unopened) if self.scenes.is_empty() => Err(unopened),
            _ => Ok(()),
        }
    }

    /// The handshake failed; the error comes back if there is something to judge all the same.
    async fn fall_back(&mut self, unopened: Unopened) -> Result<Error, Error> {
        if !self.scenes.is_empty() {
            return Err(unopened.error);
        }
        let Some((mut scene, note)) = unopened::scene_without_handshake(&unopened, self.job, &self.recorder) else {
            return Err(unopened.error);
        };
        if unopened::lets_nobody_in(&unopened.hello) {
            self.outside(&mut scene).await?;
        }
        self.scenes.push(scene);
        self.notes.push(note);
        Ok(unopened.error)
    }

    /// Gathers what a server that lets nobody in shows from outside.
    async fn outside(&mut self, scene: &mut Scene) -> Result<(), Error> {
        let session = self.opener.knock(scene.revision).await.map_err(|unopened| unopened.error)?;
        self.recorder.settle(session.link(), scene.revision);
        let conversation = Conversation::new(self.opener.clone(), session, scene.revision);
        authorization(scene, &conversation, &self.job.target).await;
        let planned = plan(self.suites, scene, self.filter);
        let mut conversation = Some(conversation);
        for planned in planned.suites.iter().filter(|planned| planned.suite.applies.protected && planned.runs()) {
            self.suite(planned.suite, scene, &mut conversation).await;
        }
        self.close(conversation, false).await;
        self.closed().await;
        Ok(())
    }

    /// Gathers for one revision, from the handshake to the orderly end.
    async fn revision(&mut self, wish: Wish) -> Result<(), Unopened> {
        let session = self.opener.open(wish).await?;
        let Some(revision) = session.revision() else {
            return Err(Error::usage("the server settled on no revision").into());
        };
        let mut scene = scene(&session.hello, session.transport(), revision, self.job);
        let mut shared = Some(Conversation::new(self.opener.clone(), session, revision));
        if let Some(survey) = self.suites.iter().find(|suite| suite.id == SURVEY) {
            self.suite(survey, &mut scene, &mut shared).await;
        }
        let survey = scene.saves.get(SURVEY).cloned().unwrap_or_default();
        complete_facts(&mut scene.facts, &survey, self.job.call_tools);
        self.notes.extend(left_alone(&scene, self.job.call_tools).filter(|note| !self.notes.contains(note)));
        if let Some(shared) = &shared {
            let known = deciding(self.suites, self.filter);
            let adopted = adoption(&self.job.proposals, &known, &scene, shared).await;
            self.note(adopted.note(&proposals(self.suites, self.filter)));
            scene.proposals = adopted.judged;
            authorization(&mut scene, shared, &self.job.target).await;
        }
        if scene.proposals.iter().any(|name| name == "sep-prefix") {
            add_prefixes(&mut scene.facts, &survey);
        }

        let planned = plan(self.suites, &scene, self.filter);
        let wanted = clients::with_evidence(&planned, self.suites, &scene);
        let gathering = |connection| {
            wanted.iter().copied().filter(move |suite| {
                let fits = suite.connection == connection && suite.client == Client::Full;
                fits && suite.id != SURVEY && !suite.gather.is_empty()
            })
        };
        for suite in gathering(Connection::Shared) {
            self.suite(suite, &mut scene, &mut shared).await;
        }
        // What may disturb a connection shares a second one, as long as that bears it: starting a server is dear. Many
        // servers of HTTP+SSE bear one connection at a time and end with it, so there the first one has to do.
        let mut second = None;
        if scene.transport == Transport::Sse {
            second = shared;
        } else {
            self.close(shared, true).await;
        }
        for suite in gathering(Connection::Own) {
            self.suite(suite, &mut scene, &mut second).await;
            if !self.is_well(second.as_ref()).await {
                self.close(second.take(), false).await;
            }
        }
        for suite in gathering(Connection::Last) {
            self.suite(suite, &mut scene, &mut second).await;
        }
        self.close(second, false).await;
        for suite in gathering(Connection::Fresh) {
            let mut fresh = None;
            self.suite(suite, &mut scene, &mut fresh).await;
            self.close(fresh, false).await;
        }
        for suite in wanted.iter().filter(|suite| suite.client != Client::Full) {
            if clients::was_asked(&self.recorder) {
                self.before_another_client(suite, &mut scene).await;
            }
        }
        self.note(graph::summary(&scene, self.suites));
        self.scenes.push(scene);
        self.closed().await;
        Ok(())
    }

    /// Gathers for a suite on a connection whose client declares less than usual.
    async fn before_another_client(&mut self, suite: &Suite, scene: &mut Scene) {
        let usual = clients::usual(self.job);
        self.opener.face = clients::face(suite.client, &usual);
        let mut own = None;
        self.suite(suite, scene, &mut own).await;
        self.close(own, false).await;
        self.opener.face = usual;
    }

    /// Adds a note, unless it was added for another revision already.
    fn note(&mut self, note: Option<String>) {
        self.notes.extend(note.filter(|note| !self.notes.contains(note)));
    }

    /// Whether a connection still answers after what was done to it.
    async fn is_well(&self, conversation: Option<&Conversation>) -> bool {
        let Some(conversation) = conversation else { return false };
        let session = conversation.session().await;
        let modern = session.revision().is_some_and(Revision::is_modern);
        let method = if modern { "server/discover" } else { "ping" };
        matches!(session.call("probe", method, None, CallOptions::default()).await.end, End::Result | End::Error)
    }

    /// Gathers for one suite, on the conversation given or, without one, on a new one.
    async fn suite(&mut self, suite: &Suite, scene: &mut Scene, conversation: &mut Option<Conversation>) {
        if conversation.is_none() {
            let mut opened = self.opener.open(Wish::Exactly(scene.revision)).await;
            if opened.is_err() && !self.endings.is_empty() {
                // Some servers bear no second instance, and the one before may still be on its way out.
                self.closed().await;
                opened = self.opener.open(Wish::Exactly(scene.revision)).await;
            }
            match opened {
                Ok(fresh) => *conversation = Some(Conversation::new(self.opener.clone(), fresh, scene.revision)),
                Err(Unopened { error, .. }) => {
                    scene.incidents.insert(suite.id.clone(), format!("the server could not be started again: {error}"));
                    return;
                }
            }
        }
        let Some(conversation) = conversation else { return };
        let deaths = conversation.deaths().len();
        let stage = Stage { suite, conversation, recorder: &self.recorder, limits: &self.job.limits, scene: &*scene };
        let left = self.deadline.saturating_duration_since(Instant::now());
        let saves = timeout(left, gather(&stage)).await;
        for why in conversation.deaths().drain(..).skip(deaths) {
            self.notes
                .push(format!("the server died under {} ({}) and was started anew: {why}", suite.id, scene.revision));
        }
        let incident = match &saves {
            Err(_) => Some(format!("the time for the whole run ({} s) was over", self.job.limits.run.as_secs())),
            // What may end the server has done so; nothing else will be asked on it.
            Ok(_) if suite.connection == Connection::Last => None,
            // The last request may have killed it; that alone kept nothing from being asked.
            Ok(_) => conversation.session().await.closed(),
        };
        if let Some(why) = incident {
            self.notes.push(format!("in {} ({}): {why}", suite.id, scene.revision));
            scene.incidents.insert(suite.id.clone(), why);
        }
        scene.saves.insert(suite.id.clone(), saves.unwrap_or_else(|_| json!({})));
    }

    /// Ends a conversation while the run goes on; a server that takes its time holds nothing up. Over HTTP it takes one
    /// request, and servers that have one session alone lose the next one if that comes too late.
    async fn close(&mut self, conversation: Option<Conversation>, noted: bool) {
        let Some(conversation) = conversation else { return };
        let limit = self.job.limits.grace * 3 + Duration::from_secs(1);
        self.endings.push((tokio::spawn(timeout(limit, conversation.close())), noted));
        if matches!(self.job.target.start, Start::Http { .. }) {
            self.closed().await;
        }
    }

    /// Waits until every conversation has ended. How the server of the survey ended is worth a note.
    async fn closed(&mut self) {
        for (ending, noted) in std::mem::take(&mut self.endings) {
            if let (Ok(Ok(ending)), true) = (ending.await, noted)
                && matches!(self.job.target.start, Start::Stdio { .. })
                && !ending.how.contains("status 0")
            {
                self.notes.push(format!("the server {}", ending.how));
            }
        }
    }
}
