//! `mcp-conform mutants`: proof that each rule can fail, and that none fails without cause.
//!
//! A trial is one run of all rules against the reference server with one fault, or with none. A fault has to be
//! detected in every revision and over every transport that it declares.

mod acting;
mod bugs;
mod changed;
mod clients;
mod durations;
mod gateways;
mod matrix;
mod recorded;
mod variations;

use std::{num::NonZeroUsize, path::Path, thread};

pub use bugs::{Bug, bugs, gaps};
pub use clients::{ClientTrial, client_trials, in_threads};
pub use gateways::{GatewayTrial, gateway_trials};
pub use matrix::Matrix;
pub use recorded::Recording;
pub use variations::Variations;

use self::{changed::Changed, recorded::RECORDED};
use crate::{cli::MutantsArgs, systematic::systematic};
use mcp_conform::{
    assess::{Options, assess},
    error::{Error, exit},
    evidence::{Evidence, Transport},
    outcome::RunReport,
    plan::Filter,
    revision::Revision,
    run::{
        inputs::profiles::with_suites,
        process::{Surroundings, console},
        trials::{Trial, trials, variation_trials, with_causes},
    },
    suite::{Suite, fits},
};

pub fn mutants(args: &MutantsArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    if args.systematic {
        return systematic(args, surroundings);
    }
    if args.clients {
        return clients::prove(args, surroundings);
    }
    if args.gateways {
        return gateways::prove(args, surroundings);
    }
    let suites = with_suites()?;
    if let Some(folder) = &args.bugs {
        return list_bugs(folder, &suites);
    }
    let program = if args.real { Some(surroundings.itself()?) } else { None };
    let revisions = parsed(&args.revision, &Revision::ALL, str::parse)?;
    let transports = parsed(&args.transport, &Transport::ALL, str::parse)?;
    let all = |variations: bool| match variations {
        true => variation_trials(&revisions),
        false => trials(&revisions, &transports),
    };
    if let Some(base) = &args.changed {
        let changed = changed::changed(base, &suites)?;
        let holds = prove_changed(&changed, all(false), all(true), &suites, program.as_deref());
        return Ok(if holds { exit::CONFORMING } else { exit::FAILED });
    }
    let mut trials = all(args.variations);
    if let Some(idle) = args.filters.iter().find(|filter| !trials.iter().any(|trial| selects(filter, trial, &suites))) {
        return Err(Error::Usage {
            message: format!("`{idle}` matches no fault"),
            help: Some("`mcp-conform list faults` lists them".into()),
        });
    }
    if !args.filters.is_empty() {
        trials.retain(|trial| args.filters.iter().any(|filter| selects(filter, trial, &suites)));
    }
    args.part.keep(&mut trials, |trial| trial.fault.clone());
    if let Some(limit) = args.longer_than {
        return Ok(longer_than(limit, &durations::newest(trials), &suites, program.as_deref()));
    }
    let whole = args.revision.is_empty() && (args.variations || args.transport.is_empty());
    let holds = prove(&trials, &suites, program.as_deref(), whole);
    Ok(if holds { exit::CONFORMING } else { exit::FAILED })
}

/// Runs the trials, of variations or of faults, and shows deviations.
fn prove(trials: &[Trial], suites: &[Suite], program: Option<&Path>, whole: bool) -> bool {
    let (mut variations, mut matrix) = (Variations::default(), Matrix::default());
    for (trial, shown) in trials.iter().zip(in_threads(trials, at_once(program), |trial| trial.run(suites, program))) {
        match trial.variation {
            true => variations.add(trial, &shown),
            false => matrix.add(trial, &shown),
        }
    }
    let of_variations = trials.iter().any(|trial| trial.variation);
    let flaws = match of_variations {
        true => variations.flaws(whole),
        false => matrix.flaws(suites, whole),
    };
    variations.table().chain(matrix.table()).for_each(|line| console::say(&line));
    for flaw in &flaws {
        console::say(&format!("✗ {flaw}"));
    }
    console::say(&if of_variations { variations.summary(&flaws) } else { matrix.summary(suites) });
    flaws.is_empty()
}

/// The report on a client or gateway, whatever rules the run was for.
pub fn judged(evidence: &Evidence, suites: &[Suite]) -> RunReport {
    let all = Filter::default();
    assess(evidence, suites, &Options::verdicts(&all))
}

pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Proves what a change affects, and that the faultless server passes the affected rules everywhere.
fn prove_changed(
    changed: &Changed,
    faults: Vec<Trial>,
    variations: Vec<Trial>,
    suites: &[Suite],
    program: Option<&Path>,
) -> bool {
    let (rules, named) = (&changed.rules, &changed.faults);
    console::say(&format!("affected: {} rules, {} faults and variations", rules.len(), named.len()));
    if !changed.code.is_empty() {
        console::say(&format!("code has changed, which `cargo test` alone proves: {}", changed.code.join(", ")));
    }
    let is_named = |trial: &Trial| trial.fault.as_ref().is_some_and(|fault| named.contains(fault));
    let mut faulty: Vec<Trial> = Vec::new();
    for trial in faults {
        if is_named(&trial) {
            faulty.push(trial);
        } else if trial.fault.is_none() && !rules.is_empty() {
            faulty.push(Trial { only: rules.iter().cloned().collect(), ..trial });
        }
    }
    let varied: Vec<Trial> = variations.into_iter().filter(is_named).collect();
    let mut holds = true;
    for trials in [faulty, varied].iter().filter(|trials| !trials.is_empty()) {
        holds &= prove(trials, suites, program, true);
    }
    holds & (rules.is_empty() || prove_recorded(changed, suites))
}

/// Whether the changed rules have the recorded verdicts on the recorded servers.
fn prove_recorded(changed: &Changed, suites: &[Suite]) -> bool {
    // What a host does is no verdict on a recorded server.
    let of_hosts = |id: &&String| {
        let profiles = suites.iter().filter(|suite| suite.profile.is_some());
        profiles.flat_map(|suite| &suite.rules).any(|rule| rule.id == **id)
    };
    let ids: Vec<String> = changed.rules.iter().filter(|id| !of_hosts(id)).cloned().collect();
    if ids.is_empty() {
        return true;
    }
    let filter = with_causes(ids, suites).unwrap_or_default();
    let recordings = Recording::all(&changed.root.join(RECORDED));
    let differences = in_threads(&recordings, processors(), |recording| {
        recording.differences(suites, &filter).unwrap_or_else(|why| vec![why])
    });
    let differences: Vec<String> = differences.into_iter().flatten().collect();
    for difference in &differences {
        console::say(&format!("✗ {difference}"));
    }
    console::say(&format!("{} recorded servers: {} verdicts differ", recordings.len(), differences.len()));
    differences.is_empty()
}

/// Lists the bugs that the faults stand for, and checks that each has its rules. Runs nothing.
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

/// Whether the name of the fault contains the filter, or the fault proves a rule or suite of that name.
fn selects(filter: &str, trial: &Trial, suites: &[Suite]) -> bool {
    let name = trial.fault.as_deref().unwrap_or("faultless");
    let proves = |suite: &Suite| {
        let rules = suite.rules.iter().filter(|rule| fits(filter, &rule.id) || fits(filter, &suite.id));
        rules.flat_map(|rule| &rule.faults).any(|fault| fault == name)
    };
    name.contains(filter) || suites.iter().any(proves)
}

/// Lists the runs that take longer than this many seconds with the default limits.
fn longer_than(limit: f64, trials: &[Trial], suites: &[Suite], program: Option<&Path>) -> u8 {
    let took = in_threads(trials, at_once(program), |trial| durations::measure(trial, suites, program));
    let mut longer: Vec<_> = took.iter().zip(trials).filter(|(took, _)| took.as_secs_f64() > limit).collect();
    longer.sort_by(|(one, _), (other, _)| other.cmp(one));
    for (took, trial) in &longer {
        console::say(&format!("✗ {} took {:.1} s", trial.name(), took.as_secs_f32()));
    }
    console::say(&format!("{} runs, {} of them longer than {limit} s", trials.len(), longer.len()));
    if longer.is_empty() { exit::CONFORMING } else { exit::FAILED }
}

/// How many trials run at once. Over real transports most of a trial is waiting.
fn at_once(program: Option<&Path>) -> usize {
    if program.is_some() { 4 * processors() } else { processors() }
}

fn parsed<T: Copy>(texts: &[String], all: &[T], parse: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, Error> {
    if texts.is_empty() {
        return Ok(all.to_vec());
    }
    texts.iter().map(|text| parse(text)).collect::<Result<_, _>>().map_err(Error::usage)
}
