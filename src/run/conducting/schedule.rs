//! The schedule: which suite runs on which connection, in which order, and why. It is a pure function of the suites, of
//! their effects on the server, and of the capacity of the server.

use indexmap::IndexMap;

use super::{
    capacity::Capacity,
    suite_effects::{Effect, effect, waits},
};
use crate::{
    evidence::RunContext,
    gather::{pause_before_change, runs_slow_tool},
    suite::Suite,
};

/// A server may need all of so few connections for requests.
const FEW: usize = 2;

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
    /// Lanes with the same turn use the server one after another, except while a suite waits for the clock.
    pub turn: Option<String>,
}

/// Lanes, of which `at_once` run concurrently. The next stage begins when all of them are finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage<S> {
    pub lanes: Vec<Lane<S>>,
    pub at_once: usize,
    /// Whether the lanes send requests concurrently.
    pub crowded: bool,
}

/// Stages, and lanes that run concurrently with all of them. The next phase begins when everything is finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase<S> {
    pub stages: Vec<Stage<S>>,
    pub meanwhile: Vec<Lane<S>>,
}

impl<S> Phase<S> {
    /// Whether it has lanes that could run concurrently.
    pub fn is_concurrent(&self) -> bool {
        !self.meanwhile.is_empty() || self.stages.iter().any(|stage| stage.lanes.len() > 1)
    }
}

pub fn schedule<'a>(suites: &[&'a Suite], context: &RunContext, capacity: Capacity) -> Vec<Phase<&'a Suite>> {
    let (declaring, suites): (Vec<&Suite>, Vec<&Suite>) = suites.iter().partition(|suite| declares(suite, context));
    let (mut waiting, others): (Vec<&Suite>, Vec<_>) =
        suites.iter().partition(|suite| capacity.starts_quickly() && waits(suite, context));
    // Those that take longest start first.
    waiting.sort_by_key(|suite| !runs_slow_tool(suite, context));
    let of = |wanted| others.iter().copied().filter(|suite| effect(suite, context) == wanted).collect::<Vec<_>>();

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
    let why = "in its handshake the client declares their extension";
    asking.extend(by_extension(declaring).into_iter().map(|suites| Lane { suites, on: Slot::New, why, turn: None }));
    asking.extend(lanes(of(Effect::Handshakes), 1, Slot::New, "it makes handshakes of its own"));
    let mut late = of(Effect::ComesLate);
    late.sort_by_key(|suite| !suite.requires.is_empty());
    let few = late.len();
    let late = lanes(late, few, Slot::Second, "they are compared with what others received, or may end the server");
    let (mut changing, changing_at_once) = changes(&others, context, capacity);
    let observing = lanes(of(Effect::Observes), 1, Slot::New, "it only waits for what the server sends on its own");
    let mut answering =
        lanes(of(Effect::NeedsClientRequests), 1, Slot::New, "if the server has sent requests to its client");

    // Concurrent waits cost no extra time. They overlap all other stages where a suite can only kill its own process.
    // Without concurrency, waiting comes before suites that may kill a shared server.
    let mut meanwhile = Vec::new();
    let waiting = match capacity.at_once {
        1 => waiting,
        _ if capacity.process => {
            meanwhile.extend(waiting);
            Vec::new()
        }
        _ => {
            changing.extend(waiting);
            Vec::new()
        }
    };
    // Another connection costs little, so it is open before it is known whether it is of use.
    let observes_early = capacity.connections > FEW && capacity.starts_quickly();
    if observes_early { &mut meanwhile } else { &mut answering }.extend(observing);
    let stage = |lanes, at_once| Stage { lanes, at_once, crowded: at_once > 1 };
    let phase = |stages: Vec<Stage<_>>, meanwhile| Phase {
        stages: stages.into_iter().filter(|stage| !stage.lanes.is_empty()).collect(),
        meanwhile,
    };
    let stages = vec![
        stage(waiting, capacity.connections),
        stage(asking, capacity.at_once),
        stage(late, 1),
        Stage { lanes: changing, at_once: changing_at_once, crowded: capacity.at_once > 1 },
    ];
    let phases = [
        phase(vec![stage(reading, capacity.at_once)], Vec::new()),
        phase(stages, meanwhile),
        phase(vec![stage(answering, capacity.at_once)], Vec::new()),
    ];
    phases.into_iter().filter(|phase| !phase.stages.is_empty() || !phase.meanwhile.is_empty()).collect()
}

/// Whether its connection has to be that of a client with its extension. Later revisions declare it in each request.
fn declares(suite: &Suite, context: &RunContext) -> bool {
    suite.applies.extension.is_some() && !context.revision.is_modern()
}

fn by_extension(suites: Vec<&Suite>) -> Vec<Vec<&Suite>> {
    let mut lanes = IndexMap::<_, Vec<_>>::new();
    for suite in suites {
        lanes.entry(&suite.applies.extension).or_default().push(suite);
    }
    lanes.into_values().collect()
}

/// The lanes of suites that make changes, and how many of them are open at once.
fn changes<'a>(suites: &[&'a Suite], context: &RunContext, capacity: Capacity) -> (Vec<Lane<&'a Suite>>, usize) {
    let mut shared = IndexMap::<_, Vec<_>>::new();
    let mut paused = Vec::new();
    let may_overlap = capacity.connections > FEW && capacity.starts_quickly();
    for &suite in suites {
        match effect(suite, context) {
            Effect::Changes(fact) if may_overlap && pause_before_change(suite, context).is_some() => {
                paused.push((fact, suite));
            }
            Effect::Changes(fact) => shared.entry(fact).or_default().push(suite),
            _ => {}
        }
    }
    let at_once = if paused.is_empty() { capacity.at_once } else { capacity.connections };
    // Without concurrency, all changes take turns.
    let turn = |fact: &str| Some(if capacity.at_once > 1 { fact } else { "any" }.to_owned()).filter(|_| at_once > 1);
    let waits = paused.into_iter().map(|(fact, suite)| {
        let why = "it waits for the clock before its change, and others make theirs meanwhile";
        Lane { suites: vec![suite], on: Slot::New, why, turn: turn(fact) }
    });
    let why = "these suites make the same change, so they take turns";
    let others = shared.into_iter().map(|(fact, suites)| Lane { suites, on: Slot::New, why, turn: turn(fact) });
    let mut lanes: Vec<_> = waits.chain(others).collect();
    lanes.iter_mut().take(1).for_each(|lane| lane.on = Slot::Survey);
    (lanes, at_once)
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
            lanes.push(Lane { suites: vec![suite], on, why, turn: None });
        }
    }
    lanes
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

    /// In the place of a number of lanes.
    const MEANWHILE: usize = usize::MAX;

    const SUITES: [(&str, &str, &str); 14] = [
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
        ("changes.clock", "connection: isolated", "list: tools/list\n  - pause: 1\n  - change: $facts.change"),
        ("changes.seen", "connection: isolated", "call: resources/subscribe\n  - pause: 1\n  - change: $facts.change"),
        ("limits", "capabilities: none", "call: ping"),
        ("observes", "capabilities: full", "pause: 1"),
    ];

    type Told = Vec<(usize, Vec<String>)>;

    /// The stages with their lanes, the connection and the suites; after the stages of a phase, what runs meanwhile.
    fn scheduled(process: bool, start: u64, connections: usize, at_once: usize) -> Told {
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
        let mut told = Vec::new();
        for Phase { stages, meanwhile } in schedule(&suites, &context, capacity) {
            told.extend(stages.iter().map(|stage| (stage.at_once, stage.lanes.iter().map(lane).collect())));
            told.extend(Some((MEANWHILE, meanwhile.iter().map(lane).collect())).filter(|_| !meanwhile.is_empty()));
        }
        told
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
            of(16, ["Survey: changes.clock", "New: changes changes.seen"]),
            of(MEANWHILE, ["New: waits", "New: observes"]),
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
            of(4, ["Survey: changes changes.clock changes.seen"]),
            of(4, ["New: limits", "New: observes"]),
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
            of(6, ["Survey: changes.clock", "New: changes changes.seen"]),
            of(MEANWHILE, ["New: observes"]),
            of(1, ["New: limits"]),
        ];
        assert_eq!(scheduled(false, 700, 6, 1), stages);
    }

    #[test]
    fn suites_about_an_extension_have_a_connection_that_declares_it_in_its_handshake() {
        let text = |id: &str, head: &str| {
            let steps = "gather:\n  - list: tools/list\n    take: tools\n";
            (format!("{id}.yaml"), format!("suite: {id}\nabout: It is a test.\n{head}\n{steps}"))
        };
        let files = [
            text("reads", ""),
            text("one", "applies: { extension: com.example/a }"),
            text("two", "applies: { extension: com.example/b }"),
            text("more", "applies: { extension: com.example/a }"),
        ];
        let suites = load(&files, &known(), Origin::User).unwrap_or_else(|found| panic!("{found:?}"));
        let suites: Vec<&Suite> = suites.iter().collect();
        let capacity = Capacity { start: Duration::from_millis(10), process: true, connections: 16, at_once: 16 };
        let lanes = |revision: Revision| -> Vec<String> {
            let context =
                json!({ "revision": revision, "transport": "stdio", "server": {}, "client": {}, "facts": {} });
            let context: RunContext = serde_json::from_value(context).unwrap();
            let stages = schedule(&suites, &context, capacity).into_iter().flat_map(|phase| phase.stages);
            let lane = |lane: Lane<&Suite>| {
                let ids: Vec<&str> = lane.suites.iter().map(|suite| suite.id.as_str()).collect();
                format!("{:?}: {}", lane.on, ids.join(" "))
            };
            stages.flat_map(|stage| stage.lanes).map(lane).collect()
        };
        assert_eq!(lanes(Revision::NEWEST_LEGACY), ["Survey: reads", "New: one more", "New: two"]);
        assert_eq!(lanes(Revision::NEWEST), ["Survey: reads one two more"]);
    }

    #[test]
    fn nothing_runs_beside_requests_where_there_are_few_connections() {
        let told = scheduled(false, 700, 2, 1);
        assert_eq!(told.last(), Some(&of(1, ["New: limits", "New: observes"])));
        assert!(told.contains(&of(1, ["Survey: changes changes.clock changes.seen"])), "{told:?}");
    }
}
