//! Adds to each finding about a client or gateway what it was started with: the messages alone do not show it.

use std::collections::{HashMap, HashSet};

use conform_model::{
    evidence::Evidence,
    outcome::{RuleResult, World},
};
use conform_suite::Suite;

pub fn name_worlds(rules: &mut [RuleResult], evidence: &Evidence, suites: &[Suite]) {
    let worlds: Vec<&World> = evidence.contexts.iter().filter_map(|context| context.world.as_ref()).collect();
    if worlds.is_empty() {
        return;
    }
    let findings = || rules.iter().flat_map(|rule| &rule.findings);
    let wanted: HashSet<u64> = findings().flat_map(|finding| finding.frames.iter().copied()).collect();
    let of_links: HashMap<u32, &str> =
        evidence.links.iter().filter_map(|link| Some((link.link, link.scenario.as_deref()?))).collect();
    let links = evidence.links_of(|frame| wanted.contains(frame));
    let scenarios: HashMap<u64, &str> =
        links.into_iter().filter_map(|(frame, link)| Some((frame, *of_links.get(&link)?))).collect();
    for rule in rules {
        let own = suites.iter().find(|suite| suite.id == rule.suite).and_then(|suite| suite.scenario.as_ref());
        // Several suites may have one scenario, which has the id of the first one.
        let own = own.and_then(|own| {
            let same = |suite: &&Suite| suite.scenario.as_ref() == Some(own);
            suites.iter().find(same).map(|suite| suite.id.as_str())
        });
        for finding in &mut rule.findings {
            let met = || finding.frames.iter().rev().find_map(|frame| scenarios.get(frame).copied());
            let scenario = own.or_else(met);
            finding.world = worlds.iter().find(|world| Some(world.scenario.as_str()) == scenario).map(|w| (*w).clone());
        }
    }
}
