//! Proof of the rules about clients. Each fault of the reference client breaks the rules that name it. Of the rules
//! that judge the same scenarios, it breaks no others except those that it declares. The client without a fault, and
//! each variation, breaks none.

use std::{
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use conform_client_faults::Info;
use tokio::runtime::Builder;

use super::{acting::Acting, judged, processors};
use crate::cli::MutantsArgs;
use mcp_conform::{
    config::Client,
    error::{Error, exit},
    evidence::{Evidence, Recorder, Side, Transport},
    outcome::{RunReport, Status},
    plan::Filter,
    revision::Revision,
    run::{
        clients::{ClientJob, Inside, Limits, conduct},
        inputs::{job::Revisions, suites::load},
        process::{Surroundings, console, interrupts::Interrupts, progress::Counts},
    },
    suite::{Applies, Suite, fits},
};

/// For one start of the reference client. The slowest world needs 12 s.
const START: Duration = Duration::from_secs(40);
/// For all starts of one trial. A guess.
const RUN: Duration = Duration::from_secs(900);
/// Limits of the record of one trial.
const BYTES: usize = 32 << 20;
const MESSAGES: usize = 200_000;
/// Frames that a finding shows.
const SHOWN: usize = 4;

/// One run of the reference client, and the expected result.
#[derive(Clone, Debug)]
pub struct ClientTrial {
    pub fault: Option<&'static str>,
    pub variation: Option<&'static str>,
    pub revision: Revision,
    pub transport: Transport,
    /// The rules that name the fault and can detect it here.
    rules: Vec<String>,
    also: Vec<String>,
}

/// The result of a trial.
#[derive(Default)]
pub struct Found {
    /// Deviations from the expected result.
    pub flaws: Vec<String>,
    /// Rules that failed and that the fault declares but does not name.
    pub also: Vec<String>,
}

/// Every fault in each place where all rules that name it can detect it, and the faultless client and its variations.
pub fn client_trials(suites: &[Suite]) -> Vec<ClientTrial> {
    let places =
        || Revision::ALL.into_iter().rev().flat_map(|revision| Transport::ALL.map(|transport| (revision, transport)));
    let defined = |(revision, transport): &(Revision, Transport)| transport.is_defined_in(*revision);
    let mut trials = Vec::new();
    for (revision, transport) in places().filter(defined) {
        trials.push(ClientTrial {
            fault: None,
            variation: None,
            revision,
            transport,
            rules: Vec::new(),
            also: Vec::new(),
        });
    }
    for info in conform_client_faults::variations() {
        let mut met = Vec::new();
        let all = places().filter(defined).filter(|(revision, transport)| shows(&info, *revision, *transport));
        // Both eras, and each transport.
        let first = all.filter(|(revision, transport)| {
            let place = (revision.is_modern(), *transport);
            let is_new = !met.contains(&place);
            met.push(place);
            is_new
        });
        trials.extend(first.map(|(revision, transport)| ClientTrial {
            variation: Some(info.name),
            fault: None,
            revision,
            transport,
            rules: Vec::new(),
            also: info.also.clone(),
        }));
    }
    for info in conform_client_faults::faults() {
        let mut unseen = naming(suites, info.name);
        for (revision, transport) in
            places().filter(defined).filter(|(revision, transport)| shows(&info, *revision, *transport))
        {
            let (seen, others): (Vec<_>, Vec<_>) = unseen.into_iter().partition(|(suite, rule)| {
                let rule = &suite.rules[*rule];
                admits(&suite.applies, revision, transport) && admits(&rule.applies, revision, transport)
            });
            unseen = others;
            let rules: Vec<String> = seen.into_iter().map(|(suite, rule)| suite.rules[rule].id.clone()).collect();
            if !rules.is_empty() {
                trials.push(ClientTrial {
                    fault: Some(info.name),
                    variation: None,
                    revision,
                    transport,
                    rules,
                    also: info.also.clone(),
                });
            }
        }
    }
    trials
}

/// The rules that name the fault, each with its suite.
fn naming<'a>(suites: &'a [Suite], fault: &str) -> Vec<(&'a Suite, usize)> {
    let rules = suites.iter().flat_map(|suite| (0..suite.rules.len()).map(move |rule| (suite, rule)));
    rules.filter(|(suite, rule)| suite.rules[*rule].faults.iter().any(|name| name == fault)).collect()
}

fn shows(info: &Info, revision: Revision, transport: Transport) -> bool {
    info.transports.contains(&transport)
        && info.since.is_none_or(|since| since <= revision)
        && info.until.is_none_or(|until| revision <= until)
}

fn admits(applies: &Applies, revision: Revision, transport: Transport) -> bool {
    applies.since.is_none_or(|since| since <= revision)
        && applies.until.is_none_or(|until| revision <= until)
        && (applies.transport.is_empty() || applies.transport.contains(&transport))
}

impl ClientTrial {
    pub fn name(&self) -> String {
        let what = self.fault.or(self.variation).unwrap_or("faultless");
        format!("client {what} {} {}", self.revision, self.transport)
    }

    /// Runs the trial. The client runs inside this process, or as a process of `program` if that is given.
    pub fn found(&self, suites: &[Suite], program: Option<&Path>) -> Result<Found, String> {
        let report = self.run(suites, program).map_err(|error| error.to_string())?;
        let mut flaws = Vec::new();
        let status = |id: &str| report.rules.iter().find(|rule| rule.id == id).map(|rule| rule.status);
        for rule in &self.rules {
            let found = status(rule);
            if !matches!(found, Some(Status::Fail | Status::Warn | Status::Advice)) {
                let found = found.map_or("not judged", Status::word);
                flaws.push(format!("{}: {rule} is {found}, expected a finding", self.name()));
            }
        }
        let bad = report.rules.iter().filter(|rule| {
            matches!(rule.status, Status::Fail | Status::Warn | Status::Broken)
                || (rule.status == Status::Advice && self.fault.is_none())
        });
        let declared =
            |id: &str| self.rules.iter().any(|rule| rule == id) || self.also.iter().any(|pattern| fits(pattern, id));
        let names_it = |id: &str| {
            let fault = self.fault.unwrap_or_default();
            naming(suites, fault).iter().any(|(suite, rule)| suite.rules[*rule].id == id)
        };
        let (known, bad): (Vec<_>, Vec<_>) = bad.partition(|rule| declared(&rule.id) || names_it(&rule.id));
        for rule in bad {
            let first = rule.findings.first();
            let message = first.map(|finding| finding.message.as_str()).or(rule.reason.as_deref()).unwrap_or_default();
            let shown = first.into_iter().flat_map(|finding| &finding.messages);
            let shown: String =
                shown.map(|shown| format!("\n    #{} {} {}", shown.frame, shown.from, shown.text)).collect();
            flaws.push(format!("{}: {} is {}: {message}{shown}", self.name(), rule.id, rule.status.word()));
        }
        if let Some(why) = &report.cut_short {
            flaws.push(format!("{}: the run is incomplete: {why}", self.name()));
        }
        Ok(Found { flaws, also: known.into_iter().map(|rule| rule.id.clone()).collect() })
    }

    /// The client with a derived fault, or without one.
    pub fn derived(fault: Option<&str>, revision: Revision) -> Self {
        let fault: Option<&'static str> = fault.map(|text| &*String::leak(text.to_owned()));
        let transport = Transport::Stdio;
        Self { fault, variation: None, revision, transport, rules: Vec::new(), also: Vec::new() }
    }

    fn run(&self, suites: &[Suite], program: Option<&Path>) -> Result<RunReport, Error> {
        let filter = Filter::new(&self.rules, suites)?;
        Ok(judged(&self.evidence(&filter, suites, program)?, suites))
    }

    /// What was recorded in the scenarios of the rules that the filter selects.
    pub fn evidence(&self, filter: &Filter, suites: &[Suite], program: Option<&Path>) -> Result<Evidence, Error> {
        let inside = Acting { fault: self.fault, variation: self.variation };
        let own = program.map_or_else(|| PathBuf::from("mcp-conform"), Path::to_owned);
        let mut command = vec![own.display().to_string(), "act".to_owned()];
        for (option, name) in [("--fault", self.fault), ("--variation", self.variation)] {
            command.extend(name.into_iter().flat_map(|name| [option.to_owned(), name.to_owned()]));
        }
        let job = ClientJob {
            program: own,
            named: None,
            client: Client::new(self.transport, command),
            inside: program.is_none().then(|| Arc::new(inside) as Arc<dyn Inside>),
            revisions: Revisions::One(self.revision),
            limits: Limits {
                start: START,
                run: RUN,
                memory_bytes: BYTES,
                disk_bytes: BYTES,
                record_messages: MESSAGES,
                evidence_frames: SHOWN,
            },
            strict: false,
            scenarios: Counts::of("scenarios"),
            interrupts: Interrupts::default(),
        };
        let recorder = Recorder::new(BYTES, BYTES, MESSAGES);
        let runtime = Builder::new_current_thread().enable_all().start_paused(program.is_none()).build();
        let runtime = runtime.map_err(|error| Error::usage(format!("no runtime: {error}")))?;
        runtime.block_on(conduct(&job, suites, filter, recorder))
    }
}

/// Runs the trials that the filters select, and shows deviations.
pub fn prove(args: &MutantsArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let suites = load(&[Side::Client], &[], surroundings.color)?;
    let program = if args.real { Some(surroundings.itself()?) } else { None };
    let mut trials = client_trials(&suites);
    let named = |text: &String, trial: &ClientTrial| {
        trial.name().contains(text.as_str()) || trial.rules.iter().any(|rule| rule.contains(text.as_str()))
    };
    trials.retain(|trial| {
        (args.filters.is_empty() || args.filters.iter().any(|filter| named(filter, trial)))
            && (args.transport.is_empty() || args.transport.iter().any(|name| name == trial.transport.as_str()))
            && (args.revision.is_empty() || args.revision.iter().any(|name| name == trial.revision.as_str()))
    });
    args.part.keep(&mut trials, |trial| trial.fault);
    if trials.is_empty() {
        return Err(Error::usage("the filters match no fault of the reference client; `proof faults` lists them"));
    }
    let founds = run_all(&trials, &suites, program.as_deref());
    let mut flaws: Vec<String> = founds.iter().flat_map(|found| found.flaws.iter().cloned()).collect();
    if args.transport.is_empty() && args.revision.is_empty() {
        flaws.extend(unaffected(&trials, &founds));
    }
    for flaw in &flaws {
        console::say(&format!("✗ {flaw}"));
    }
    let faults = trials.iter().filter(|trial| trial.fault.is_some()).count();
    console::say(&format!(
        "{} of the reference client, {faults} of them with a fault; {}",
        console::counted(trials.len(), "trial"),
        console::counted(flaws.len(), "flaw")
    ));
    Ok(if flaws.is_empty() { exit::CONFORMING } else { exit::FAILED })
}

/// Processes wait most of the time, so there are more threads than processors for them.
fn run_all(trials: &[ClientTrial], suites: &[Suite], program: Option<&Path>) -> Vec<Found> {
    let count = if program.is_some() { 2 * processors() } else { processors() };
    in_threads(trials, count, |trial| {
        let found = trial.found(suites, program);
        let found =
            found.unwrap_or_else(|why| Found { flaws: vec![format!("{}: {why}", trial.name())], ..Found::default() });
        console::say(&format!("{} {}", if found.flaws.is_empty() { "ok  " } else { "FLAW" }, trial.name()));
        found
    })
}

/// The results of all trials, in order.
pub fn in_threads<T: Sync, R: Send>(trials: &[T], count: usize, run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = Mutex::new(trials.iter().enumerate());
    let work = || {
        let mut all = Vec::new();
        loop {
            let Some((at, trial)) = next.lock().ok().and_then(|mut next| next.next()) else { return all };
            all.push((at, run(trial)));
        }
    };
    let mut all: Vec<(usize, R)> = thread::scope(|threads| {
        let others: Vec<_> = (0..count).map(|_| threads.spawn(work)).collect();
        let joined = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        joined.flatten().collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, came)| came).collect()
}

/// Rules that a fault declares but does not break in any of its trials.
fn unaffected(trials: &[ClientTrial], founds: &[Found]) -> Vec<String> {
    let mut flaws = Vec::new();
    for (name, also) in conform_client_faults::faults().into_iter().map(|info| (info.name, info.also)) {
        let own = || trials.iter().zip(founds).filter(|(trial, _)| trial.fault == Some(name));
        let broken = |pattern: &String| own().any(|(_, found)| found.also.iter().any(|id| fits(pattern, id)));
        let idle = also.iter().filter(|pattern| own().next().is_some() && !broken(pattern));
        flaws.extend(
            idle.map(|pattern| {
                format!("client {name}: {pattern} passes, and crates/client-faults/src/also.yaml has it")
            }),
        );
    }
    flaws
}
