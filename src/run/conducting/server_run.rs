//! One test of a server: for each revision the survey, and then the suites that apply to the server.

use std::time::Duration;

use indexmap::IndexMap;

use super::{
    clients,
    executor::Executor,
    fail_fast::FailFast,
    gathered::Gathered,
    handshake_failure,
    mishaps::Mishaps,
    run_context::{context, tools_note, uncalled},
    skipped,
};
use crate::{
    assess::{failure, resource_graph},
    error::Error,
    evidence::{FailedHandshake, RunContext},
    gather::{add_prefixes, adoption, authorization, complete_facts, first_task, harmless, steps},
    outcome::SlowSuite,
    plan::{Filter, deciding, plan, seen},
    revision::Revision,
    run::inputs::job::Job,
    session::{Conversation, EndedConnection, Opener, Unopened, Wish},
    suite::{SURVEY, Suite},
};

/// Maximum number of handshakes of one kind without a response.
const SILENT_AT_MOST: usize = 2;
/// Minimum time of a suite that is reported as slow. On the reference server three suites exceed it, each by a pause or
/// a slow tool.
const SLOW: Duration = Duration::from_secs(1);

pub struct ServerRun<'a> {
    pub(super) job: &'a Job,
    pub(super) suites: &'a [Suite],
    filter: &'a Filter,
    pub(super) executor: Executor<'a>,
    pub notes: Vec<String>,
    pub mishaps: Mishaps,
    pub contexts: Vec<RunContext>,
    pub slowest: Vec<SlowSuite>,
    /// The revision whose handshake failed, so that it and the later ones were not tested.
    untested: Option<Revision>,
    /// The tools that were not called in some revision, each with the line of the configuration that allows it.
    uncalled: IndexMap<String, String>,
    /// Why the run ended before all requests were sent, if so.
    pub cut_short: Option<String>,
}

impl<'a> ServerRun<'a> {
    pub fn new(job: &'a Job, suites: &'a [Suite], filter: &'a Filter, opener: Opener) -> Self {
        let executor = Executor::new(job, FailFast::new(job, suites, filter), opener);
        let (notes, mishaps, contexts, slowest, uncalled) = Default::default();
        Self {
            job,
            suites,
            filter,
            executor,
            notes,
            mishaps,
            contexts,
            slowest,
            untested: None,
            uncalled,
            cut_short: None,
        }
    }

    pub async fn every_revision(&mut self) -> Result<(), Unopened> {
        let mut refusal = None;
        for revision in Revision::ALL {
            if self.executor.stop.has_failed() {
                break;
            }
            // These revisions use the same request for the handshake, and it had no response twice.
            let silent = self.executor.opener.known.silent_starts() >= SILENT_AT_MOST;
            if silent && !revision.is_modern() {
                continue;
            }
            match self.revision(Wish::Exactly(revision)).await {
                Ok(()) => {}
                Err(unopened @ Unopened { error: Error::NotSpoken { .. }, .. }) => refusal = Some(unopened),
                Err(unopened) if self.contexts.is_empty() => refusal = Some(unopened),
                Err(unopened) => {
                    self.untested = Some(revision);
                    return Err(unopened);
                }
            }
        }
        match refusal {
            Some(unopened) if self.contexts.is_empty() => Err(unopened),
            _ => Ok(()),
        }
    }

    /// The handshake failed. What the server sent until then may still be judged.
    pub async fn fall_back(&mut self, unopened: Unopened) -> Result<FailedHandshake, Error> {
        let after_another = !self.contexts.is_empty();
        if let Some(revision) = self.untested {
            let later = if revision == Revision::NEWEST { "" } else { " and later" };
            self.notes.push(format!("not tested: {revision}{later}: {}", unopened.error.came()));
        } else if let Some((mut context, note)) =
            handshake_failure::scene_without_handshake(&unopened, self.job, &self.executor.opener.recorder)
        {
            if handshake_failure::requires_authorization(unopened.hello.as_ref()) {
                self.outside(&mut context).await?;
            }
            self.contexts.push(context);
            self.notes.push(note);
        }
        Ok(FailedHandshake { why: failure::recorded(unopened.error)?, after_another })
    }

    /// Gathers what can be tested without access to a server that requires authorization.
    async fn outside(&mut self, context: &mut RunContext) -> Result<(), Error> {
        let opener = &self.executor.opener;
        let session = opener.connect_without_handshake(context.revision).await.map_err(|unopened| unopened.error)?;
        opener.recorder.settle(session.link(), context.revision);
        let conversation = Conversation::new(opener.clone(), session, context.revision);
        authorization(context, &conversation, &self.job.target).await;
        let mut conversation = Some(conversation);
        self.gather_in_turn(context, &mut conversation, |suite| suite.applies.protected).await?;
        self.executor.close(conversation, false).await;
        self.executor.endings.wait().await;
        Ok(())
    }

    /// Gathers for these suites, one after the other, on one connection.
    pub(super) async fn gather_in_turn(
        &mut self,
        context: &mut RunContext,
        conversation: &mut Option<Conversation>,
        wanted: fn(&Suite) -> bool,
    ) -> Result<(), Error> {
        let planned = plan(self.suites, context, self.filter).suites;
        for planned in planned.iter().filter(|planned| wanted(planned.suite) && planned.runs()) {
            let gathered = self.executor.suite(planned.suite, context, conversation, None, false).await?;
            self.keep(context, gathered);
        }
        Ok(())
    }

    /// The schedule of one revision, in words.
    pub async fn planned(&mut self, wish: Wish) -> Result<String, Unopened> {
        let (context, wanted, first) = self.survey(wish).await?;
        Ok(self.executor.plan(&wanted, &context, first).await)
    }

    /// The handshake, the survey, and the suites that apply to the server.
    async fn survey(&mut self, wish: Wish) -> Result<(RunContext, Vec<&'a Suite>, Option<Conversation>), Unopened> {
        let session = self.executor.connect(&self.executor.opener, wish).await?;
        let Some(revision) = session.revision() else {
            return Err(Error::usage("no revision was negotiated").into());
        };
        let mut context = context(session.hello.as_ref(), session.transport(), revision, self.job);
        let mut first = Some(Conversation::new(self.executor.opener.clone(), session, revision));
        if let Some(survey) = self.suites.iter().find(|suite| suite.id == SURVEY) {
            let gathered = self.executor.suite(survey, &context, &mut first, None, false).await?;
            self.keep(&mut context, gathered);
        }
        let survey = context.saves.get(SURVEY).cloned().unwrap_or_default();
        complete_facts(&mut context.facts, &survey, self.job.call_tools);
        context.facts["harmless"] = harmless(&context, &survey);
        context.extensions = self.job.extensions.judged(self.suites, &context);
        self.note(seen(self.suites, &context));
        if let Some(first) = &first {
            let known = deciding(self.suites, self.filter);
            let adopting = Box::pin(adoption(&self.job.proposals, &known, &context, first));
            if let Ok(adopted) = self.executor.stop.unless(adopting).await {
                context.proposals = adopted;
            }
            let _ = self.executor.stop.unless(Box::pin(first_task(&mut context, first))).await;
            // If this is interrupted, the evidence so far is enough.
            let _ = self.executor.stop.unless(Box::pin(authorization(&mut context, first, &self.job.target))).await;
        }
        if context.proposals.iter().any(|name| name == "sep-prefix") {
            add_prefixes(&mut context.facts, &survey);
        }

        let planned = plan(self.suites, &context, self.filter);
        let mut wanted = clients::with_evidence(&planned, self.suites, &context);
        wanted.retain(|suite| suite.id != SURVEY && steps(suite, &context).next().is_some());
        self.job.suites.plan(wanted.len());
        self.uncalled.extend(uncalled(&context, &wanted));
        Ok((context, wanted, first))
    }

    /// Gathers for one revision, from the handshake until all connections are closed.
    pub async fn revision(&mut self, wish: Wish) -> Result<(), Unopened> {
        let (mut context, wanted, first) = self.survey(wish).await?;
        self.executor.stop_if_seen_failing(&context);
        for gathered in self.executor.gather_all(&wanted, &context, first).await {
            self.keep(&mut context, gathered);
        }
        self.note(not_run(&context));
        let unanswered = &self.executor.opener.known.unanswered;
        let mut notes = skipped::record(&mut context, unanswered.given_up());
        notes.extend(unanswered.told(self.job.limits.request));
        for note in notes {
            self.note(Some(note));
        }
        self.note(self.executor.opener.known.put_off.told());
        self.note(self.executor.single_connection_note());
        self.note(resource_graph::summary(&context, self.suites));
        self.contexts.push(context);
        self.executor.endings.wait().await;
        self.notes.extend(self.executor.endings.notes());
        Ok(())
    }

    /// Adds the evidence of a suite to the context.
    pub(super) fn keep(&mut self, context: &mut RunContext, gathered: Gathered) {
        let Gathered { suite, saves, incident, ended_connections, took, .. } = gathered;
        if took >= SLOW {
            let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            self.slowest.push(SlowSuite { suite: suite.id.clone(), revision: context.revision, ms });
        }
        // Without a filter, a rule reports which request made the process exit.
        if suite.id == SURVEY
            && self.filter.is_restricted()
            && let Some(EndedConnection { why, .. }) = ended_connections.iter().find(|ended| ended.exited)
        {
            let lost = || format!("the server did not survive the first requests, such as tools/list: {why}");
            self.cut_short.get_or_insert_with(lost);
        }
        for EndedConnection { why, .. } in ended_connections {
            self.mishaps.started_anew(&suite.id, context.revision, why);
        }
        if let Some(incident) = incident {
            let why = incident.to_string();
            if incident.ends_run() {
                self.cut_short = Some(why.clone());
            }
            let told = if incident.is_requested() { &mut context.not_run } else { &mut context.incidents };
            told.insert(suite.id.clone(), why);
        }
        context.saves.insert(suite.id.clone(), saves);
    }

    /// All notes, when everything was gathered.
    pub fn take_notes(&mut self) -> Vec<String> {
        let mut notes: Vec<String> = tools_note(&self.uncalled, self.job.call_tools).into_iter().collect();
        notes.append(&mut self.notes);
        notes
    }

    /// Adds a note, unless another revision added the same one.
    pub(super) fn note(&mut self, note: Option<String>) {
        self.notes.extend(note.filter(|note| !self.notes.contains(note)));
    }
}

/// The note on suites that were not gathered because of `--fail-fast` or an interruption.
pub(super) fn not_run(context: &RunContext) -> Option<String> {
    let why = context.not_run.values().next()?;
    let names: Vec<&str> = context.not_run.keys().map(String::as_str).collect();
    let noun = if names.len() == 1 { "suite was" } else { "suites were" };
    Some(format!("{why}; {} {noun} not run: {}", names.len(), names.join(", ")))
}
