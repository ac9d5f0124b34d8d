//! Runs the suites about servers through the gateway and on the reference server itself, and finds the verdicts that
//! are worse.

use std::{collections::HashMap, time::Duration};

use super::{front::Listening, job::GatewayJob, setting::Setting};
use crate::{
    assess,
    error::Error,
    evidence::Recorder,
    outcome::{RuleResult, RunReport, Status},
    plan::{Filter, Proposals},
    reference,
    revision::Revision,
    run::{
        conducting::assemble_run,
        inputs::job::{Job, Revisions},
        process::progress::Counts,
    },
    session::ClientProfile,
    suite::Suite,
    target::Limits,
};

/// The record of the upstream is not needed here.
const RECORD: usize = 1;

/// Rules that the reference server passes over the transport of our client, and that twice fail, warn or break through
/// the gateway.
pub async fn worse(
    job: &GatewayJob,
    suites: &[Suite],
    revision: Revision,
    left: Duration,
) -> Result<Vec<RuleResult>, Error> {
    let all = Filter::default();
    let through = Box::pin(run(job, suites, &all, revision, left, true)).await?;
    let suspects = bad(&through);
    if suspects.is_empty() {
        return Ok(Vec::new());
    }
    let terms: Vec<String> = suspects.iter().map(|rule| rule.id.clone()).collect();
    let filter = Filter::new(&terms, suites)?;
    let direct = Box::pin(run(job, suites, &filter, revision, left, false)).await?;
    let passes: HashMap<&str, bool> =
        direct.rules.iter().map(|rule| (rule.id.as_str(), rule.status == Status::Pass)).collect();
    let terms: Vec<String> = terms.into_iter().filter(|id| passes.get(id.as_str()) == Some(&true)).collect();
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    // A failure that a busy machine or a race caused does not happen twice.
    let again = Box::pin(run(job, suites, &Filter::new(&terms, suites)?, revision, left, true)).await?;
    let confirmed = bad(&again).into_iter().filter(|rule| terms.contains(&rule.id));
    Ok(confirmed.map(told).collect())
}

fn bad(report: &RunReport) -> Vec<RuleResult> {
    let is_bad = |rule: &&RuleResult| matches!(rule.status, Status::Fail | Status::Warn);
    report.rules.iter().filter(is_bad).cloned().collect()
}

/// The result as one about the gateway. Its frames are from another record.
fn told(mut rule: RuleResult) -> RuleResult {
    for finding in &mut rule.findings {
        finding.message = format!("through the gateway: {}; the upstream itself passes", finding.message);
        finding.frames.clear();
        finding.pointer = None;
        finding.reproduce = None;
        finding.by_hand = None;
    }
    rule.held.clear();
    rule.suite = format!("through.{}", rule.suite);
    rule
}

async fn run(
    job: &GatewayJob,
    suites: &[Suite],
    filter: &Filter,
    revision: Revision,
    left: Duration,
    through: bool,
) -> Result<RunReport, Error> {
    let record = Recorder::new(RECORD, RECORD, RECORD);
    let Setting { stage, start, listening } = Setting::open(job, through, "compare", &record).await?;
    let tested = Job {
        target: job.target(start),
        facts: reference::server::facts_of(None),
        call_tools: false,
        limits: Limits { run: left.min(Limits::default().run), ..Limits::default() },
        profile: ClientProfile::default(),
        revisions: Revisions::One(revision),
        proposals: Proposals { auto: false, named: Vec::new() },
        strict: false,
        interrupts: job.interrupts.clone(),
        fail_fast: None,
        suites: Counts::of("suites"),
    };
    let limits = &tested.limits;
    let recorder = Recorder::new(limits.memory_bytes, limits.disk_bytes, limits.record_messages);
    let conducted = assemble_run::conduct(&tested, suites, filter, recorder).await;
    if let Some(listening) = listening {
        Listening::end(listening).await;
    }
    stage.close().await;
    let options = assess::Options { filter, strict: false, own_suites: &[], illustrated: false };
    Ok(assess::assess(&conducted?, suites, &options))
}
