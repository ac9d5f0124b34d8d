//! `mcp-conform matrix`: tests many servers, each in its own process.
//!
//! A process isolates the other servers from one that floods, hangs or triggers a bug in this program. It also makes
//! each result identical to that of `mcp-conform run`, byte for byte.

mod merge;
mod results;
mod settle;
mod targets;
mod worker;

use std::{num::NonZeroUsize, thread};

use futures_util::{StreamExt as _, stream};
use tokio::sync::watch;

use self::{results::Results, targets::Entry, worker::Worker};
use crate::{
    cli::{MatrixArgs, MatrixCommand},
    error::Error,
    evidence::Side,
    outcome::RunReport,
    report::{
        Style, Verbosity,
        matrix::{Fold, Row, line},
    },
    run::{
        inputs::suites::load,
        process::{Surroundings, console, runtime::runtime, signals},
        results::outputs::{self, Output},
    },
};

pub fn matrix(args: &MatrixArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    if let Some(MatrixCommand::Merge { directories, out, report }) = &args.command {
        return merge::merge(directories, out.as_ref().unwrap_or(&directories[0]), report, surroundings);
    }
    let suites = load(&[Side::Server], &args.scope.select.suite, surroundings.color)?;
    let entries = targets::wanted(args, &suites, surroundings)?;
    let results = Results::open(&args.out)?;
    let worker = Worker::new(args, surroundings)?;
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    runtime().block_on(test(&entries, &worker, &results, jobs, args, surroundings))
}

/// Tests every server that has no result yet, and reports the totals.
async fn test(
    entries: &[Entry],
    worker: &Worker,
    results: &Results,
    jobs: usize,
    args: &MatrixArgs,
    surroundings: &Surroundings,
) -> Result<u8, Error> {
    let outputs = outputs::of_matrix(&args.report)?;
    let style = style(surroundings);
    let longest = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    let mut fold = Fold::default();
    let mut due = Vec::new();
    for entry in entries {
        let stands = if args.again { None } else { results.standing(entry) };
        match stands {
            Some(report) => fold.add(row(&entry.name, Some(entry.file.clone()), &report, &outputs), &report),
            None => due.push(entry),
        }
    }
    let standing = entries.len() - due.len();
    if standing > 0 {
        let total = entries.len();
        console::say(&format!(
            "{standing} of {total} results are in {}; use --again to test them again",
            results.shown()
        ));
    }

    let (stop, stopped) = watch::channel(false);
    let test = |entry| {
        let stopped = stopped.clone();
        async move { (entry, worker.test(entry, results.scratch(), stopped).await) }
    };
    let mut running = stream::iter(due).map(test).buffer_unordered(jobs);
    let mut asked = std::pin::pin!(signals::asked());
    let (mut done, mut signal) = (standing, None);
    loop {
        let (entry, report) = tokio::select! {
            next = running.next() => match next {
                None => break,
                Some((entry, report)) => match report? {
                    None => continue,
                    Some(report) => (entry, report),
                },
            },
            code = &mut asked, if signal.is_none() => {
                signal = Some(code);
                stop.send_replace(true);
                continue;
            }
        };
        results.keep(entry)?;
        done += 1;
        let row = row(&entry.name, Some(entry.file.clone()), &report, &outputs);
        console::say(&line(&row, (done, entries.len()), longest, &style));
        fold.add(row, &report);
    }
    if let Some(code) = signal {
        let (total, shown) = (entries.len(), results.shown());
        console::complain(&format!(
            "stopped: {done} of {total} results are in {shown}; repeat the command to continue"
        ));
        return Ok(code);
    }
    if args.partition.is_some() {
        let shown = results.shown();
        console::say(&format!(
            "\nThis is one part; `mcp-conform matrix merge {shown} ...` with the directories of all parts merges them."
        ));
        return settle::settle(fold, None, &outputs, &style);
    }
    settle::settle(fold, Some(&args.out), &outputs, &style)
}

/// A summary of one report, with what these outputs need.
fn row(name: &str, file: Option<String>, report: &RunReport, outputs: &[Output]) -> Row {
    let row = Row::of(name, file, report);
    if outputs::needs_tests(outputs) { row.with_tests(report) } else { row }
}

fn style(surroundings: &Surroundings) -> Style {
    let Surroundings { width, color, links, .. } = *surroundings;
    Style { width, color, links, verbosity: Verbosity::Normal }
}
