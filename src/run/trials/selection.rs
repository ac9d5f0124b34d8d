//! Which trials there are.

use super::trial::Trial;
use crate::{evidence::Transport, reference, reference::server::FaultInfo, revision::Revision};

/// Every fault in every revision and over every transport where it can show, and the faultless server in all of them.
pub fn trials(revisions: &[Revision], transports: &[Transport]) -> Vec<Trial> {
    let faultless = |proposal: Option<&str>| FaultInfo {
        name: String::new(),
        about: String::new(),
        since: None,
        until: None,
        transports: Transport::ALL.to_vec(),
        proposal: proposal.map(str::to_owned),
        extension: None,
        protected: false,
        authority: false,
        also: Vec::new(),
        stops: None,
        suites: &[],
        hosts: Vec::new(),
        without_facts: false,
    };
    let protected = FaultInfo { protected: true, transports: vec![Transport::Http], ..faultless(None) };
    let extended =
        reference::server::EXTENSIONS.map(|name| FaultInfo { extension: Some(name.to_owned()), ..faultless(None) });
    let mut trials = Vec::new();
    let healthy = [None].into_iter().chain(reference::server::PROPOSALS.map(Some)).map(faultless);
    let authority = FaultInfo { authority: true, since: Some(Revision::V2025_03_26), ..protected.clone() };
    let healthy = healthy.chain(extended).chain([protected, authority]);
    // Faults that only generated calls show are proved by `generate`.
    let run = reference::server::faults().into_iter().filter(|fault| fault.suites != reference::server::GENERATED);
    for fault in healthy.chain(run) {
        let first = trials.len();
        for &revision in revisions {
            if !shows_in(&fault, revision) {
                continue;
            }
            for &transport in transports {
                if transport.is_defined_in(revision) && fault.transports.contains(&transport) {
                    trials.push(Trial { all_suites: fault.name.is_empty(), ..trial(&fault, revision, transport) });
                }
            }
        }
        let shown = &mut trials[first..];
        let newest = shown.iter().map(|trial| trial.revision).max();
        if let Some(widest) = shown.iter_mut().find(|trial| Some(trial.revision) == newest) {
            widest.all_suites = true;
        }
    }
    trials
}

/// Every fault in the oldest revision where it shows, over the first transport, and in the newest, over the last; with the
/// suites of the rules that name it.
pub fn few_trials() -> Vec<Trial> {
    let all = trials(&Revision::ALL, &Transport::ALL);
    let few = all.chunk_by(|a, b| a.fault == b.fault).flat_map(|trials| {
        let revisions = || trials.iter().map(|trial| trial.revision);
        let (oldest, newest) = (revisions().min(), revisions().max());
        let first = trials.iter().position(|trial| Some(trial.revision) == oldest);
        let last = trials.iter().rposition(|trial| Some(trial.revision) == newest);
        let chosen = trials
            .iter()
            .enumerate()
            .filter(move |(at, trial)| trial.fault.is_none() || [first, last].contains(&Some(*at)));
        chosen.map(|(_, trial)| Trial { all_suites: trial.fault.is_none(), ..trial.clone() })
    });
    few.collect()
}

/// Every variation with all suites: over stdio if it shows there, otherwise over HTTP. Limits are not shortened: no
/// variation delays a response, so a shorter limit would only expire when the machine is busy.
pub fn variation_trials(revisions: &[Revision]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for variation in reference::server::variations() {
        for revision in revisions.iter().copied().filter(|revision| shows_in(&variation, *revision)) {
            let shows =
                |transport: &Transport| transport.is_defined_in(revision) && variation.transports.contains(transport);
            if let Some(transport) = Transport::ALL.into_iter().find(shows) {
                trials.push(Trial { variation: true, all_suites: true, ..trial(&variation, revision, transport) });
            }
        }
    }
    trials
}

fn shows_in(fault: &FaultInfo, revision: Revision) -> bool {
    fault.since.is_none_or(|since| revision >= since) && fault.until.is_none_or(|until| revision <= until)
}

fn trial(fault: &FaultInfo, revision: Revision, transport: Transport) -> Trial {
    let name = Some(fault.name.clone()).filter(|name| !name.is_empty());
    Trial {
        stops: fault.stops,
        only: fault.suites.iter().map(ToString::to_string).collect(),
        hosts: fault.hosts.clone(),
        proposal: fault.proposal.clone(),
        extension: fault.extension.clone(),
        protected: fault.protected,
        authority: fault.authority,
        all_suites: false,
        also: fault.also.clone(),
        ..Trial::new(name, revision, transport)
    }
}
