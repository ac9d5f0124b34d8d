//! How a trial is run. Server and clock run inside this process, so no wait takes time.
//!
//! Over real transports a server over stdio is started as any server is, and one over HTTP listens on a socket.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::Arc,
    time::Duration,
};

use reqwest::Url;
use serde_json::{Value, json};
use tokio::{sync::oneshot, time::Instant};

use super::{
    inside::{AUTHORITY, Reference},
    trial::Trial,
};
use crate::{
    assess::{Options, assess, failure::without_results},
    error::Error,
    evidence::{Evidence, Side, transcript},
    outcome::RunReport,
    plan::{Extensions, Filter, Proposals},
    reference,
    revision::Revision,
    run::{
        conducting::assemble_run::conduct,
        inputs::{
            credentials::obtain,
            job::{Job, Revisions},
            oauth_client::oauth_client,
        },
        process::{interrupts::Interrupts, progress::Counts},
    },
    session::ClientProfile,
    suite::{Suite, Verb},
    target::{Auth, Client, Limits, Login, Program, Source, Start, Target},
};

const fn options(filter: &Filter) -> Options<'_> {
    Options { strict: true, ..Options::verdicts(filter) }
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
    if again == *evidence { Ok(again) } else { Err("the transcript differs from the record".into()) }
}

/// A report depends only on the evidence, not on where its frames are stored.
fn is_same(first: &RunReport, second: &RunReport) -> Result<(), String> {
    let [first_shown, second_shown] = [first, second].map(|report| serde_json::to_value(report).unwrap_or_default());
    let rules = first.rules.iter().enumerate();
    let differing = rules.filter(|(index, _)| first_shown["rules"][index] != second_shown["rules"][index]);
    let differing: Vec<&str> = differing.map(|(_, rule)| rule.id.as_str()).collect();
    let told = || format!("the report on the transcript differs from that on the run: {}", differing.join(", "));
    if first_shown == second_shown { Ok(()) } else { Err(told()) }
}

/// The credentials for the protected reference server.
fn auth(start: &Start) -> Auth {
    let endpoint = start.url().and_then(|url| Url::parse(url).ok());
    let token_endpoint = endpoint.and_then(|url| url.join("/token").ok()).map(String::from);
    let (id, secret) = reference::server::CLIENT;
    let client = Client { id: id.to_owned(), secret: secret.to_owned(), scopes: Vec::new(), token_endpoint };
    let others = reference::server::tokens().into_iter().filter(|(name, _)| *name != "own");
    let others = others.map(|(name, value)| (name.to_owned(), Source::Token(value.to_owned()))).collect();
    Auth { own: Some(Source::Client(Box::new(client))), others, ..Auth::default() }
}

impl Trial {
    pub(super) async fn conduct(
        &self,
        suites: &[Suite],
        filter: &Filter,
        program: Option<&Path>,
    ) -> Result<Conducted, Error> {
        let proposals: Vec<String> = self.proposal.iter().cloned().collect();
        let (name, limits) = (self.name(), Limits::default());
        let (variation, fault) = if self.variation { (self.fault.clone(), None) } else { (None, self.fault.clone()) };
        let mut options = reference::server::Options {
            fault,
            variation,
            revisions: self.serves(),
            ..reference::server::Options::default()
        };
        if !proposals.is_empty() {
            options.proposals.clone_from(&proposals);
        }
        options.extensions = self.extension.iter().cloned().collect();
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
            argv.extend(self.extension.iter().flat_map(|name| ["--extension".into(), name.clone()]));
            argv.extend(proposals.iter().flat_map(|proposal| ["--proposal".into(), proposal.clone()]));
            let start = Start::Program(Program { argv, ..Program::default() });
            return self.tested(Target::new(name, start), limits, suites, filter).await;
        }
        let (tell, bound) = oneshot::channel();
        let served = reference::server::http(options, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), |address| {
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
        let path = if self.authority { "" } else { self.transport.capabilities().path };
        Start::over(self.transport, format!("http://{authority}{path}"), Vec::new())
    }

    async fn tested(
        &self,
        target: Target,
        limits: Limits,
        suites: &[Suite],
        filter: &Filter,
    ) -> Result<Conducted, Error> {
        let mut job = self.job(target, limits, suites);
        if self.authority {
            let (id, redirect_uri) = reference::server::APP;
            job.facts = json!({ "resource": "http://localhost/mcp", "register": true, "login": true });
            let fields = reference::server::USER.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
            let deny = Some("deny".to_owned());
            job.target.login =
                Some(Arc::new(Login { fields, deny, submit: Some("allow".to_owned()), ..Login::default() }));
            job.facts["oauth_client"] = oauth_client(id, redirect_uri)?;
        } else if self.protected {
            job.target.auth = Some(Box::new(auth(&job.target.start)));
            obtain(&mut job.target, &mut job.facts, &job.limits).await?;
        }
        let recorder = job.recorder();
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
        let mut facts = reference::server::facts_of(self.fault.as_deref().filter(|_| self.variation));
        let changes = |suite: &Suite| suite.gather.iter().any(|step| matches!(step.verb, Verb::Change(_)));
        let changing: Vec<_> = suites.iter().filter(|suite| changes(suite)).map(|suite| &suite.id).collect();
        let sees_changes =
            |suite: &&Suite| changing.contains(&&suite.id) || suite.requires.iter().any(|id| changing.contains(&id));
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
            subject: if self.authority { Side::AuthorizationServer } else { Side::Server },
            target,
            limits,
            profile: ClientProfile::default(),
            facts: self.facts(suites),
            call_tools: false,
            revisions: Revisions::One(self.revision),
            proposals: Proposals::also(self.proposal.iter().cloned().collect()),
            extensions: Extensions::default(),
            strict: true,
            interrupts: Interrupts::default(),
            fail_fast: None,
            suites: Counts::of("suites"),
        }
    }
}
