//! `mcp-conform judge`: the second half of a run, on evidence that was recorded.

use std::{fs::File, io::BufReader, path::PathBuf};

use indexmap::IndexMap;
use serde::Deserialize;

use super::{baseline::Baseline, outputs};
use crate::{
    cli::JudgeArgs,
    error::Error,
    evidence::{
        FrameKind,
        transcript::{self, Transcript},
    },
    judge,
    outcome::{RunReport, TargetReport},
    plan::{Filter, plan},
    run::{
        assembly::{by_hand, given_up, reached::reached, rerun, shown::show_frames, verdict::sum_up},
        conducting::assemble_run::illustrate,
        inputs::suites::load,
        process::{Surroundings, console},
    },
    suite::Suite,
    target::Limits,
};

pub fn judge(args: &JudgeArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let suites = load(&args.suite, surroundings.color)?;
    let filter = Filter::new(&args.filter, &suites)?;
    let outputs = outputs::wanted(&args.output.forms)?;
    let baseline = Baseline::wanted(&args.output, &suites)?;
    let path = &args.transcript;
    let file = File::open(path).map_err(|source| console::failed(path, "read", source))?;
    let recorded = transcript::read(BufReader::new(file)).map_err(|why| Error::Usage {
        message: format!("`{}` is not a transcript: {why}", path.display()),
        help: Some("`mcp-conform run ... --transcript PATH` writes one".into()),
    })?;
    if recorded.scenes.is_empty() {
        return Err(Error::Usage {
            message: format!("`{}` ends before the evidence of the suites: nothing can be judged", path.display()),
            help: Some("the file is truncated; `mcp-conform run ... --transcript PATH` writes a complete one".into()),
        });
    }
    let mut report = judged(&recorded, &suites, &filter, &args.suite, args.output.strict)
        .map_err(|why| Error::usage(format!("`{}` does not say what was tested: {why}", path.display())))?;
    let cut = |line| format!("{} is truncated in line {line}; the lines before were judged", path.display());
    report.notes.extend(recorded.cut.map(cut));
    if outputs::illustrated(&args.output.forms) {
        illustrate(&mut report, &suites, &recorded.scenes, recorded.frames.iter().cloned());
    }
    let settled = baseline.settle(&mut report, &args.output);
    let written = outputs::write(&outputs, &report, &args.output.forms, surroundings);
    Ok(outputs::exit_code(report.exit_code, [settled, written]))
}

/// The report on what was recorded.
pub(crate) fn judged(
    recorded: &Transcript,
    suites: &[Suite],
    filter: &Filter,
    own_suites: &[PathBuf],
    strict: bool,
) -> serde_json::Result<RunReport> {
    let Transcript { header, links, frames, scenes, .. } = recorded;
    let frames = || frames.iter().cloned();
    let target = TargetReport::deserialize(&header.target)?;
    let mut rules = Vec::new();
    for scene in scenes {
        rules.extend(judge::judge(&plan(suites, scene, filter), scene, links, frames()));
    }
    given_up::explain(&mut rules, scenes, suites);
    show_frames(&mut rules, frames(), Limits::default().evidence_frames);
    let cut_short = frames().find(|frame| frame.kind == FrameKind::CutShort && frame.by.is_none());
    let cut_short = cut_short.and_then(|frame| frame.text.clone());
    let notes = header.notes.clone();
    let mut report = sum_up(target, rules, notes, cut_short, header.started, header.ms, strict);
    let mut unread = IndexMap::new();
    for frame in frames().filter(|frame| frame.kind == FrameKind::Unread) {
        *unread.entry(frame.why.clone().unwrap_or_default()).or_default() += 1;
    }
    report.limits = reached(unread, scenes, suites);
    rerun::say_how(&mut report, frames(), own_suites);
    by_hand::show_how(&mut report, suites, frames);
    Ok(report)
}
