//! `mcp-conform judge`: the second half of a run, on evidence that was recorded.

mod recording;

use std::collections::BTreeMap;

use self::recording::Recording;
use crate::{
    assess,
    cli::JudgeArgs,
    error::Error,
    evidence::{Evidence, Side, transcript},
    outcome::RunReport,
    plan::Filter,
    run::{
        inputs::{profiles::with, suites::load},
        process::Surroundings,
        results::{
            baseline::Baseline,
            course::{Course, Profiles, accepts},
            outputs,
        },
    },
    suite::{Suite, give_levels},
};

pub fn judge(args: &JudgeArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let mut suites = load(&Side::ALL, &args.select.suite, surroundings.color)?;
    let wanted = outputs::wanted(&args.output.forms)?;
    let profiles =
        Profiles::wanted(&args.profiles, &args.select.terms(), &suites, &BTreeMap::new(), surroundings.color)?;
    let baseline = Baseline::wanted(&args.output, &with(&suites, &profiles.suites))?;
    let path = &args.transcript;
    let mut recording = Recording::open(path)?;
    if args.follow {
        // Report a mistake in the filter before waiting.
        Filter::new(&args.select.terms(), &suites)?;
        recording::follow(&mut recording, args, &suites)?;
    } else {
        recording.read_on()?;
    }
    let evidence = recording.evidence(&suites)?;
    if evidence.contexts.is_empty() && evidence.header.end.failed_handshake.is_none() {
        return Err(nothing(args, &evidence));
    }
    // In a recording both sides are judged.
    accepts(&args.output, if evidence.header.recorded { Side::Client } else { evidence.header.judged })?;
    give_levels(&mut suites, &evidence.header.scope.levels);
    let filter = match args.select.terms().is_empty() {
        true => filter(args, &evidence, &suites)?,
        false => profiles.filter.clone(),
    };
    let course = Course {
        suites,
        filter,
        terms: Vec::new(),
        levels: BTreeMap::new(),
        own_suites: &args.select.suite,
        baseline,
        profiles,
        strict: args.output.strict || evidence.header.scope.strict,
        output: &args.output,
        transcript: None,
    };
    Ok(course.judge(evidence, |_, _| {}).write(wanted, &args.output.forms, surroundings).0)
}

fn nothing(args: &JudgeArgs, evidence: &Evidence) -> Error {
    let path = args.transcript.display();
    if evidence.header.recorded {
        let notes: String = evidence.header.notes.iter().map(|note| format!("; {note}")).collect();
        return Error::Usage {
            message: format!("`{path}` holds no conversation that can be judged{notes}"),
            help: Some(
                "record a conversation from its beginning: the handshake shows the revision; of a recording in several files, \
                 name the first"
                    .into(),
            ),
        };
    }
    Error::Usage {
        message: format!("`{path}` ends before the evidence of the suites: nothing can be judged"),
        help: Some("the file is truncated; `mcp-conform run ... --transcript PATH` writes a complete one".into()),
    }
}

/// Judges a transcript as its run was judged.
pub fn again(transcript: &[u8], suites: &mut [Suite], strict: bool) -> Result<(Evidence, RunReport), Error> {
    let mut evidence =
        transcript::read(transcript).map_err(|why| Error::usage(format!("the transcript cannot be read: {why}")))?;
    if evidence.header.recorded {
        recording::complete(&mut evidence, suites);
    }
    give_levels(suites, &evidence.header.scope.levels);
    let filter = selected(&[], &evidence, suites)?;
    let how = assess::Options { strict, ..assess::Options::verdicts(&filter) };
    let report = assess::assess(&evidence, suites, &how);
    Ok((evidence, report))
}

pub fn filter(args: &JudgeArgs, evidence: &Evidence, suites: &[Suite]) -> Result<Filter, Error> {
    selected(&args.select.terms(), evidence, suites)
}

/// The rules of these terms, or without any those of the run.
fn selected(typed: &[String], evidence: &Evidence, suites: &[Suite]) -> Result<Filter, Error> {
    let scope = &evidence.header.scope;
    let mut filter = Filter::new(if typed.is_empty() { &scope.filter } else { typed }, suites)?;
    if let Some(part) = &scope.partition {
        filter = filter.part(part.parse().map_err(Error::usage)?, suites);
    }
    Ok(filter)
}

pub fn options<'a>(args: &'a JudgeArgs, evidence: &Evidence, filter: &'a Filter) -> assess::Options<'a> {
    assess::Options {
        filter,
        strict: args.output.strict || evidence.header.scope.strict,
        own_suites: &args.select.suite,
        illustrated: outputs::illustrated(&args.output.forms),
        ..assess::Options::verdicts(filter)
    }
}
