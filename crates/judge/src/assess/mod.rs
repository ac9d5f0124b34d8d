//! From evidence to a report, for a run that has just ended and for a recorded one.

mod aftermath;
pub mod by_hand;
pub mod failure;
mod generated;
mod given_up;
pub mod notes;
mod paste;
mod reached;
mod rerun;
pub mod resource_graph;
mod retried;
mod sent;
mod served;
pub mod shown;
pub mod timeline;
pub mod verdict;
mod worlds;

pub use self::{
    rerun::{command, filter_of, started},
    retried::saw_all,
};

use std::{collections::HashSet, path::PathBuf};

use self::{
    aftermath::Aftermath,
    by_hand::{Habits, History},
    notes::{Sessions, notes},
    rerun::Causes,
    served::Used,
    shown::{Shown, name_both_sides},
    timeline::Timeline,
    verdict::sum_up,
};
use crate::{judge, profiles::Profiles};
use conform_model::{
    error::exit,
    evidence::{Evidence, FailedHandshake, RunContext, RunHeader, Side, conversation::Conversation},
    outcome::{RuleResult, RunReport, Status, Subject, TargetReport, Unexercised},
};
use conform_suite::{
    Suite,
    plan::{Filter, plan},
};

/// Options that are not in the evidence, because they may differ each time.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    pub filter: &'a Filter,
    pub strict: bool,
    /// Suite files that a command to reproduce a finding needs.
    pub own_suites: &'a [PathBuf],
    /// Includes a timeline and the graph of resources.
    pub illustrated: bool,
    pub profiles: Profiles<'a>,
}

impl<'a> Options<'a> {
    /// The verdicts alone.
    pub const fn verdicts(filter: &'a Filter) -> Self {
        Self { filter, strict: false, own_suites: &[], illustrated: false, profiles: Profiles::NONE }
    }
}

/// Exit codes of runs that a signal ended start here.
const SIGNALLED: u8 = 128;

pub fn assess(evidence: &Evidence, suites: &[Suite], options: &Options) -> RunReport {
    let Evidence { header, links, contexts, .. } = evidence;
    if contexts.iter().any(|context| context.generated.is_some()) {
        return generated::assess(evidence, suites, options);
    }
    let failed = header.end.failed_handshake.as_ref();
    let (mut rules, mut profiles) = (Vec::new(), Vec::new());
    // Hosts use the newest revision.
    let of_hosts = contexts.iter().rposition(|context| context.subject == Side::Server);
    for (index, context) in contexts.iter().enumerate() {
        let mut plan = plan(suites, context, options.filter);
        let own = plan.suites.len();
        if of_hosts == Some(index) {
            // In the same pass: reading all messages takes longer than judging the rules of profiles.
            plan.suites.extend(options.profiles.planned(context));
        }
        let frames = evidence.frames_in(context.revision, context.scenario.as_deref());
        let mut judged = judge(&plan, context, links, frames).into_iter();
        for (place, planned) in plan.suites.iter().enumerate() {
            let of_suite = judged.by_ref().take(planned.rules.len());
            match place < own {
                true => rules.extend(of_suite),
                false => {
                    profiles.extend(options.profiles.report(
                        planned.suite,
                        of_suite.collect(),
                        context,
                        header.started,
                    ));
                }
            }
        }
    }
    rules.retain(|rule| options.filter.shows(&rule.id));
    if header.recorded {
        explain_recording(&mut rules, suites);
    }
    given_up::explain(&mut rules, contexts);
    if failed.is_some_and(|failed| !failed.after_another) {
        explain_failed_handshake(&mut rules);
    }
    let (mut aftermath, mut shown) = (Aftermath::of(&rules), Shown::of(&rules, header.evidence_frames));
    let (mut used, mut sessions, mut timeline) = (Used::of(evidence), Sessions::default(), Timeline::default());
    let mut conversation = Conversation::default();
    for frame in evidence.frames() {
        let said = conversation.take(&frame);
        aftermath.take(&said);
        shown.take(&said);
        used.take(&said);
        sessions.take(&said);
        if options.illustrated {
            timeline.take(&frame);
        }
    }
    aftermath.tell(&mut rules);
    shown.show(&mut rules);
    if header.judged == Side::Gateway {
        name_both_sides(&mut rules, evidence);
    }
    worlds::name_worlds(&mut rules, evidence, suites);
    retried::mark(&mut rules, &evidence.retries, suites);
    let cut_short = header.end.cut_short.clone();
    let notes = notes(evidence, &rules, sessions);
    let served = used.served(evidence, &rules, suites);
    let mut report = RunReport {
        started: header.started,
        ms: header.ms,
        partition: header.scope.partition.iter().cloned().collect(),
        limits: reached::reached(evidence, suites),
        slowest: header.slowest.clone(),
        served,
        profiles,
        ..sum_up(target(header, contexts), rules, notes, cut_short, (options.strict, header.scope.flaky))
    };
    if let Some(failed) = failed {
        // The rules were judged as in a revision that was not negotiated.
        if !failed.after_another {
            report.target.revisions.clear();
        }
        report = conclude(failed, report);
    }
    if options.illustrated {
        (report.timeline, report.timeline_left_out) = (timeline.moments, timeline.left_out);
        report.graph = contexts.last().and_then(|context| resource_graph::graph(context, suites));
    }
    // A recording of other programs cannot be repeated.
    if !header.recorded {
        say_how(&mut report, evidence, suites, options);
    }
    report.exit_code = header.end.interrupted.unwrap_or(report.exit_code);
    report
}

/// Adds to each finding how to see it again.
fn say_how(report: &mut RunReport, evidence: &Evidence, suites: &[Suite], options: &Options) {
    let shown = rerun::numbers(report);
    let links = evidence.links_of(|frame| shown.contains(frame)).into_values().collect();
    let habits = Habits::of(suites, &report.rules);
    let (mut causes, mut history) = (Causes::default(), History::new(shown.clone(), links, &habits));
    let is_server = evidence.header.judged == Side::Server;
    for frame in evidence.frames_where(|index| is_server && Some(&index.frame) <= shown.last()) {
        causes.take(&frame, shown.contains(&frame.frame));
        history.take(&frame);
    }
    rerun::say_how(report, &causes, options.own_suites);
    if is_server {
        by_hand::show_how(report, &habits, &history);
    }
}

/// Adds results of another run to the report.
pub fn add(report: &mut RunReport, rules: Vec<RuleResult>) {
    if !rules.is_empty() {
        report.rules.extend(rules);
        let interrupted = report.exit_code >= SIGNALLED;
        let code = report.exit_code;
        verdict::total(report);
        if interrupted {
            report.exit_code = code;
        }
    }
}

fn target(header: &RunHeader, contexts: &[RunContext]) -> TargetReport {
    let (tested, newest) = (&header.target, contexts.last());
    let mut revisions: Vec<_> = contexts.iter().map(|context| context.revision).collect();
    revisions.dedup();
    TargetReport {
        subject: match header.judged {
            _ if header.recorded => Subject::Both,
            Side::Server => Subject::Server,
            Side::Client => Subject::Client,
            Side::Gateway => Subject::Gateway,
            Side::AuthorizationServer => Subject::AuthorizationServer,
        },
        name: tested.name.clone(),
        options: tested.options.clone(),
        command: tested.command.clone(),
        config: tested.config.clone(),
        sdks: tested.sdks.clone(),
        transport: newest.map_or_else(|| tested.transport.clone(), |context| context.transport.to_string()),
        server: newest.map(|context| context.server["info"].clone()).filter(|info| !info.is_null()),
        client: newest.map(|context| context.client["info"].clone()).filter(|info| !info.is_null()),
        capabilities: newest.map(|context| context.server["capabilities"].clone()).unwrap_or_default(),
        revisions,
    }
}

/// A recording sends no requests, so what it does not contain is unknown.
fn explain_recording(rules: &mut [RuleResult], suites: &[Suite]) {
    let of_suites = suites.iter().flat_map(|suite| suite.rules.iter().map(move |rule| (suite, rule)));
    let probing = of_suites.filter(|(suite, rule)| rule.looks_at_saves(suite)).map(|(_, rule)| rule.id.as_str());
    let probing: HashSet<&str> = probing.collect();
    for rule in rules.iter_mut().filter(|rule| rule.status == Status::NotExercised && rule.checked == 0) {
        let why = match probing.contains(rule.id.as_str()) {
            true => "this rule needs requests of its own, which only `mcp-conform run` sends",
            false => "the recorded conversation does not show it",
        };
        rule.set_unexercised(Unexercised::in_this_run(why));
    }
}

/// Most rules had nothing to judge, all for this reason.
fn explain_failed_handshake(rules: &mut [RuleResult]) {
    for rule in rules.iter_mut().filter(|rule| rule.status == Status::NotExercised && rule.checked == 0) {
        rule.set_unexercised(Unexercised::in_this_run("the handshake failed"));
    }
}

/// Returns the error, unless a rule has more specific findings; otherwise the report with its exit code.
fn conclude(failed: &FailedHandshake, mut report: RunReport) -> RunReport {
    let error = failure::error(&failed.why);
    match report.exit_code {
        exit::NOTHING_EXERCISED => {
            let RunReport { target, started, ms, strict, partition, profiles, .. } = report;
            let nothing = verdict::nothing(target, error.in_short(), strict, error.exit_code());
            return RunReport { started, ms, partition, profiles, ..nothing };
        }
        exit::FAILED => {}
        _ => report.exit_code = error.exit_code(),
    }
    report.cut_short = Some(format!("the handshake failed: {}", error.came()));
    report
}
