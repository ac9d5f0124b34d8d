//! Executes the schedule, stage by stage and lane by lane.

use std::{
    collections::HashMap,
    ptr,
    sync::{Arc, Mutex as StdMutex, atomic::Ordering},
    time::Duration,
};

use tokio::{
    sync::{Mutex, watch},
    time::timeout,
};

use super::{
    capacity::Capacity,
    clients,
    endings::Endings,
    fail_fast::FailFast,
    gathered::Gathered,
    in_words::in_words,
    one_suite::UNREACHABLE,
    phases::connections,
    schedule::{Lane, Slot, schedule},
    stop::{Incident, Stop},
};
use crate::{
    error::Error,
    evidence::{Ended, RunContext},
    revision::Revision,
    run::inputs::job::Job,
    session::{Conversation, Opener, Session, Unopened, Wish, lock},
    suite::{Connection, SURVEY, Suite},
    wire::Ending,
};

/// The suites of a lane that were gathered, and those for which no connection could be opened.
#[derive(Default)]
pub(super) struct Walked<'a> {
    pub(super) gathered: Vec<Gathered<'a>>,
    pub(super) unopened: Vec<(&'a Suite, Error)>,
}

/// The connections that stay open from one stage to the next. A lane locks the one that it uses.
pub(super) type Slots = [Mutex<Option<Conversation>>; 2];

pub struct Executor<'a> {
    pub(super) job: &'a Job,
    pub opener: Opener,
    pub stop: Stop,
    pub fail_fast: FailFast<'a>,
    pub endings: Endings,
    /// The last suite during which the server exited, of those that may kill it.
    pub(super) killed_by_suite: StdMutex<Option<String>>,
    /// The turns of lanes, by name.
    turns: StdMutex<HashMap<String, Arc<Mutex<()>>>>,
    /// Whether all suites are finished but those that observe.
    pub(super) stages_are_over: watch::Sender<bool>,
}

impl<'a> Executor<'a> {
    pub fn new(job: &'a Job, fail_fast: FailFast<'a>, opener: Opener) -> Self {
        let stop = Stop::new(&job.limits, &opener, &job.interrupts);
        let (endings, killed_by_suite, turns, stages_are_over) = Default::default();
        Self { job, opener, stop, fail_fast, endings, killed_by_suite, turns, stages_are_over }
    }

    /// The schedule for these suites in words; `first` is the connection of the survey.
    pub async fn plan(&self, suites: &[&Suite], context: &RunContext, first: Option<Conversation>) -> String {
        let (capacity, second) = self.measure(suites, context, first.as_ref()).await;
        self.close(second, false).await;
        self.close(first, false).await;
        self.endings.wait().await;
        let title = format!("schedule for {} over {}\n", context.revision, context.transport);
        format!("{title}{capacity}{}", in_words(&schedule(suites, context, capacity)))
    }

    /// Gathers evidence for these suites. The results are in the order of the suites.
    pub async fn gather_all(
        &self,
        suites: &[&'a Suite],
        context: &RunContext,
        first: Option<Conversation>,
    ) -> Vec<Gathered<'a>> {
        let (capacity, second) = self.measure(suites, context, first.as_ref()).await;
        let slots = [Mutex::new(first), Mutex::new(second)];
        let phases = schedule(suites, context, capacity);
        if capacity.process && capacity.connections > 1 && !capacity.starts_quickly() {
            let Opener { known, target, limits, .. } = &self.opener;
            known.ahead.expect(connections(&phases, context), target, limits);
        }
        self.stages_are_over.send_replace(false);
        let mut all = Vec::new();
        for phase in phases {
            all.extend(self.phase(phase, context, &slots, capacity).await);
        }
        self.end_unused();
        let mut noted = false;
        for slot in slots {
            let conversation = slot.into_inner();
            let was_open = conversation.is_some();
            self.close(conversation, !noted).await;
            noted |= was_open;
        }
        all.sort_by_key(|gathered| suites.iter().position(|suite| suite.id == gathered.suite.id));
        all
    }

    /// The note for a server that rejected every connection except one.
    pub fn single_connection_note(&self) -> Option<String> {
        let is_single = self.opener.known.single.load(Ordering::Relaxed);
        is_single.then(|| {
            "no second connection could be used while one was open: rules that need two were not judged".to_owned()
        })
    }

    pub(super) fn unreachable(&self, suite: &'a Suite, error: &Error) -> Gathered<'a> {
        let gone = match lock(&self.killed_by_suite).as_ref() {
            Some(ended) => format!("the server closed its connections during {ended} and did not recover"),
            None => UNREACHABLE.to_owned(),
        };
        let lost = || Incident::Lost(format!("{gone}: {}", error.came()));
        Gathered::nothing(suite, self.stop.why().unwrap_or_else(lost))
    }

    pub(super) async fn walk(
        &self,
        lane: Lane<&'a Suite>,
        context: &RunContext,
        slots: &Slots,
        capacity: Capacity,
        crowded: bool,
    ) -> Walked<'a> {
        let new = Mutex::default();
        let turn = lane.turn.as_ref().map(|turn| self.turn(turn));
        let on = match lane.on {
            Slot::Survey => &slots[0],
            Slot::Second => &slots[1],
            Slot::New => &new,
        };
        for slot in slots.iter().filter(|slot| capacity.connections == 1 && !ptr::eq(*slot, on)) {
            self.close(slot.lock().await.take(), false).await;
        }
        let (mut walked, mut shared) = (Walked::default(), on.lock().await);
        let mut is_unused = lane.on != Slot::Survey;
        let mut suites = lane.suites.into_iter().peekable();
        while let Some(suite) = suites.next() {
            let needs_unused = suite.connection == Connection::New;
            if needs_unused && !is_unused {
                self.close(shared.take(), false).await;
            }
            is_unused = needs_unused;
            match self.suite(suite, context, &mut shared, turn.as_deref(), crowded).await {
                Ok(gathered) => {
                    self.stop_if_failed(&gathered, context, crowded);
                    walked.gathered.push(gathered);
                }
                Err(error) => walked.unopened.push((suite, error)),
            }
            let is_used_again = lane.on != Slot::New || suites.peek().is_some();
            if is_used_again
                && matches!(suite.connection, Connection::New | Connection::Isolated)
                && !self.stop.unless(self.responds(shared.as_ref())).await.is_ok_and(|well| well)
            {
                self.close(shared.take(), false).await;
            }
        }
        if lane.on == Slot::New {
            self.close(shared.take(), false).await;
        }
        walked
    }

    fn turn(&self, name: &str) -> Arc<Mutex<()>> {
        Arc::clone(lock(&self.turns).entry(name.to_owned()).or_default())
    }

    /// With `--fail-fast`, stops the run if a rule of the suite fails. Suites that are compared with others or repeated
    /// alone are judged at the end.
    fn stop_if_failed(&self, gathered: &Gathered, context: &RunContext, crowded: bool) {
        let suite = gathered.suite;
        let is_asked_again = crowded && (gathered.lost || gathered.was_cut_off());
        if self.job.fail_fast.is_none() || is_asked_again || !suite.requires.is_empty() {
            return;
        }
        let mut context = context.clone();
        context.saves.insert(suite.id.clone(), gathered.saves.clone());
        if let Some(rule) = self.fail_fast.failed(|of| of.id == suite.id, &context, &self.opener.recorder) {
            self.stop.after(&rule);
        }
    }

    /// The same for suites that send no requests of their own.
    pub fn stop_if_seen_failing(&self, context: &RunContext) {
        let asks_nothing = |suite: &Suite| suite.gather.is_empty() || suite.id == SURVEY;
        if let Some(rule) = self.fail_fast.failed(asks_nothing, context, &self.opener.recorder) {
            self.stop.after(&rule);
        }
    }

    /// Opens a connection, unless the run stops first.
    pub async fn connect(&self, opener: &Opener, wish: Wish) -> Result<Session, Unopened> {
        let came = match self.stop.unless(Box::pin(opener.open(wish))).await {
            Ok(opened) => return opened,
            Err(stopped) => stopped.to_string(),
        };
        opener.recorder.cut_short(&came, self.job.limits.request);
        let help = "there was no response to the handshake until then; if the server only needs more time, raise --timeout and --run-timeout".to_owned();
        Err(Error::Target { tried: self.job.target.name.clone(), came, help, refused: false }.into())
    }

    /// A suite about an extension has connections of a client that declares it.
    pub(super) fn opener_for(&self, suite: &Suite) -> Opener {
        let mut profile = clients::profile(suite.capabilities, &self.opener.profile);
        profile.extension.clone_from(&suite.applies.extension);
        Opener { profile, ..self.opener.clone() }
    }

    pub(super) async fn open(&self, opener: &Opener, revision: Revision) -> Result<Conversation, Error> {
        let mut opened = self.connect(opener, Wish::Exactly(revision)).await;
        if opened.is_err() && self.endings.are_pending() {
            // Some servers do not support a second instance, and the previous one may still be exiting.
            self.endings.wait().await;
            opened = self.connect(opener, Wish::Exactly(revision)).await;
        }
        let session = opened.map_err(|unopened| unopened.error)?;
        Ok(Conversation::new(opener.clone(), session, revision))
    }

    /// Whether a connection still responds after the requests of a suite.
    pub(super) async fn responds(&self, conversation: Option<&Conversation>) -> bool {
        let Some(conversation) = conversation else { return false };
        conversation.session().await.responds().await
    }

    /// Closes a conversation while the run continues, so that a slow server delays nothing. Over HTTP the run waits, as
    /// this takes only one request. Servers that support only one session lose the next one if that request comes too
    /// late.
    pub async fn close(&self, conversation: Option<Conversation>, noted: bool) {
        let Some(conversation) = conversation else { return };
        let limit = self.job.limits.grace * 10 + Duration::from_secs(1);
        let is_process = self.job.target.start.capabilities().process;
        self.endings.spawn(async move {
            let Ending { how, ended } = timeout(limit, conversation.close()).await.ok()?;
            // An exit at the end of stdin has a note if it failed.
            (noted && is_process && ended != Some(Ended::StdinClosed)).then(|| format!("a process of the server {how}"))
        });
        if self.job.target.start.capabilities().stream_per_request {
            self.endings.wait().await;
        }
    }
}
