//! `mcp-conform run`: tests one server.

use std::{collections::BTreeMap, path::PathBuf, time::Instant};

use crate::{
    cli::{Accept, RunArgs},
    error::{Error, exit},
    evidence::{Evidence, RunEnd, Side},
    outcome::{RuleResult, Status},
    plan::{Extensions, Filter, Proposals},
    run::{
        conducting::assemble_run::{conduct, schedule},
        inputs::{
            again, configured, credentials, deviations, job::Job, misnamed, profiles, sdks, suites::load, target,
        },
        process::{
            Surroundings,
            console::{self, complain},
            interrupts::Interrupts,
            progress::Counts,
            runtime::unless_ended,
            strays,
        },
        results::{
            abort_report,
            baseline::Baseline,
            course::{Conduct, Course, Profiles, Tested},
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
        Ok(tested) => Ok(tested.write(outputs, &args.output.forms, surroundings).0),
        Err(error) => {
            let code = interrupts.code().unwrap_or(error.exit_code());
            Ok(abort_report::tell(&error, code, began.elapsed(), outputs, args, surroundings))
        }
    }
}

fn show_schedule(args: &RunArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let (course, job) = prepared(args, surroundings, &Interrupts::default())?;
    let earlier = strays::adopt();
    let schedule = unless_ended(schedule(&job, &course.suites, &course.filter, job.recorder()));
    strays::end(&earlier);
    console::say(schedule?.trim_end());
    Ok(exit::CONFORMING)
}

/// Everything that a run needs, from the options and the configuration.
fn prepared<'a>(
    args: &'a RunArgs,
    surroundings: &Surroundings,
    interrupts: &Interrupts,
) -> Result<(Course<'a>, Job), Error> {
    let (mut target, mut facts, limits) = target::target(&args.target, surroundings)?;
    let mut suites = load(&[Side::Server], &own_suites(args, surroundings)?, surroundings.color)?;
    let terms = terms(args)?;
    let levels = match configured::config(&args.target, surroundings)? {
        Some(config) => config.levels(&suites, surroundings.color)?,
        None => BTreeMap::new(),
    };
    give_levels(&mut suites, &levels);
    let profiles = Profiles::wanted(&args.profiles, &terms, &suites, &levels, surroundings.color)?;
    if args.flaky.is_some() && args.retries.is_none() {
        return Err(Error::Usage {
            message: "--flaky has no effect without --retries".into(),
            help: Some("for example --retries 2 --flaky pass".into()),
        });
    }
    let filter = part_of(profiles.filter.clone(), args, &suites);
    let baseline = Baseline::wanted(&args.output, &profiles::with(&suites, &profiles.suites))?;
    let limits = target::limits(args, limits)?;
    unless_ended(credentials::obtain(&mut target, &mut facts, &limits))?;
    let revisions = args.scope.revision.parse()?;
    deviations::reject_unless_visible_in(&args.target, revisions)?;
    let job = Job {
        subject: Side::Server,
        facts,
        call_tools: args.scope.call_tools,
        limits,
        profile: target::profile(&args.client)?,
        revisions,
        proposals: Proposals::new(&args.scope.proposal, &suites)?,
        extensions: Extensions::new(&args.scope.extension, &suites)?,
        strict: args.output.strict,
        fail_fast: args.fail_fast.then(|| {
            let (baseline, strict) = (baseline.clone(), args.output.strict);
            let accepted =
                if args.output.accept.contains(&Accept::Sdk) { sdks::of_server(&target) } else { Vec::new() };
            Box::new(move |rule: &RuleResult| baseline.fails(rule, strict) && !conform_sdks::is_of_sdk(rule, &accepted))
                as _
        }),
        target,
        interrupts: interrupts.clone(),
        suites: Counts::of("suites"),
    };
    let course = Course {
        suites,
        filter,
        terms,
        levels,
        own_suites: &args.scope.select.suite,
        baseline,
        profiles,
        strict: args.output.strict,
        output: &args.output,
        transcript: args.transcript.as_deref(),
    };
    Ok((course, job))
}

pub fn tested(args: &RunArgs, surroundings: &Surroundings, interrupts: &Interrupts) -> Result<Tested, Error> {
    let (course, job) = prepared(args, surroundings, interrupts)?;
    let recorder = job.recorder();
    let test = Conduct {
        party: "server",
        recorder: &recorder,
        interrupts,
        // The handshake with a server that starts slowly takes the longest.
        progress: Some((&job.suites, job.limits.request * 3)),
        work: conduct(&job, &course.suites, &course.filter, recorder.clone()),
    };
    let mut evidence = course.conduct(test, surroundings)?;
    describe(&mut evidence, &job, args, surroundings);
    for number in 1..=args.retries.unwrap_or_default() {
        let failing = course.failing(&evidence);
        // After an interruption or a timeout there is no time for more.
        if failing.is_empty() || interrupts.code().is_some() || evidence.header.end.cut_short.is_some() {
            break;
        }
        let retry = retried(&course, &job, failing, surroundings)?;
        let header = &mut evidence.header;
        header.ms += retry.header.ms;
        let RunEnd { cut_short, failed_handshake, .. } = &retry.header.end;
        let why = cut_short.as_deref().or(failed_handshake.as_ref().map(|_| "the handshake failed"));
        header.notes.extend(why.map(|why| format!("retry {number} is incomplete: {why}")));
        evidence.retries.push(retry);
    }
    // Ctrl-C may have been pressed while the rules were judged.
    Ok(course.judge(evidence, |evidence, _| evidence.header.end.interrupted = interrupts.code()))
}

/// Another run, for the rules that this filter selects.
fn retried(course: &Course, job: &Job, terms: Vec<String>, surroundings: &Surroundings) -> Result<Evidence, Error> {
    let (filter, recorder) = (Filter::new(&terms, &course.suites)?, job.recorder());
    let test = Conduct {
        party: "server",
        recorder: &recorder,
        interrupts: &job.interrupts,
        progress: Some((&job.suites, job.limits.request * 3)),
        work: conduct(job, &course.suites, &filter, recorder.clone()),
    };
    let mut evidence = course.conduct(test, surroundings)?;
    evidence.header.scope.filter = terms;
    Ok(evidence)
}

/// Adds what the evidence says about the command that produced it.
fn describe(evidence: &mut Evidence, job: &Job, args: &RunArgs, surroundings: &Surroundings) {
    let Evidence { header, contexts, .. } = evidence;
    header.scope.flaky = args.flaky.unwrap_or_default();
    header.scope.partition = args.partition.as_ref().map(ToString::to_string);
    header.target.config = configured::shown(&args.target, surroundings);
    header.target.command = again::command(&job.target);
    header.target.sdks = sdks::of_server(&job.target);
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
    for extension in &args.scope.extension {
        options += &format!(" --extension {extension}");
    }
    header.target.options = options + &again::manner(args);
}

/// The terms of the options that select rules.
fn terms(args: &RunArgs) -> Result<Vec<String>, Error> {
    let mut terms = args.scope.select.terms();
    if let Some(path) = &args.last_failed {
        let report = super::report::read(path)?;
        let failed = [Status::Fail, Status::Flaky, Status::Broken, Status::Warn];
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
fn part_of(filter: Filter, args: &RunArgs, suites: &[Suite]) -> Filter {
    match args.partition {
        Some(part) => filter.part(part, suites),
        None => filter,
    }
}

/// `run --list`: the rules that the filter selects, as `SUITE  RULE`.
pub fn list(args: &RunArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let suites = load(&[Side::Server], &own_suites(args, surroundings)?, surroundings.color)?;
    let terms = terms(args)?;
    if has_nothing_left(args, &terms) {
        return Ok(exit::CONFORMING);
    }
    let filter = part_of(Filter::new(&terms, &suites)?, args, &suites);
    let shown = suites.iter().flat_map(|suite| suite.rules.iter().map(move |rule| (suite, rule)));
    let shown = shown.filter(|(suite, rule)| filter.selects(suite, rule) && filter.shows(&rule.id));
    let lines: Vec<String> = shown.map(|(suite, rule)| format!("{:<32} {}", suite.id, rule.id)).collect();
    console::say(&lines.join("\n"));
    Ok(exit::CONFORMING)
}

/// The suites of the user: from the options and from the configuration.
pub fn own_suites(args: &RunArgs, surroundings: &Surroundings) -> Result<Vec<PathBuf>, Error> {
    let configured = configured::config(&args.target, surroundings)?.map(|config| config.suites).unwrap_or_default();
    Ok(args.scope.select.suite.iter().cloned().chain(configured).collect())
}
