//! `mcp-conform mutants`: proof that each rule can fail, and that none fails without cause.
//!
//! A trial is one run of all rules against the reference server with one fault, or with none. A fault has to be caught
//! in every revision and over every transport where it says that it can show.

mod bugs;
mod durations;
mod matrix;
mod trial;
mod variations;

use std::{path::Path, sync::Mutex, thread};

pub use bugs::{Bug, bugs, gaps};
pub use matrix::Matrix;
pub use trial::{Conducted, Trial, trials, variation_trials};
pub use variations::Variations;

use crate::{
    cli::MutantsArgs,
    error::{Error, exit},
    evidence::Transport,
    revision::Revision,
    run::{
        inputs::suites::load,
        process::{Surroundings, console},
    },
    suite::{Suite, fits},
};

/// Trials at once. Most of a trial is waiting.
const AT_ONCE: usize = 8;

/// The same where it is measured how long they take: fewer, so that they wait for the server and not for a processor.
const MEASURED_AT_ONCE: usize = 4;

pub fn mutants(args: &MutantsArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let suites = load(&[], surroundings.color)?;
    if let Some(folder) = &args.bugs {
        return list_bugs(folder, &suites);
    }
    let program = surroundings.program.clone().ok_or_else(|| Error::usage("this program cannot find itself"))?;
    let revisions = parsed(&args.revision, &Revision::ALL, str::parse)?;
    let transports = parsed(&args.transport, &Transport::ALL, |text| {
        let found = Transport::ALL.into_iter().find(|transport| transport.as_str() == text);
        found.ok_or_else(|| format!("unknown transport `{text}`; known: stdio, http, sse"))
    })?;
    let mut trials = match args.variations {
        true => variation_trials(&revisions),
        false => trials(&revisions, &transports),
    };
    if let Some(idle) = args.filters.iter().find(|filter| !trials.iter().any(|trial| selects(filter, trial, &suites))) {
        return Err(Error::Usage {
            message: format!("`{idle}` matches no fault"),
            help: Some("`mcp-conform list faults` lists them".into()),
        });
    }
    if !args.filters.is_empty() {
        trials.retain(|trial| args.filters.iter().any(|filter| selects(filter, trial, &suites)));
    }
    if let Some(limit) = args.longer_than {
        return Ok(longer_than(limit, &durations::newest(trials), &suites, &program));
    }
    if args.variations {
        let mut matrix = Variations::default();
        for (trial, shown) in trials.iter().zip(run_all(&trials, AT_ONCE, |trial| trial.run(&suites, &program))) {
            matrix.add(trial, &shown);
        }
        let flaws = matrix.flaws(args.revision.is_empty());
        matrix.table().for_each(|line| console::say(&line));
        for flaw in &flaws {
            console::say(&format!("✗ {flaw}"));
        }
        console::say(&matrix.summary(&flaws));
        return Ok(if flaws.is_empty() { exit::CONFORMING } else { exit::FAILED });
    }
    let mut matrix = Matrix::default();
    for (trial, shown) in trials.iter().zip(run_all(&trials, AT_ONCE, |trial| trial.run(&suites, &program))) {
        matrix.add(trial, &shown);
    }
    let flaws = matrix.flaws(&suites, args.revision.is_empty() && args.transport.is_empty());
    matrix.table().for_each(|line| console::say(&line));
    for flaw in &flaws {
        console::say(&format!("✗ {flaw}"));
    }
    console::say(&matrix.summary(&suites));
    Ok(if flaws.is_empty() { exit::CONFORMING } else { exit::FAILED })
}

/// Which bugs the faults stand for, and whether each rule that should detect one is there. Nothing is run.
fn list_bugs(folder: &Path, suites: &[Suite]) -> Result<u8, Error> {
    let bugs = bugs::bugs(folder)?;
    let gaps = bugs::gaps(&bugs, suites);
    bugs::table(&bugs, suites).for_each(|line| console::say(&line));
    for gap in &gaps {
        console::say(&format!("✗ {gap}"));
    }
    console::say(&bugs::summary(&bugs, &gaps));
    Ok(if gaps.is_empty() { exit::CONFORMING } else { exit::FAILED })
}

/// Whether the fault has that in its name, or proves a rule or suite of that name.
fn selects(filter: &str, trial: &Trial, suites: &[Suite]) -> bool {
    let name = trial.fault.as_deref().unwrap_or("faultless");
    let proves = |suite: &Suite| {
        let rules = suite.rules.iter().filter(|rule| fits(filter, &rule.id) || fits(filter, &suite.id));
        rules.flat_map(|rule| &rule.faults).any(|fault| fault == name)
    };
    name.contains(filter) || suites.iter().any(proves)
}

/// Lists the runs that take longer than so many seconds at the default limits.
fn longer_than(limit: f64, trials: &[Trial], suites: &[Suite], program: &Path) -> u8 {
    let took = run_all(trials, MEASURED_AT_ONCE, |trial| durations::measure(trial, suites, program));
    let mut longer: Vec<_> = took.iter().zip(trials).filter(|(took, _)| took.as_secs_f64() > limit).collect();
    longer.sort_by(|(one, _), (other, _)| other.cmp(one));
    for (took, trial) in &longer {
        console::say(&format!("✗ {} took {:.1} s", trial.name(), took.as_secs_f32()));
    }
    console::say(&format!("{} runs, {} of them longer than {limit} s", trials.len(), longer.len()));
    if longer.is_empty() { exit::CONFORMING } else { exit::FAILED }
}

/// Runs the trials concurrently, and keeps their order.
fn run_all<T: Clone + Default + Send>(trials: &[Trial], at_once: usize, run: impl Fn(&Trial) -> T + Sync) -> Vec<T> {
    let next = Mutex::new(trials.iter().enumerate());
    let done = Mutex::new(vec![T::default(); trials.len()]);
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some((index, trial)) = next.lock().ok().and_then(|mut trials| trials.next()) {
                    let result = run(trial);
                    if let Ok(mut done) = done.lock() {
                        done[index] = result;
                    }
                }
            });
        }
    });
    done.into_inner().unwrap_or_default()
}

fn parsed<T: Copy>(texts: &[String], all: &[T], parse: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, Error> {
    if texts.is_empty() {
        return Ok(all.to_vec());
    }
    texts.iter().map(|text| parse(text)).collect::<Result<_, _>>().map_err(Error::usage)
}
