//! The schedule: which suite runs on which connection, in which order, and why. It is a pure function of the suites, of
//! their effects on the server, and of the capacity of the server.

use indexmap::IndexMap;

use super::{
    capacity::Capacity,
    suite_effects::{Effect, effect, waits},
};
use crate::{evidence::RunContext, suite::Suite};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The connection that the survey was gathered on.
    Survey,
    /// Another connection that stays open.
    Second,
    /// A new connection for these suites only.
    New,
}

/// Suites that run sequentially on one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane<S> {
    pub suites: Vec<S>,
    pub on: Slot,
    pub why: &'static str,
}

/// Lanes, of which `at_once` run concurrently. The next stage begins when all of them are finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage<S> {
    pub lanes: Vec<Lane<S>>,
    pub at_once: usize,
}

pub fn schedule<'a>(suites: &[&'a Suite], context: &RunContext, capacity: Capacity) -> Vec<Stage<&'a Suite>> {
    let (waiting, others): (Vec<&Suite>, Vec<_>) =
        suites.iter().partition(|suite| capacity.starts_quickly() && waits(suite, context));
    let of = |wanted| others.iter().copied().filter(|suite| effect(suite, context) == wanted).collect::<Vec<_>>();
    let mut changes = IndexMap::<_, Vec<_>>::new();
    for &suite in &others {
        if let Effect::Changes(fact) = effect(suite, context) {
            changes.entry(fact).or_default().push(suite);
        }
    }

    let reads = of(Effect::Reads);
    // One process can behave differently from another, so these suites share one.
    let share = if capacity.process { reads.len() } else { capacity.share(reads.len()) };
    let reading = lanes(reads, share, Slot::Survey, "these suites only read");
    let waiting = lanes(waiting, 1, Slot::New, "it spends its time waiting");
    let disturbing = of(Effect::Disturbs);
    let share = capacity.share(disturbing.len());
    let unused = of(Effect::NeedsUnused);
    let (few, why) = match capacity.starts_quickly() {
        true => (1, "it needs an unused connection"),
        false => (unused.len(), "they need an unused connection, and share one as a start takes long"),
    };
    let mut asking = lanes(disturbing, share, Slot::Survey, "these suites may disturb their connection");
    asking.extend(lanes(unused, few, if few == 1 { Slot::New } else { Slot::Second }, why));
    asking.extend(lanes(of(Effect::Handshakes), 1, Slot::New, "it makes handshakes of its own"));
    let mut late = of(Effect::ComesLate);
    late.sort_by_key(|suite| !suite.requires.is_empty());
    let few = late.len();
    let late = lanes(late, few, Slot::Second, "they are compared with what others received, or may end the server");
    let why = "these suites make the same change, so they take turns";
    let mut changing: Vec<_> = changes.into_values().map(|suites| Lane { suites, on: Slot::New, why }).collect();
    changing.iter_mut().take(1).for_each(|lane| lane.on = Slot::Survey);
    let answering =
        lanes(of(Effect::NeedsClientRequests), 1, Slot::New, "if the server has sent requests to its client");

    // Concurrent waits cost no extra time. Without concurrency, waiting comes before suites that may kill a shared
    // server.
    let waiting = if capacity.at_once > 1 {
        changing.extend(waiting);
        Vec::new()
    } else {
        waiting
    };
    let stage = |lanes, at_once| Stage { lanes, at_once };
    let stages = [
        stage(reading, capacity.at_once),
        stage(waiting, capacity.connections),
        stage(asking, capacity.at_once),
        stage(late, 1),
        stage(changing, capacity.at_once),
        stage(answering, capacity.at_once),
    ];
    stages.into_iter().filter(|stage| !stage.lanes.is_empty()).collect()
}

/// Divides suites into lanes of `each`; the first lane uses this connection. A suite comes after those that it
/// requires, on the same connection.
fn lanes<'a>(suites: Vec<&'a Suite>, each: usize, first: Slot, why: &'static str) -> Vec<Lane<&'a Suite>> {
    let mut lanes: Vec<Lane<&Suite>> = Vec::new();
    for suite in suites {
        let is_required = |other: &&Suite| other.connection == suite.connection && suite.requires.contains(&other.id);
        let requires = |lane: &Lane<&Suite>| suite.capabilities.is_none() && lane.suites.iter().any(is_required);
        let last = lanes.len().checked_sub(1).filter(|&last| lanes[last].suites.len() < each);
        if let Some(lane) = lanes.iter().position(requires).or(last) {
            lanes[lane].suites.push(suite);
        } else {
            let on = if lanes.is_empty() { first } else { Slot::New };
            lanes.push(Lane { suites: vec![suite], on, why });
        }
    }
    lanes
}

/// The schedule in words, for `run --plan`.
pub fn in_words(stages: &[Stage<&Suite>]) -> String {
    let lane = |lane: &Lane<&Suite>| {
        let on = match lane.on {
            Slot::Survey => "connection of the survey",
            Slot::Second => "second connection",
            Slot::New => "new connection",
        };
        let names: Vec<&str> = lane.suites.iter().map(|suite| suite.id.as_str()).collect();
        format!("  {on}: {}\n    {}\n", names.join(", "), lane.why)
    };
    let stage = |(number, stage): (usize, &Stage<&Suite>)| {
        let how = match stage.at_once.min(stage.lanes.len()) {
            1 => "one lane after another".to_owned(),
            many => format!("{many} lanes at once"),
        };
        format!("\nstage {}, {how}\n{}", number + 1, stage.lanes.iter().map(lane).collect::<String>())
    };
    stages.iter().enumerate().map(stage).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::{
        evidence::Transport,
        revision::Revision,
        run::inputs::suites::known,
        suite::{Origin, load},
    };

    const SUITES: [(&str, &str, &str); 11] = [
        ("reads", "", "list: tools/list"),
        ("reads.more", "", "list: prompts/list"),
        ("disturbs", "connection: isolated", "call: ping"),
        ("disturbs.more", "connection: isolated", "call: ping"),
        ("waits", "connection: isolated", "pause: 0.1"),
        ("unused", "connection: new", "call: ping"),
        ("unused.more", "connection: new", "call: ping"),
        ("handshakes", "connection: per-call", "call: ping\n    connection: new"),
        ("late", "connection: new\nrequires: [reads]", "list: tools/list"),
        ("changes", "connection: isolated", "change: $facts.change"),
        ("limits", "capabilities: none", "call: ping"),
    ];

    /// The stages with their lanes: the connection and the suites.
    fn scheduled(process: bool, start: u64, connections: usize, at_once: usize) -> Vec<(usize, Vec<String>)> {
        let text = |(id, head, step): &(&str, &str, &str)| {
            (format!("{id}.yaml"), format!("suite: {id}\nabout: It is a test.\n{head}\ngather:\n  - {step}\n"))
        };
        let suites =
            load(&SUITES.each_ref().map(text), &known(), Origin::User).unwrap_or_else(|found| panic!("{found:?}"));
        let suites: Vec<&Suite> = suites.iter().collect();
        let transport = if process { Transport::Stdio } else { Transport::Http };
        let context = json!({ "revision": Revision::NEWEST_LEGACY, "transport": transport, "server": {}, "client": {}, "facts": {} });
        let context: RunContext = serde_json::from_value(context).unwrap();
        let capacity = Capacity { start: Duration::from_millis(start), process, connections, at_once };
        let lane = |lane: &Lane<&Suite>| {
            let ids: Vec<&str> = lane.suites.iter().map(|suite| suite.id.as_str()).collect();
            format!("{:?}: {}", lane.on, ids.join(" "))
        };
        let stages = schedule(&suites, &context, capacity);
        stages.iter().map(|stage| (stage.at_once, stage.lanes.iter().map(lane).collect())).collect()
    }

    fn of<const N: usize>(at_once: usize, lanes: [&str; N]) -> (usize, Vec<String>) {
        (at_once, lanes.map(str::to_owned).to_vec())
    }

    #[test]
    fn quick_processes_are_many_and_waits_overlap() {
        let asking = ["Survey: disturbs", "New: disturbs.more", "New: unused", "New: unused.more", "New: handshakes"];
        let stages = [
            of(16, ["Survey: reads reads.more"]),
            of(16, asking),
            of(1, ["Second: late"]),
            of(16, ["Survey: changes", "New: waits"]),
            of(16, ["New: limits"]),
        ];
        assert_eq!(scheduled(true, 10, 16, 16), stages);
    }

    #[test]
    fn slow_processes_are_shared() {
        let asking = ["Survey: disturbs disturbs.more waits", "Second: unused unused.more", "New: handshakes"];
        let stages = [
            of(4, ["Survey: reads reads.more"]),
            of(4, asking),
            of(1, ["Second: late"]),
            of(4, ["Survey: changes"]),
            of(4, ["New: limits"]),
        ];
        assert_eq!(scheduled(true, 700, 4, 4), stages);
    }

    #[test]
    fn only_waits_overlap_where_responses_are_quick() {
        let asking = ["Survey: disturbs disturbs.more", "New: unused", "New: unused.more", "New: handshakes"];
        let stages = [
            of(1, ["Survey: reads reads.more"]),
            of(6, ["New: waits"]),
            of(1, asking),
            of(1, ["Second: late"]),
            of(1, ["Survey: changes"]),
            of(1, ["New: limits"]),
        ];
        assert_eq!(scheduled(false, 700, 6, 1), stages);
    }
}
