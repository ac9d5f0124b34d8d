//! `mcp-conform run`: tests one server.

use std::{path::PathBuf, sync::Arc, time::Instant};

use super::{abort_report, baseline::Baseline, outputs};
use crate::{
    cli::RunArgs,
    error::{Error, exit},
    evidence::Recorder,
    outcome::{RunReport, Status},
    plan::{Filter, Proposals},
    run::{
        assembly::{by_hand, rerun},
        conducting::assemble_run::{Conducted, conduct, illustrate, schedule},
        inputs::{configured, credentials, job::Job, misnamed, suites::load, target},
        process::{
            Surroundings, console,
            interrupts::Interrupts,
            progress::Progress,
            runtime::{block_on, unless_ended},
            strays,
        },
    },
    suite::Suite,
};

pub fn run(args: &RunArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    if args.plan {
        return show_schedule(args, surroundings);
    }
    let outputs = outputs::wanted(&args.output.forms)?;
    outputs::try_path(args.transcript.as_deref())?;
    let (interrupts, began) = (Interrupts::listen(), Instant::now());
    match tested(args, surroundings, &interrupts) {
        Ok(Tested { report, kept }) => {
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

/// What a run needs, read from what was typed and configured.
struct Prepared {
    job: Job,
    suites: Vec<Suite>,
    filter: Filter,
    baseline: Baseline,
}

/// A run that is over, but for its reports.
pub struct Tested {
    pub report: RunReport,
    /// Whether what was to be kept besides could be written.
    pub kept: [Result<(), Error>; 2],
}

fn prepared(args: &RunArgs, surroundings: &Surroundings, interrupts: &Interrupts) -> Result<Prepared, Error> {
    let (mut target, mut facts, limits) = target::target(&args.target, surroundings)?;
    let suites = load(&own_suites(args, surroundings)?, surroundings.color)?;
    let filter = filter(args, &suites)?;
    let baseline = Baseline::wanted(&args.output, &suites)?;
    let limits = target::limits(args, limits)?;
    unless_ended(credentials::obtain(&mut target, &mut facts, &limits))?;
    let revisions = args.scope.revision.parse()?;
    target::unless_unseen(&args.target, revisions)?;
    let job = Job {
        target,
        facts,
        call_tools: args.scope.call_tools,
        limits,
        profile: target::profile(&args.client)?,
        revisions,
        proposals: Proposals::new(&args.scope.proposal, &suites)?,
        strict: args.output.strict,
        interrupts: interrupts.clone(),
        suites: Arc::default(),
    };
    Ok(Prepared { job, suites, filter, baseline })
}

pub fn tested(args: &RunArgs, surroundings: &Surroundings, interrupts: &Interrupts) -> Result<Tested, Error> {
    let Prepared { job, suites, filter, baseline } = prepared(args, surroundings, interrupts)?;
    let Conducted { mut report, recorder, scenes } = watched(&job, &suites, &filter, args, surroundings)?;
    report.partition = args.partition.iter().map(ToString::to_string).collect();
    report.target.options = target::options(&args.target);
    report.target.command = target::command(&job.target);
    report.target.config = configured::shown(&args.target, surroundings);
    if let Some(file) = &report.target.config {
        report.notes.extend(misnamed::notes(file, &job.facts, &scenes));
    }
    if args.scope.call_tools {
        report.target.options += " --call-tools";
    }
    for proposal in &args.scope.proposal {
        report.target.options += &format!(" --proposal {proposal}");
    }
    report.target.options += &target::manner(args);
    if outputs::illustrated(&args.output.forms) {
        illustrate(&mut report, &suites, &scenes, recorder.frames());
    }
    rerun::say_how(&mut report, recorder.frames(), &args.scope.suite);
    by_hand::show_how(&mut report, &suites, || recorder.frames());
    // What cannot be written keeps nothing else from being so.
    let settled = baseline.settle(&mut report, &args.output);
    if let Some(code) = interrupts.code() {
        report.exit_code = code;
    }
    let conducted = Conducted { report, recorder, scenes };
    let saved = args.transcript.as_ref().map_or(Ok(()), |path| outputs::save_transcript(path, &conducted));
    Ok(Tested { report: conducted.report, kept: [settled, saved] })
}

/// The rules that were asked for, of this part of the run.
fn filter(args: &RunArgs, suites: &[Suite]) -> Result<Filter, Error> {
    let mut terms = args.scope.terms();
    if let Some(path) = &args.last_failed {
        let report = super::report::read(path)?;
        let failed = [Status::Fail, Status::Broken, Status::Warn];
        let rules = report.rules.iter().filter(|rule| failed.contains(&rule.status)).map(|rule| rule.id.clone());
        let before = terms.len();
        terms.extend(rules);
        if terms.len() == before {
            return Err(Error::usage(format!("nothing failed in `{}`", path.display())));
        }
    }
    let filter = Filter::new(&terms, suites)?;
    Ok(match args.partition {
        Some(part) => filter.part(part, suites),
        None => filter,
    })
}

/// `run --list`: the rules that the filter selects, as `SUITE  RULE`.
pub fn list(args: &RunArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let suites = load(&own_suites(args, surroundings)?, surroundings.color)?;
    let filter = filter(args, &suites)?;
    let shown = suites.iter().flat_map(|suite| suite.rules.iter().map(move |rule| (suite, rule)));
    let shown = shown.filter(|(suite, rule)| filter.selects(suite, rule) && filter.shows(&rule.id));
    let lines: Vec<String> = shown.map(|(suite, rule)| format!("{:<32} {}", suite.id, rule.id)).collect();
    console::say(&lines.join("\n"));
    Ok(exit::CONFORMING)
}

/// Conducts a run while a terminal shows what it waits for, and leaves none of its processes behind.
fn watched(
    job: &Job,
    suites: &[Suite],
    filter: &Filter,
    args: &RunArgs,
    surroundings: &Surroundings,
) -> Result<Conducted, Error> {
    let earlier = strays::adopt();
    let recorder = Recorder::new(job.limits.memory_bytes, job.limits.disk_bytes, job.limits.record_messages);
    let status = surroundings.status.filter(|_| !args.output.forms.quiet);
    // The handshake with a server that starts slowly takes the longest.
    let shown = Progress::show(&recorder, &job.suites, job.limits.request * 3, status);
    let conducted = block_on(async {
        tokio::select! {
            conducted = conduct(job, suites, filter, recorder) => conducted,
            // What is dropped here ends its servers.
            () = job.interrupts.second() => Err(Error::Interrupted),
        }
    });
    drop(shown);
    let strays = strays::end(&earlier);
    let mut conducted = conducted?;
    if strays > 0 {
        let note = format!("killed processes that the server left running outside of its process group: {strays}");
        conducted.report.notes.push(note);
    }
    Ok(conducted)
}

/// The suites of the user's own: those that were typed, and those that the configuration names.
pub fn own_suites(args: &RunArgs, surroundings: &Surroundings) -> Result<Vec<PathBuf>, Error> {
    let configured = configured::config(&args.target, surroundings)?.map(|config| config.suites).unwrap_or_default();
    Ok(args.scope.suite.iter().cloned().chain(configured).collect())
}
