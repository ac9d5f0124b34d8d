//! Proof of the rules about gateways: each fault of the reference gateway breaks the rules that name it, and no others but the
//! ones it declares. The gateway without a fault breaks none.

use std::{path::Path, time::Duration};

use conform_reference_gateway::Fault;

use super::{clients::in_threads, judged, processors};
use crate::cli::MutantsArgs;
use mcp_conform::{
    error::{Error, exit},
    evidence::{Recorder, Side, Transport},
    outcome::{Finding, RunReport, Status},
    plan::Filter,
    revision::Revision,
    run::{
        clients::Limits,
        gateways::{Back, Conducted, Front, GatewayJob, conduct},
        inputs::{job::Revisions, suites::load},
        process::{Surroundings, console, interrupts::Interrupts, runtime::block_on},
    },
    suite::{Suite, fits},
    transport::Capabilities,
};

/// For one start of the reference gateway and for a request on a busy machine. A guess.
const START: Duration = Duration::from_secs(20);
/// For all scenarios of one trial. A guess.
const RUN: Duration = Duration::from_secs(300);
/// Limits of the record of one trial, which contains the large messages.
const BYTES: usize = 256 << 20;
const MESSAGES: usize = 200_000;
/// Frames that a finding shows.
const SHOWN: usize = 4;

/// One run of the reference gateway, and the expected result.
#[derive(Clone)]
pub struct GatewayTrial {
    pub fault: &'static Fault,
    pub front: Transport,
    pub back: Transport,
    pub revision: Revision,
    /// The rules that name the fault.
    rules: Vec<String>,
}

/// Each fault over one pair of transports, and the gateway without one over each.
pub fn gateway_trials(suites: &[Suite]) -> Vec<GatewayTrial> {
    let mut trials = Vec::new();
    let newest = Revision::NEWEST_LEGACY;
    for front in Transport::ALL {
        for back in Transport::ALL {
            let spoken = Revision::ALL.into_iter().rev().find(|revision| {
                *revision <= newest && front.is_defined_in(*revision) && back.is_defined_in(*revision)
            });
            let trial = |revision| GatewayTrial {
                fault: conform_reference_gateway::faultless(),
                front,
                back,
                revision,
                rules: Vec::new(),
            };
            // The newest revision has no handshake, and extensions.
            let stateless = Revision::NEWEST;
            let stateless = (front.is_defined_in(stateless) && back.is_defined_in(stateless)).then_some(stateless);
            trials.extend(spoken.into_iter().chain(stateless).map(trial));
        }
    }
    for fault in conform_reference_gateway::faults() {
        // HTTP towards the server, and stdio towards the client unless the fault only shows elsewhere.
        let usual = |transports: &[Transport], fits: fn(&Capabilities) -> bool| {
            let fitting = transports.iter().find(|own| fits(own.capabilities()));
            fitting.or(transports.first()).copied()
        };
        let front = usual(&fault.fronts, |able| able.process);
        let back = usual(&fault.backs, |able| able.stream_per_request);
        let (Some(front), Some(back)) = (front, back) else { continue };
        let rules = naming(suites, &fault.name);
        let revision = begin(suites, &rules).filter(|begin| *begin > newest).unwrap_or(newest);
        trials.push(GatewayTrial { fault, front, back, revision, rules });
    }
    trials
}

/// The first revision in which one of these rules applies.
fn begin(suites: &[Suite], rules: &[String]) -> Option<Revision> {
    let all = suites.iter().flat_map(|suite| suite.rules.iter().map(move |rule| (suite, rule)));
    let named = all.filter(|(_, rule)| rules.contains(&rule.id));
    named.filter_map(|(suite, rule)| suite.applies.since.max(rule.applies.since)).min()
}

fn naming(suites: &[Suite], fault: &str) -> Vec<String> {
    let rules = suites.iter().flat_map(|suite| &suite.rules);
    rules.filter(|rule| rule.faults.iter().any(|name| name == fault)).map(|rule| rule.id.clone()).collect()
}

impl GatewayTrial {
    pub fn name(&self) -> String {
        let what = if self.fault.name.is_empty() { "faultless" } else { &self.fault.name };
        format!("gateway {what} {} {} {}", self.front, self.back, self.revision)
    }

    /// Deviations from the expected result.
    pub fn flaws(&self, suites: &[Suite], program: &Path) -> Result<Vec<String>, String> {
        let is_faultless = self.fault.name.is_empty();
        if !is_faultless && self.rules.is_empty() {
            return Ok(vec![format!("{}: no rule names the fault", self.name())]);
        }
        let report = self.run(suites, program).map_err(|error| error.to_string())?;
        let mut flaws = Vec::new();
        let found = [Status::Fail, Status::Warn, Status::Advice];
        for rule in &self.rules {
            let status = report.rules.iter().find(|one| one.id == *rule && found.contains(&one.status));
            if status.is_none() {
                flaws.push(format!("{}: {rule} has no finding", self.name()));
            }
        }
        let bad = [Status::Fail, Status::Warn, Status::Broken, Status::Advice];
        let declared =
            |id: &str| self.rules.iter().any(|rule| rule == id) || self.fault.also.iter().any(|also| fits(also, id));
        for rule in report.rules.iter().filter(|rule| bad.contains(&rule.status) && !declared(&rule.id)) {
            let finding = rule.findings.first().map(Finding::line);
            let why = finding.or(rule.reason.clone()).unwrap_or_default();
            flaws.push(format!("{}: {} is {}: {why}", self.name(), rule.id, rule.status.word()));
        }
        if let Some(why) = &report.cut_short {
            flaws.push(format!("{}: the run is incomplete: {why}", self.name()));
        }
        let passed = report.rules.iter().any(|rule| rule.status == Status::Pass);
        if is_faultless && !passed {
            flaws.push(format!("{}: nothing was tested", self.name()));
        }
        Ok(flaws)
    }

    fn run(&self, suites: &[Suite], program: &Path) -> Result<RunReport, Error> {
        let mut command = vec![program.display().to_string(), "relay".to_owned(), "{upstream}".to_owned()];
        let mut option = |name: &str, value: &str| command.extend([name.to_owned(), value.to_owned()]);
        option("--front", self.front.as_str());
        option("--back", self.back.as_str());
        if !self.fault.name.is_empty() {
            option("--fault", &self.fault.name);
        }
        let front = if self.front.capabilities().process {
            Front::Process { command }
        } else {
            option("--port", "{port}");
            let path = if self.front.capabilities().endpoint { "/sse" } else { "/mcp" };
            Front::Port { command, transport: self.front, path: path.to_owned() }
        };
        let job = GatewayJob {
            program: program.to_owned(),
            front,
            back: Back { transport: self.back, ..Back::default() },
            env: Vec::new(),
            cwd: None,
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
            interrupts: Interrupts::default(),
        };
        let filter = Filter::new(&self.rules, suites)?;
        let recorder = Recorder::new(BYTES, BYTES, MESSAGES);
        let Conducted { evidence, .. } = block_on(conduct(&job, suites, &filter, None, false, recorder))?;
        Ok(judged(&evidence, suites))
    }
}

/// Runs the trials that the filters select, and shows deviations.
pub fn prove(args: &MutantsArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let suites = load(&[Side::Gateway], &[], surroundings.color)?;
    let program = surroundings.itself()?;
    let mut trials = gateway_trials(&suites);
    let named = |text: &String, trial: &GatewayTrial| {
        trial.name().contains(text.as_str()) || trial.rules.iter().any(|rule| rule.contains(text.as_str()))
    };
    trials.retain(|trial| args.filters.is_empty() || args.filters.iter().any(|filter| named(filter, trial)));
    if trials.is_empty() {
        return Err(Error::usage("the filters match no fault of the reference gateway; `proof faults` lists them"));
    }
    // The trials wait most of the time.
    let found = in_threads(&trials, 2 * processors(), |trial| {
        let found = trial.flaws(&suites, &program).unwrap_or_else(|why| vec![format!("{}: {why}", trial.name())]);
        console::say(&format!("{} {}", if found.is_empty() { "ok  " } else { "FLAW" }, trial.name()));
        found
    });
    let flaws = found.concat();
    for flaw in &flaws {
        console::say(&format!("✗ {flaw}"));
    }
    let faults = trials.iter().filter(|trial| !trial.fault.name.is_empty()).count();
    console::say(&format!(
        "{} of the reference gateway, {faults} of them with a fault; {}",
        console::counted(trials.len(), "trial"),
        console::counted(flaws.len(), "flaw")
    ));
    Ok(if flaws.is_empty() { exit::CONFORMING } else { exit::FAILED })
}
