//! `mcp-conform run`: tests one server.

use std::{collections::BTreeMap, path::PathBuf, time::Instant};

use crate::{
    assess,
    cli::RunArgs,
    error::{Error, exit},
    evidence::Side,
    evidence::{Evidence, Recorder},
    outcome::{GivenLevel, RuleResult, RunReport, Status},
    plan::{Filter, Proposals},
    run::{
        conducting::assemble_run::{conduct, schedule},
        inputs::{again, configured, credentials, deviations, job::Job, misnamed, suites::load, target},
        process::{
            Surroundings,
            console::{self, complain},
            interrupts::Interrupts,
            progress::{Counts, Progress},
            runtime::unless_ended,
            strays::{self, supervised},
        },
        results::{
            abort_report,
            baseline::{Baseline, saw_all},
            outputs,
        },
    },
    suite::{Suite, give_levels},
};

pub fn run(args: &RunArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let args = &configured::with_settings(args, surroundings);
    if has_nothing_left(args, &terms(args)?) {
        // As after a green run in a pipeline.
        complain(
            "no rule failed in the last run, so there is nothing to test; without --last-failed all rules are tested",
        );
        return Ok(exit::CONFORMING);
    }
    if args.plan {
        return show_schedule(args, surroundings);
    }
    let outputs = outputs::wanted(&args.output.forms)?;
    outputs::try_path(args.transcript.as_deref())?;
    let (interrupts, began) = (Interrupts::listen(), Instant::now());
    match tested(args, surroundings, &interrupts) {
        Ok(Tested { report, failure, kept }) => {
            let outputs = outputs::beside(failure.as_ref(), outputs);
            let written = outputs::write(&outputs, &report, &args.output.forms, surroundings);
            Ok(outputs::exit_code(report.exit_code, kept.into_iter().chain([written])))
        }
        Err(error) => {
            let code = interrupts.code().unwrap_or(error.exit_code());
            Ok(abort_report::tell(&error, code, began.elapsed(), outputs, args, surroundings))
        }
    }
}

fn show_schedule(args: &RunArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let Prepared { job, suites, filter, .. } = prepared(args, surroundings, &Interrupts::default())?;
    let earlier = strays::adopt();
    let recorder = Recorder::new(job.limits.memory_bytes, job.limits.disk_bytes, job.limits.record_messages);
    let schedule = unless_ended(schedule(&job, &suites, &filter, recorder));
    strays::end(&earlier);
    console::say(schedule?.trim_end());
    Ok(exit::CONFORMING)
}

/// Everything that a run needs, from the options and the configuration.
struct Prepared {
    job: Job,
    suites: Vec<Suite>,
    /// Those that the configuration gives to rules.
    levels: BTreeMap<String, GivenLevel>,
    /// The terms of the filter.
    terms: Vec<String>,
    filter: Filter,
    baseline: Baseline,
}

/// A finished run whose reports are not written yet.
pub struct Tested {
    pub report: RunReport,
    /// Why the report has no results, if so.
    pub failure: Option<Error>,
    /// Whether the other requested files could be written.
    pub kept: [Result<(), Error>; 2],
}

fn prepared(args: &RunArgs, surroundings: &Surroundings, interrupts: &Interrupts) -> Result<Prepared, Error> {
    let (mut target, mut facts, limits) = target::target(&args.target, surroundings)?;
    let mut suites = load(&[Side::Server], &own_suites(args, surroundings)?, surroundings.color)?;
    let levels = match configured::config(&args.target, surroundings)? {
        Some(config) => config.levels(&suites, surroundings.color)?,
        None => BTreeMap::new(),
    };
    give_levels(&mut suites, &levels);
    let terms = terms(args)?;
    let filter = filter(args, &terms, &suites)?;
    let baseline = Baseline::wanted(&args.output, &suites)?;
    let limits = target::limits(args, limits)?;
    unless_ended(credentials::obtain(&mut target, &mut facts, &limits))?;
    let revisions = args.scope.revision.parse()?;
    deviations::reject_unless_visible_in(&args.target, revisions)?;
    let job = Job {
        target,
        facts,
        call_tools: args.scope.call_tools,
        limits,
        profile: target::profile(&args.client)?,
        revisions,
        proposals: Proposals::new(&args.scope.proposal, &suites)?,
        strict: args.output.strict,
        fail_fast: args.fail_fast.then(|| {
            let (baseline, strict) = (baseline.clone(), args.output.strict);
            Box::new(move |rule: &RuleResult| baseline.fails(rule, strict)) as _
        }),
        interrupts: interrupts.clone(),
        suites: Counts::of("suites"),
    };
    Ok(Prepared { job, suites, levels, terms, filter, baseline })
}

pub fn tested(args: &RunArgs, surroundings: &Surroundings, interrupts: &Interrupts) -> Result<Tested, Error> {
    let Prepared { job, suites, levels, terms, filter, baseline } = prepared(args, surroundings, interrupts)?;
    let mut evidence = watched(&job, &suites, &filter, args, surroundings)?;
    (evidence.header.scope.filter, evidence.header.scope.levels) = (terms, levels);
    describe(&mut evidence, &job, args, surroundings);
    let options = assess::Options {
        filter: &filter,
        strict: args.output.strict,
        own_suites: &args.scope.select.suite,
        illustrated: outputs::illustrated(&args.output.forms),
    };
    let mut report = assess::assess(&evidence, &suites, &options);
    // Ctrl-C may have been pressed while the rules were judged.
    evidence.header.end.interrupted = interrupts.code();
    let settled = baseline.settle(&mut report, &args.output, &evidence.header.end, &saw_all(&evidence, &suites));
    // A file that cannot be written does not prevent the others.
    let saved = args.transcript.as_ref().map_or(Ok(()), |path| outputs::save_transcript(path, &evidence));
    Ok(Tested { failure: assess::failure::without_results(&report, &evidence), report, kept: [settled, saved] })
}

/// Adds what the evidence says about the command that produced it.
fn describe(evidence: &mut Evidence, job: &Job, args: &RunArgs, surroundings: &Surroundings) {
    let Evidence { header, contexts, .. } = evidence;
    header.scope.partition = args.partition.as_ref().map(ToString::to_string);
    header.target.config = configured::shown(&args.target, surroundings);
    header.target.command = again::command(&job.target);
    if let Some(file) = &header.target.config {
        header.notes.extend(misnamed::notes(file, &job.facts, contexts));
        // The first notes: the user wanted these calls.
        header.notes.splice(0..0, misnamed::misfits(file, &job.facts, contexts));
    }
    let mut options = again::options(&args.target);
    if args.scope.call_tools {
        options += " --call-tools";
    }
    for proposal in &args.scope.proposal {
        options += &format!(" --proposal {proposal}");
    }
    header.target.options = options + &again::manner(args);
}

/// The terms of the options that select rules.
fn terms(args: &RunArgs) -> Result<Vec<String>, Error> {
    let mut terms = args.scope.select.terms();
    if let Some(path) = &args.last_failed {
        let report = super::report::read(path)?;
        let failed = [Status::Fail, Status::Broken, Status::Warn];
        let rules = report.rules.iter().filter(|rule| failed.contains(&rule.status)).map(|rule| rule.id.clone());
        terms.extend(rules);
    }
    Ok(terms)
}

/// Whether `--last-failed` alone selects rules, and none failed.
fn has_nothing_left(args: &RunArgs, terms: &[String]) -> bool {
    let select = &args.scope.select;
    args.last_failed.is_some() && select.filter.is_empty() && terms.len() == select.terms().len()
}

/// The selected rules of this part of the run.
fn filter(args: &RunArgs, terms: &[String], suites: &[Suite]) -> Result<Filter, Error> {
    let filter = Filter::new(terms, suites)?;
    Ok(match args.partition {
        Some(part) => filter.part(part, suites),
        None => filter,
    })
}

/// `run --list`: the rules that the filter selects, as `SUITE  RULE`.
pub fn list(args: &RunArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let suites = load(&[Side::Server], &own_suites(args, surroundings)?, surroundings.color)?;
    let terms = terms(args)?;
    if has_nothing_left(args, &terms) {
        return Ok(exit::CONFORMING);
    }
    let filter = filter(args, &terms, &suites)?;
    let shown = suites.iter().flat_map(|suite| suite.rules.iter().map(move |rule| (suite, rule)));
    let shown = shown.filter(|(suite, rule)| filter.selects(suite, rule) && filter.shows(&rule.id));
    let lines: Vec<String> = shown.map(|(suite, rule)| format!("{:<32} {}", suite.id, rule.id)).collect();
    console::say(&lines.join("\n"));
    Ok(exit::CONFORMING)
}

/// Conducts a run, shows its progress on a terminal, and kills all its processes at the end.
fn watched(
    job: &Job,
    suites: &[Suite],
    filter: &Filter,
    args: &RunArgs,
    surroundings: &Surroundings,
) -> Result<Evidence, Error> {
    let recorder = Recorder::new(job.limits.memory_bytes, job.limits.disk_bytes, job.limits.record_messages);
    // The handshake with a server that starts slowly takes the longest.
    let patience = job.limits.request * 3;
    let is_shown = !args.output.forms.quiet;
    let shown = is_shown.then(|| Progress::show(&recorder, &job.suites, patience, surroundings.status));
    let conducted = supervised("server", &job.interrupts, conduct(job, suites, filter, recorder));
    drop(shown);
    let (mut evidence, left) = conducted?;
    evidence.header.notes.extend(left);
    Ok(evidence)
}

/// The suites of the user: from the options and from the configuration.
pub fn own_suites(args: &RunArgs, surroundings: &Surroundings) -> Result<Vec<PathBuf>, Error> {
    let configured = configured::config(&args.target, surroundings)?.map(|config| config.suites).unwrap_or_default();
    Ok(args.scope.select.suite.iter().cloned().chain(configured).collect())
}
