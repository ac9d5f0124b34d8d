//! Runs the suites about servers through the gateway and on the reference server itself, and finds the verdicts that
//! are worse, and how many rules cannot be tested through the gateway.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use tokio::try_join;

use super::{front::Listening, job::GatewayJob, setting::Setting};
use crate::{
    assess,
    error::Error,
    evidence::{Recorder, Side},
    outcome::{Compared, RuleResult, RunReport, Status},
    plan::{Extensions, Filter, Proposals},
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

/// What the comparison shows.
pub struct Comparison {
    /// Rules that the reference server passes over the transport of our client, and that twice fail or warn through the
    /// gateway.
    pub worse: Vec<RuleResult>,
    pub compared: Compared,
}

pub async fn compare(
    job: &GatewayJob,
    suites: &[Suite],
    revision: Revision,
    left: Duration,
) -> Result<Comparison, Error> {
    let all = Filter::default();
    let through = Box::pin(run(job, suites, &all, revision, left, true));
    let direct = Box::pin(run(job, suites, &all, revision, left, false));
    let (through, direct) = try_join!(through, direct)?;
    let judged =
        |rule: &&RuleResult| matches!(rule.status, Status::Pass | Status::Fail | Status::Warn | Status::Advice);
    let statuses: HashMap<&str, Status> = through.rules.iter().map(|rule| (rule.id.as_str(), rule.status)).collect();
    let is_untested = |rule: &&RuleResult| {
        matches!(statuses.get(rule.id.as_str()), None | Some(Status::NotExercised | Status::NotApplicable))
    };
    let rules = direct.rules.iter().filter(judged).count();
    let untested = direct.rules.iter().filter(judged).filter(is_untested).count();
    let compared = Compared { rules: rules - untested, untested };
    let passes: HashSet<&str> =
        direct.rules.iter().filter(|rule| rule.status == Status::Pass).map(|rule| rule.id.as_str()).collect();
    let terms: Vec<String> =
        bad(&through).into_iter().map(|rule| rule.id).filter(|id| passes.contains(id.as_str())).collect();
    if terms.is_empty() {
        return Ok(Comparison { worse: Vec::new(), compared });
    }
    // A failure that a busy machine or a race caused does not happen twice.
    let again = Box::pin(run(job, suites, &Filter::new(&terms, suites)?, revision, left, true)).await?;
    let confirmed = bad(&again).into_iter().filter(|rule| terms.contains(&rule.id));
    Ok(Comparison { worse: confirmed.map(told).collect(), compared })
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
        subject: Side::Server,
        target: job.target(start),
        facts: reference::server::facts_of(None),
        call_tools: false,
        limits: Limits { run: left.min(Limits::default().run), ..Limits::default() },
        profile: ClientProfile::default(),
        revisions: Revisions::One(revision),
        proposals: Proposals { auto: false, named: Vec::new() },
        extensions: Extensions::default(),
        strict: false,
        interrupts: job.interrupts.clone(),
        fail_fast: None,
        suites: Counts::of("suites"),
    };
    let limits = &tested.limits;
    let recorder = Recorder::new(limits.memory_bytes, limits.disk_bytes, limits.record_messages);
    let conducted = Box::pin(assemble_run::conduct(&tested, suites, filter, recorder)).await;
    if let Some(listening) = listening {
        Listening::end(listening).await;
    }
    stage.close().await;
    let options = assess::Options::verdicts(filter);
    Ok(assess::assess(&conducted?, suites, &options))
}
