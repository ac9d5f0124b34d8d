//! One trial. Server and clock run inside this process, so no wait takes time.
//!
//! Over real transports a server over stdio is started as any server is, and one over HTTP listens on a socket.

use std::{
    collections::HashSet,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::Arc,
    time::Duration,
};

use reqwest::Url;
use serde_json::Value;
use tokio::{runtime::Builder, sync::oneshot, time::Instant};

use super::inside::{AUTHORITY, Reference};
use crate::{
    assess::{Options, assess, failure::without_results},
    error::Error,
    evidence::{Evidence, Recorder, Transport, transcript},
    outcome::{RunReport, Status},
    plan::{Filter, Proposals},
    reference::{self, FaultInfo},
    revision::Revision,
    run::{
        conducting::assemble_run::conduct,
        inputs::{
            credentials::obtain,
            job::{Job, Revisions},
        },
        process::interrupts::Interrupts,
    },
    session::ClientProfile,
    suite::{Rule, Suite, Verb},
    target::{Auth, Client, Limits, Source, Start, Target},
};

/// How long a run may take on any fault or variation at the default limits.
pub const LONGEST: Duration = Duration::from_secs(30);

/// One run of all rules against one behaviour of the reference server.
#[derive(Clone, Debug)]
pub struct Trial {
    pub fault: Option<String>,
    /// `fault` is the name of a variation.
    pub variation: bool,
    /// The message of a server that exits before it reads anything.
    pub stops: Option<&'static str>,
    /// If it is judged with all suites: the suites or rules that run alone; all suites if this is empty.
    pub only: Vec<String>,
    /// A proposal that has to be enabled for the fault to show.
    pub proposal: Option<String>,
    /// The server requires a token.
    pub protected: bool,
    pub revision: Revision,
    pub transport: Transport,
    /// It is judged with all suites: in the newest revision where the fault shows, over one of its transports.
    pub all_suites: bool,
    /// The rules that the fault declares to break besides those that name it.
    pub also: Vec<String>,
}

const fn options(filter: &Filter) -> Options<'_> {
    Options { filter, strict: true, own_suites: &[], illustrated: false }
}

/// The report of a finished trial, and its evidence.
pub struct Conducted {
    pub report: RunReport,
    pub evidence: Evidence,
    /// By the clock of the trial, which skips idle time.
    pub took: Duration,
}

/// Writes the evidence as a transcript and reads it again. The result has to be the same.
fn read_again(evidence: &Evidence) -> Result<Evidence, String> {
    let mut written = Vec::new();
    transcript::write(&mut written, evidence).map_err(|error| error.to_string())?;
    let again = transcript::read(written.as_slice())?;
    if again == *evidence { Ok(again) } else { Err("the transcript does not hold what was recorded".into()) }
}

/// A report depends only on the evidence, not on where its frames are stored.
fn is_same(first: &RunReport, second: &RunReport) -> Result<(), String> {
    let [first_shown, second_shown] = [first, second].map(|report| serde_json::to_value(report).unwrap_or_default());
    let rules = first.rules.iter().enumerate();
    let differing = rules.filter(|(index, _)| first_shown["rules"][index] != second_shown["rules"][index]);
    let differing: Vec<&str> = differing.map(|(_, rule)| rule.id.as_str()).collect();
    let told = || format!("the transcript is judged otherwise than the run: {}", differing.join(", "));
    if first_shown == second_shown { Ok(()) } else { Err(told()) }
}

/// The result of a trial.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Rules that failed and name the fault.
    pub caught: Vec<String>,
    /// Rules that name the fault, apply, and did not fail.
    pub idle: Vec<String>,
    /// Rules that failed and do not name it.
    pub others: Vec<String>,
    /// Rules that failed, warned or broke, and that the fault neither names nor declares.
    pub undeclared: Vec<String>,
    /// Rules that the fault declares, and that neither failed, warned nor broke.
    pub unaffected: Vec<String>,
    /// Rules that could not be judged because of an error.
    pub broken: Vec<String>,
    /// Why there was no run.
    pub stopped: Option<String>,
    pub code: u8,
    /// How many rules passed.
    pub passed: usize,
    pub took: Duration,
}

/// Every fault in every revision and over every transport where it can show, and the faultless server in all of them.
pub fn trials(revisions: &[Revision], transports: &[Transport]) -> Vec<Trial> {
    let faultless = |proposal: Option<&str>| FaultInfo {
        name: String::new(),
        about: String::new(),
        since: None,
        until: None,
        transports: reference::Transport::ALL.to_vec(),
        proposal: proposal.map(str::to_owned),
        protected: false,
        also: Vec::new(),
        stops: None,
        suites: &[],
        without_facts: false,
    };
    let protected = FaultInfo { protected: true, transports: vec![reference::Transport::Http], ..faultless(None) };
    let mut trials = Vec::new();
    let healthy = [None].into_iter().chain(reference::PROPOSALS.map(Some)).map(faultless).chain([protected]);
    // Faults that only generated calls show are proved by `generate`.
    let run = reference::faults().into_iter().filter(|fault| fault.suites != reference::GENERATED);
    for fault in healthy.chain(run) {
        let first = trials.len();
        for &revision in revisions {
            if !shows_in(&fault, revision) {
                continue;
            }
            for &transport in transports {
                if transport.is_defined_in(revision) && fault.transports.iter().any(|known| same(*known, transport)) {
                    trials.push(Trial { all_suites: fault.name.is_empty(), ..trial(&fault, revision, transport) });
                }
            }
        }
        let shown = &mut trials[first..];
        let newest = shown.iter().map(|trial| trial.revision).max();
        if let Some(widest) = shown.iter_mut().find(|trial| Some(trial.revision) == newest) {
            widest.all_suites = true;
        }
    }
    trials
}

/// Every variation with all suites: over stdio if it shows there, otherwise over HTTP. Limits are not shortened: no
/// variation delays a response, so a shorter limit would only expire when the machine is busy.
pub fn variation_trials(revisions: &[Revision]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for variation in reference::variations() {
        for revision in revisions.iter().copied().filter(|revision| shows_in(&variation, *revision)) {
            let shows = |transport: &Transport| {
                transport.is_defined_in(revision) && variation.transports.iter().any(|known| same(*known, *transport))
            };
            if let Some(transport) = Transport::ALL.into_iter().find(shows) {
                trials.push(Trial { variation: true, all_suites: true, ..trial(&variation, revision, transport) });
            }
        }
    }
    trials
}

fn shows_in(fault: &FaultInfo, revision: Revision) -> bool {
    fault.since.is_none_or(|since| revision >= since) && fault.until.is_none_or(|until| revision <= until)
}

fn trial(fault: &FaultInfo, revision: Revision, transport: Transport) -> Trial {
    Trial {
        fault: Some(fault.name.clone()).filter(|name| !name.is_empty()),
        variation: false,
        stops: fault.stops,
        only: fault.suites.iter().map(ToString::to_string).collect(),
        proposal: fault.proposal.clone(),
        protected: fault.protected,
        revision,
        transport,
        all_suites: false,
        also: fault.also.clone(),
    }
}

fn same(known: reference::Transport, transport: Transport) -> bool {
    serde_json::to_value(known).ok() == serde_json::to_value(transport).ok()
}

/// The credentials for the protected reference server.
fn auth(start: &Start) -> Auth {
    let endpoint = match start {
        Start::Http { url, .. } | Start::Sse { url, .. } => Url::parse(url).ok(),
        Start::Stdio { .. } => None,
    };
    let token_endpoint = endpoint.and_then(|url| url.join("/token").ok()).map(String::from);
    let (id, secret) = reference::CLIENT;
    let client = Client { id: id.to_owned(), secret: secret.to_owned(), scopes: Vec::new(), token_endpoint };
    let others = reference::tokens().into_iter().filter(|(name, _)| *name != "own");
    let others = others.map(|(name, value)| (name.to_owned(), Source::Token(value.to_owned()))).collect();
    Auth { own: Some(Source::Client(Box::new(client))), others }
}

/// The rules, and those that are reported in their place. `None` if that can be any rule.
pub fn with_causes(mut ids: Vec<String>, suites: &[Suite]) -> Option<Filter> {
    let rules = || suites.iter().flat_map(|suite| &suite.rules);
    let mut looked_at = 0;
    while let Some(id) = ids.get(looked_at).cloned() {
        let causes = rules().filter(|rule| rule.id == id).flat_map(|rule| &rule.after);
        let fresh: Vec<String> = causes.filter(|cause| !ids.contains(cause)).cloned().collect();
        ids.extend(fresh);
        looked_at += 1;
    }
    (!ids.is_empty() && !ids.iter().any(|id| id == "*")).then(|| Filter::new(&ids, suites).ok())?
}

impl Trial {
    pub fn name(&self) -> String {
        let fault = match (&self.fault, &self.proposal) {
            (Some(fault), _) => fault.clone(),
            (None, Some(proposal)) => format!("faultless with {proposal}"),
            (None, None) if self.protected => "faultless and protected".to_owned(),
            (None, None) => "faultless".to_owned(),
        };
        format!("{fault} · {} · {}", self.revision, self.transport)
    }

    /// Runs the trial; over real transports if there is a `program`, the mcp-conform that serves over stdio.
    ///
    /// One trial of each fault is judged with all suites, so that unexpected failures show. In the others most faults
    /// are detected by the suites of the rules that name them. All suites run there only if that is not enough.
    pub fn run(&self, suites: &[Suite], program: Option<&Path>) -> Shown {
        let run = |filter: &Filter| match self.evidence(suites, filter, program) {
            Ok(conducted) => self.read(&conducted, suites),
            Err(error) => Shown { stopped: Some(error.to_string()), code: error.exit_code(), ..Shown::default() },
        };
        if self.all_suites {
            return match Filter::new(&self.only, suites) {
                Ok(filter) => run(&filter),
                Err(error) => Shown { stopped: Some(error.to_string()), ..Shown::default() },
            };
        }
        let narrow = self.concerned(suites).map(|filter| run(&filter));
        narrow
            .filter(|shown| shown.idle.is_empty() && !shown.caught.is_empty())
            .unwrap_or_else(|| run(&Filter::default()))
    }

    /// Runs the trial with some rules, and returns the report and the evidence.
    pub fn evidence(&self, suites: &[Suite], filter: &Filter, program: Option<&Path>) -> Result<Conducted, Error> {
        let clock = program.is_none();
        let runtime = Builder::new_current_thread().enable_all().start_paused(clock).build();
        let runtime = runtime.map_err(|error| Error::usage(format!("no runtime: {error}")))?;
        runtime.block_on(self.conduct(suites, filter, program))
    }

    /// The rules that name the fault, and those that are reported in their place. `None` if that can be any rule.
    fn concerned(&self, suites: &[Suite]) -> Option<Filter> {
        let fault = self.fault.as_ref()?;
        let naming = suites.iter().flat_map(|suite| &suite.rules).filter(|rule| rule.faults.contains(fault));
        with_causes(naming.map(|rule| rule.id.clone()).collect(), suites)
    }

    async fn conduct(&self, suites: &[Suite], filter: &Filter, program: Option<&Path>) -> Result<Conducted, Error> {
        let proposals: Vec<String> = self.proposal.iter().cloned().collect();
        let (name, limits) = (self.name(), Limits::default());
        let (variation, fault) = if self.variation { (self.fault.clone(), None) } else { (None, self.fault.clone()) };
        let mut options =
            reference::Options { fault, variation, revisions: self.serves(), ..reference::Options::default() };
        if !proposals.is_empty() {
            options.proposals.clone_from(&proposals);
        }
        options.protected = self.protected;
        let Some(program) = program else {
            let mut target = Target::new(name, self.start(AUTHORITY));
            target.inside = Some(Arc::new(Reference::new(options)?));
            return self.tested(target, limits, suites, filter).await;
        };
        if self.transport.capabilities().process {
            let mut argv = vec![program.display().to_string(), "serve".into()];
            let flag = if self.variation { "--variation" } else { "--fault" };
            argv.extend(self.fault.iter().flat_map(|fault| [flag.into(), fault.clone()]));
            argv.extend(self.serves().iter().flat_map(|revision| ["--revision".into(), revision.to_string()]));
            argv.extend(proposals.iter().flat_map(|proposal| ["--proposal".into(), proposal.clone()]));
            let start = Start::Stdio { argv, env: Vec::new(), cwd: None };
            return self.tested(Target::new(name, start), limits, suites, filter).await;
        }
        let (tell, bound) = oneshot::channel();
        let served = reference::http(options, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), |address| {
            let _ = tell.send(address);
        });
        let tested = async {
            let address = bound.await.map_err(|_| Error::usage("the reference server did not start"))?;
            self.tested(Target::new(name, self.start(&address.to_string())), limits, suites, filter).await
        };
        tokio::select! {
            stopped = served => Err(Error::usage(stopped.err().unwrap_or_else(|| "the reference server stopped".into()))),
            conducted = tested => conducted,
        }
    }

    fn start(&self, authority: &str) -> Start {
        let capabilities = self.transport.capabilities();
        if capabilities.process {
            Start::Stdio { argv: Vec::new(), env: Vec::new(), cwd: None }
        } else if capabilities.endpoint {
            Start::Sse { url: format!("http://{authority}/sse"), headers: Vec::new() }
        } else {
            Start::Http { url: format!("http://{authority}/mcp"), headers: Vec::new() }
        }
    }

    async fn tested(
        &self,
        target: Target,
        limits: Limits,
        suites: &[Suite],
        filter: &Filter,
    ) -> Result<Conducted, Error> {
        let mut job = self.job(target, limits, suites);
        if self.protected {
            job.target.auth = Some(Box::new(auth(&job.target.start)));
            obtain(&mut job.target, &mut job.facts, &job.limits).await?;
        }
        let recorder = Recorder::new(job.limits.memory_bytes, job.limits.disk_bytes, job.limits.record_messages);
        let began = Instant::now();
        let mut evidence = Box::pin(conduct(&job, suites, filter, recorder)).await?;
        let took = began.elapsed();
        let assessed = |evidence: &Evidence| assess(evidence, suites, &options(filter));
        // Without a fault, the evidence is also assessed before it is read again. Both reports have to be the same.
        let live = (self.all_suites && self.fault.is_none()).then(|| assessed(&evidence));
        if self.all_suites {
            evidence = read_again(&evidence).map_err(Error::usage)?;
        }
        let report = assessed(&evidence);
        live.map_or(Ok(()), |live| is_same(&live, &report)).map_err(Error::usage)?;
        match without_results(&report, &evidence) {
            Some(error) => Err(error),
            None => Ok(Conducted { report, evidence, took }),
        }
    }

    /// The revisions that the server speaks. Most servers of legacy revisions do not know the other era, and variations
    /// imitate them.
    fn serves(&self) -> Vec<Revision> {
        let legacy_only = self.variation && !self.revision.is_modern();
        Revision::ALL.into_iter().filter(|revision| !legacy_only || !revision.is_modern()).collect()
    }

    /// Waiting for changes takes time, so only trials that can show something by a change have such facts.
    fn facts(&self, suites: &[Suite]) -> Value {
        let mut facts = reference::facts_of(self.fault.as_deref().filter(|_| self.variation));
        let changes = |suite: &Suite| suite.gather.iter().any(|step| matches!(step.verb, Verb::Change(_)));
        let changing: Vec<_> = suites.iter().filter(|suite| changes(suite)).map(|suite| &suite.id).collect();
        let sees_changes =
            |suite: &&Suite| changing.contains(&&suite.id) || suite.evidence.iter().any(|id| changing.contains(&id));
        let mut shown = suites.iter().filter(sees_changes).flat_map(|suite| &suite.rules);
        if let (Some(fault), Some(facts)) = (&self.fault, facts.as_object_mut())
            && !self.all_suites
            && !shown.any(|rule| rule.faults.contains(fault))
        {
            facts.retain(|name, _| !name.ends_with("change"));
        }
        facts
    }

    fn job(&self, target: Target, limits: Limits, suites: &[Suite]) -> Job {
        Job {
            target,
            limits,
            profile: ClientProfile::default(),
            facts: self.facts(suites),
            call_tools: false,
            revisions: Revisions::One(self.revision),
            proposals: Proposals::also(self.proposal.iter().cloned().collect()),
            strict: true,
            interrupts: Interrupts::default(),
            fail_fast: None,
            suites: Arc::default(),
        }
    }

    fn read(&self, conducted: &Conducted, suites: &[Suite]) -> Shown {
        let mut shown = Shown {
            unaffected: self.also.clone(),
            code: conducted.report.exit_code,
            took: conducted.took,
            ..Shown::default()
        };
        let names = |rule: &&Rule| self.fault.as_ref().is_some_and(|fault| rule.faults.contains(fault));
        let naming = suites.iter().flat_map(|suite| &suite.rules).filter(names);
        let naming: HashSet<&str> = naming.map(|rule| rule.id.as_str()).collect();
        for result in &conducted.report.rules {
            let named = naming.contains(result.id.as_str());
            shown.passed += usize::from(result.status == Status::Pass);
            if matches!(result.status, Status::Fail | Status::Warn | Status::Broken) {
                let declared = |id: &String| id == "*" || *id == result.id;
                shown.unaffected.retain(|id| !declared(id));
                if !named && !self.also.iter().any(declared) {
                    shown.undeclared.push(result.id.clone());
                }
            }
            let list = match result.status {
                Status::Fail | Status::Warn | Status::Advice if named => &mut shown.caught,
                Status::Fail | Status::Warn | Status::Advice => &mut shown.others,
                Status::Broken => &mut shown.broken,
                Status::Pass | Status::NotExercised if named => &mut shown.idle,
                _ => continue,
            };
            list.push(result.id.clone());
        }
        shown
    }
}
