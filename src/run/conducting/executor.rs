//! Lanes: each gathers one suite after another on connections of its own, and several may be under way at once.

use std::{
    sync::{Mutex, atomic::Ordering},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::{task::JoinHandle, time::timeout};

use super::{
    clients,
    gathered::Gathered,
    schedule::Lane,
    stop::Stop,
    suite_effects::{asks, starts_ahead},
};
use crate::{
    error::Error,
    evidence::{Recorder, RunContext, Side},
    gather::{Controls, Stage, gather},
    revision::Revision,
    run::inputs::job::Job,
    session::{Conversation, OneShot, Opener, Session, Unopened, Wish, lock},
    suite::{Client, Connection, SURVEY, Suite},
    target::Start,
};

/// Lanes at once: a process that starts keeps a processor busy, and further ones only slow each other down, ...
const AT_ONCE: usize = 4;
/// ... unless they start so quickly that lanes do little but wait.
const QUICK_AT_ONCE: usize = 8;
/// As many connections as browsers have to one host.
pub const AT_ONCE_OVER_HTTP: usize = 6;

/// How a connection ended, and what it was last sent.
fn ended_behind(recorder: &Recorder, link: u32, why: String) -> String {
    let sent = recorder.frames_where(|of, _| of == link).filter(|frame| frame.from == Side::Client);
    let methods = sent.filter_map(|frame| Some(frame.message.as_ref()?["method"].as_str()?.to_owned()));
    match methods.last() {
        Some(method) => format!("{why}; the last message to the server was `{method}`"),
        None => why,
    }
}

/// The suites of a lane that were gathered, and those for which no connection could be had.
#[derive(Default)]
struct Walked<'a> {
    gathered: Vec<Gathered<'a>>,
    unopened: Vec<(&'a Suite, Error)>,
}

/// A lane of the schedule, with the place where the connection is kept that its suites share, unless nobody else is to use
/// it. It is opened when it is needed.
pub struct OpenLane<'a, 'c> {
    pub lane: Lane<'a>,
    pub shared: Option<&'c mut Option<Conversation>>,
}

pub struct Lanes<'a> {
    pub(super) job: &'a Job,
    pub opener: Opener,
    pub stop: Stop,
    /// Conversations that are being ended; a bad end that is to be noted comes out in words.
    endings: Mutex<Vec<JoinHandle<Option<String>>>>,
    notes: Mutex<Vec<String>>,
    /// Held by the lane that asks, of those that are not to ask at once.
    turn: tokio::sync::Mutex<()>,
    /// The last suite that the server did not survive, of those that may end it.
    ended_under: Mutex<Option<String>>,
}

impl<'a> Lanes<'a> {
    pub fn new(job: &'a Job, opener: Opener) -> Self {
        let stop = Stop::new(&job.limits, &opener, &job.interrupts);
        Self {
            job,
            opener,
            stop,
            endings: Mutex::default(),
            notes: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            ended_under: Mutex::default(),
        }
    }

    /// Gathers in one lane after another.
    pub async fn one_by_one(&self, lanes: Vec<OpenLane<'a, '_>>, scene: &RunContext) -> Vec<Gathered<'a>> {
        let mut all = Vec::new();
        for lane in lanes {
            let Walked { gathered, unopened } = self.walk(lane, scene, false).await;
            all.extend(gathered);
            all.extend(unopened.into_iter().map(|(suite, error)| {
                let gone = match lock(&self.ended_under).as_ref() {
                    Some(ended) => format!("the server closed its connections during {ended} and did not recover"),
                    None => "the server could not be reached again".to_owned(),
                };
                Gathered::nothing(suite, self.stop.why().unwrap_or_else(|| format!("{gone}: {}", error.came())))
            }));
        }
        all
    }

    /// Gathers in several lanes at once. The suites for which a connection could not be had beside the others, or not to
    /// the end, come second: they may get it when nothing else is connected.
    pub async fn side_by_side(
        &self,
        lanes: Vec<OpenLane<'a, '_>>,
        scene: &RunContext,
    ) -> (Vec<Gathered<'a>>, Vec<Gathered<'a>>) {
        let able = scene.transport.capabilities();
        let at_once = match () {
            () if able.stream_per_request => AT_ONCE_OVER_HTTP,
            () if self.connects_quickly() => QUICK_AT_ONCE,
            () => AT_ONCE,
        };
        let (shared, known) = (able.shared, &self.opener.known);
        let (missed, before, hangs) =
            (known.unanswered.count(), known.unanswered.by_suite(), known.hangs.load(Ordering::Relaxed));
        let walked: Vec<Walked> =
            stream::iter(lanes).map(|lane| self.walk(lane, scene, true)).buffer_unordered(at_once).collect().await;
        let (mut all, mut left) = (Vec::new(), Vec::new());
        // Whose request has ended a server that all share, or was only one too many, shows when each is alone with it.
        let since = known.unanswered.by_suite();
        let is_lost = |gathered: &Gathered| {
            let missed = since.get(&gathered.suite.id) > before.get(&gathered.suite.id);
            gathered.lost || (shared && (gathered.was_cut_off() || missed))
        };
        for Walked { gathered, unopened } in walked {
            let (lost, gathered): (Vec<_>, Vec<_>) = gathered.into_iter().partition(is_lost);
            all.extend(gathered);
            left.extend(lost);
            left.extend(unopened.into_iter().map(|(suite, error)| Gathered::nothing(suite, error.came())));
        }
        let again: Vec<&str> = left.iter().map(|gathered| gathered.suite.id.as_str()).collect();
        if shared {
            known.asks_again(missed, hangs, &again);
            for suite in &again {
                self.opener.recorder.asked_again(suite);
            }
        }
        (all, left)
    }

    async fn walk(&self, OpenLane { lane, shared }: OpenLane<'a, '_>, scene: &RunContext, crowded: bool) -> Walked<'a> {
        let mut walked = Walked::default();
        let mut own = None;
        let shared = shared.unwrap_or(&mut own);
        for suite in lane.suites {
            let takes_turns = scene.transport.capabilities().stream_per_request && self.opener.known.is_strained();
            let _turn = if takes_turns { Some(self.turn.lock().await) } else { None };
            let mut apart = None;
            let fresh = suite.connection == Connection::Fresh;
            let alone = (fresh && !lane.even_fresh) || suite.client != Client::Full;
            match self.suite(suite, scene, if alone { &mut apart } else { &mut *shared }, crowded).await {
                Ok(gathered) => walked.gathered.push(gathered),
                Err(error) => walked.unopened.push((suite, error)),
            }
            self.close(apart, false).await;
            if !alone
                && (fresh || suite.connection == Connection::Own)
                && !self.stop.unless(self.is_well(shared.as_ref())).await.is_ok_and(|well| well)
            {
                self.close(shared.take(), false).await;
            }
        }
        self.close(own, false).await;
        walked
    }

    /// Gathers for one suite, on the conversation given or, without one, on a new one.
    pub async fn suite(
        &self,
        suite: &'a Suite,
        scene: &RunContext,
        conversation: &mut Option<Conversation>,
        crowded: bool,
    ) -> Result<Gathered<'a>, Error> {
        if let Some(why) = self.stop.why() {
            return Ok(Gathered::nothing(suite, why));
        }
        let beside = OneShot::new(self.opener(suite.client), scene.revision, crowded);
        if crowded && !self.connects_quickly() {
            beside.start_ahead(starts_ahead(suite, scene)).await;
        }
        if conversation.is_none() && suite.connection != Connection::Alone && asks(suite, scene) {
            *conversation = Some(self.open(&beside.opener, scene.revision).await?);
        }
        let conversation = conversation.as_ref();
        if let Some(conversation) = conversation {
            conversation.serve(&suite.id);
        }
        let deaths = || conversation.map(Conversation::deaths).unwrap_or_default();
        let earlier = deaths().len();
        let recorder = &self.opener.recorder;
        let stage = Stage {
            suite,
            beside: &beside,
            conversation,
            recorder,
            limits: &self.job.limits,
            scene,
            controls: Controls::default(),
        };
        let saves = self.stop.unless_in_suite(gather(&stage)).await;
        let lost = beside.lost.load(Ordering::Relaxed);
        self.end(async move {
            beside.close().await;
            None
        });
        let incident = match (&saves, conversation) {
            (Err(why), _) => Some(why.clone()),
            (Ok(_), None) => None,
            // What may end the server has done so; nothing else will be asked on it.
            (Ok(_), Some(conversation)) if matches!(suite.connection, Connection::Last | Connection::Alone) => {
                if conversation.is_over().await {
                    *lock(&self.ended_under) = Some(suite.id.clone());
                }
                None
            }
            // The last request may have killed it; that alone kept nothing from being asked.
            (Ok(_), Some(conversation)) => {
                let session = conversation.session().await;
                session.closed().map(|why| ended_behind(recorder, session.link(), why))
            }
        };
        // What the last request has done shows only now.
        let deaths: Vec<String> = deaths().drain(..).skip(earlier).collect();
        if let Some(why) = self.stop.why() {
            recorder.cut_short(&why, self.job.limits.request);
        }
        if suite.id != SURVEY {
            self.job.suites.one_done();
        }
        let saves = saves.unwrap_or_else(|_| json!({}));
        Ok(Gathered { suite, saves, incident, deaths, lost, unasked: false })
    }

    /// A connection, unless everything is to stop before it stands.
    pub async fn connect(&self, opener: &Opener, wish: Wish) -> Result<Session, Unopened> {
        let came = match self.stop.unless(Box::pin(opener.open(wish))).await {
            Ok(opened) => return opened,
            Err(came) => came,
        };
        opener.recorder.cut_short(&came, self.job.limits.request);
        let help = "check the last messages before that above".to_owned();
        Err(Error::Target { tried: self.job.target.name.clone(), came, help, refused: false }.into())
    }

    fn opener(&self, client: Client) -> Opener {
        Opener { profile: clients::profile(client, &self.opener.profile), ..self.opener.clone() }
    }

    pub(super) async fn open(&self, opener: &Opener, revision: Revision) -> Result<Conversation, Error> {
        let mut opened = self.connect(opener, Wish::Exactly(revision)).await;
        if opened.is_err() && !lock(&self.endings).is_empty() {
            // Some servers bear no second instance, and the one before may still be on its way out.
            self.closed().await;
            opened = self.connect(opener, Wish::Exactly(revision)).await;
        }
        let session = opened.map_err(|unopened| unopened.error)?;
        Ok(Conversation::new(opener.clone(), session, revision))
    }

    /// Whether a connection still answers after what was done to it.
    pub(super) async fn is_well(&self, conversation: Option<&Conversation>) -> bool {
        let Some(conversation) = conversation else { return false };
        conversation.session().await.is_well().await
    }

    /// Ends a conversation while the run goes on; a server that takes its time holds nothing up. Over HTTP it takes one
    /// request, and servers that have one session alone lose the next one if that comes too late.
    pub async fn close(&self, conversation: Option<Conversation>, noted: bool) {
        let Some(conversation) = conversation else { return };
        let limit = self.job.limits.grace * 10 + Duration::from_secs(1);
        let is_process = matches!(self.job.target.start, Start::Stdio { .. });
        self.end(async move {
            let how = timeout(limit, conversation.close()).await.ok()?.how;
            (noted && is_process && !how.starts_with("exited with status 0 ")).then(|| format!("the server {how}"))
        });
        if matches!(self.job.target.start, Start::Http { .. }) {
            self.closed().await;
        }
    }

    /// Lets connections end while the run goes on.
    pub(super) fn end(&self, ending: impl Future<Output = Option<String>> + Send + 'static) {
        lock(&self.endings).push(tokio::spawn(ending));
    }

    /// Waits until every conversation has ended.
    pub async fn closed(&self) {
        let endings = std::mem::take(&mut *lock(&self.endings));
        for ending in endings {
            let note = ending.await.ok().flatten();
            lock(&self.notes).extend(note);
        }
    }

    /// What is to be said of how conversations ended.
    pub fn notes(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.notes))
    }
}
