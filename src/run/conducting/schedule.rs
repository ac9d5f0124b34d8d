//! The schedule: which suite is gathered on which connection, in which order, and why. Nothing here asks the server.
//!
//! Processes of one server may share what they show, say a folder. So suites that compare lists and contents come before
//! those that change something, and suites that make the same change take turns. Connections over HTTP share a server for
//! certain, and some servers serve one alone, as do some processes that lock what they work on: there one suite follows
//! another.
//!
//! Each process costs its start: suites share one as far as they do not spoil it for each other, and all the more where a
//! start takes long.

use std::cmp::Reverse;

use indexmap::IndexMap;

use super::{
    capacity::Capacity,
    suite_effects::{calls, changes, only_reads, takes_its_time, waits},
};
use crate::{
    evidence::{RunContext, Transport},
    suite::{Client, Connection, Suite},
};

/// Suites that share a connection over HTTP, where several are gathered at once: a further one costs a request or two.
const FEW: usize = 3;
/// Processes among which suites are divided that could share one, where a further one costs less than waiting.
const PROCESSES: usize = 3;

/// A connection of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The one that the survey was gathered on.
    Survey,
    /// One that was opened beside it, or is opened when it is needed.
    Second,
}

/// Suites that are gathered one after another.
#[derive(Clone)]
pub struct Lane<'a> {
    pub suites: Vec<&'a Suite>,
    /// The connection that they share; without one, they share one of their own.
    pub on: Option<Slot>,
    /// Whether suites that want a fresh connection share it as well, one after another.
    pub even_fresh: bool,
    pub why: &'static str,
}

/// Lanes that are walked at once, or one after another.
#[derive(Clone, Default)]
pub struct Stage<'a> {
    pub lanes: Vec<Lane<'a>>,
    pub at_once: bool,
    /// Suites for clients that can do less. Each is gathered once, and only if the server asks its client for anything.
    pub of_clients: Vec<&'a Suite>,
    /// Connections that nobody needs any more.
    pub closes: Vec<Slot>,
    /// Whether suites that lost their connection are gathered again now.
    pub again: bool,
    /// A connection that is closed before that, so that nothing else is connected.
    pub frees: Option<Slot>,
}

/// What is gathered after the reading: stages in their order, and lanes that wait for the server meanwhile.
#[derive(Clone, Default)]
pub struct Schedule<'a> {
    pub meanwhile: Stage<'a>,
    pub stages: Vec<Stage<'a>>,
}

impl<'a> Lane<'a> {
    fn of(suites: Vec<&'a Suite>, on: Option<Slot>, why: &'static str) -> Self {
        Self { suites, on, even_fresh: false, why }
    }

    /// A suite for a client that can do less.
    pub fn of_client(suite: &'a Suite) -> Self {
        Self::of(vec![suite], None, "the server asks its client for something, and this one can do less")
    }

    /// A suite that lost its connection.
    pub fn again(suite: &'a Suite) -> Self {
        Self::of(vec![suite], None, "it lost its connection while others were open")
    }

    fn each(suites: Vec<&'a Suite>, why: &'static str) -> impl Iterator<Item = Self> {
        suites.into_iter().map(move |suite| Self::of(vec![suite], None, why))
    }
}

/// The suites that leave everything as it is, which are first; and the others.
pub fn reading<'a>(suites: &[&'a Suite], scene: &RunContext, capacity: Capacity) -> (Stage<'a>, Vec<&'a Suite>) {
    let at_once = capacity.second && capacity.concurrent;
    let (looking, others): (Vec<&Suite>, Vec<_>) = suites.iter().partition(|suite| {
        let is_shared = suite.connection == Connection::Shared || (at_once && only_reads(suite, scene));
        is_shared && suite.client == Client::Full
    });
    if !at_once {
        let lane = Lane::of(looking, Some(Slot::Survey), "these suites share the connection of the survey");
        return (Stage { lanes: vec![lane], ..Stage::default() }, others);
    }
    let (shared, apart): (Vec<&Suite>, Vec<_>) =
        looking.into_iter().partition(|suite| suite.connection == Connection::Shared);
    let (own, apart): (Vec<_>, Vec<_>) =
        apart.into_iter().partition(|suite| suite.connection == Connection::Own && !waits(suite, scene));
    let mut lanes: Vec<Lane> = Lane::each(apart, "it wants a connection for itself, or waits").collect();
    // What is the same in one process need not be so in another.
    let each = if scene.transport.capabilities().process { shared.len() } else { FEW };
    lanes.extend(spread(&shared, each, Slot::Survey, "these suites only read, on a connection that others share"));
    lanes.extend(spread(&own, share(&own, scene.transport), Slot::Second, "these suites only read"));
    longest_first(&mut lanes, scene.transport);
    (Stage { lanes, at_once, again: true, ..Stage::default() }, others)
}

/// Suites that spend their time waiting for tools and for notifications. The others ask for what may end a server, and of
/// a quick one it is to be known whose request that was.
pub fn waiting<'a>(suites: &[&'a Suite], scene: &RunContext) -> (Stage<'a>, Vec<&'a Suite>) {
    let (waiting, others): (Vec<&Suite>, Vec<_>) = suites.iter().partition(|suite| takes_its_time(suite, scene));
    let mut lanes = spread(&waiting, 1, Slot::Second, "it spends its time waiting");
    longest_first(&mut lanes, scene.transport);
    (Stage { lanes, at_once: true, closes: vec![Slot::Second], again: true, ..Stage::default() }, others)
}

/// The others, after all that only reads.
pub fn rest<'a>(suites: &[&'a Suite], scene: &RunContext, capacity: Capacity) -> Schedule<'a> {
    if !capacity.second {
        return one_by_one(suites, scene);
    }
    // Who waits holds nobody up, where a connection for each costs little.
    let (waiting, others): (Vec<_>, Vec<_>) =
        suites.iter().partition(|suite| capacity.connects_quickly && waits(suite, scene));
    let lanes = Lane::each(waiting, "it waits, which holds nobody up").collect();
    let meanwhile = Stage { lanes, at_once: true, again: true, ..Stage::default() };
    Schedule { meanwhile, stages: in_turns(&others, scene, capacity) }
}

fn one_by_one<'a>(suites: &[&'a Suite], scene: &RunContext) -> Schedule<'a> {
    // What may disturb a connection shares a second one, as long as that bears it: starting a server is expensive. Many
    // servers of HTTP+SSE serve one connection at a time and end with it, so there the first one has to do.
    let (on, before) = match scene.transport.capabilities().endpoint {
        true => (Slot::Survey, Stage::default()),
        false => (Slot::Second, Stage { closes: vec![Slot::Survey], ..Stage::default() }),
    };
    let own = [Connection::Own, Connection::Last, Connection::Alone];
    let own = own.map(|connection| with(suites, connection)).concat();
    let own = Lane::of(own, Some(on), "the server serves one connection at a time: these suites share one");
    let fresh = Lane::each(with(suites, Connection::Fresh), "it wants a fresh connection").collect();
    let stages = vec![
        before,
        Stage { lanes: vec![own], closes: vec![on], ..Stage::default() },
        Stage { lanes: fresh, ..Stage::default() },
        Stage { of_clients: of_clients(suites), ..Stage::default() },
    ];
    Schedule { meanwhile: Stage::default(), stages }
}

fn in_turns<'a>(suites: &[&'a Suite], scene: &RunContext, capacity: Capacity) -> Vec<Stage<'a>> {
    // The second connection is unused. Where starts are slow, it is kept for suites that need a fresh one.
    let sparing = !capacity.connects_quickly;
    let (kept, used) = if sparing { (Slot::Second, Slot::Survey) } else { (Slot::Survey, Slot::Second) };
    let (mut steady, mut turns) = (Vec::new(), IndexMap::<_, Vec<_>>::new());
    for &suite in suites {
        match changes(suite, scene).filter(|_| suite.client == Client::Full) {
            Some(fact) if suite.connection != Connection::Shared => turns.entry(fact).or_default().push(suite),
            _ => steady.push(suite),
        }
    }
    let (apart, fresh): (Vec<_>, Vec<_>) =
        with(&steady, Connection::Fresh).into_iter().partition(|suite| calls(suite, scene, "initialize"));
    let (late, mut fresh): (Vec<_>, Vec<_>) = fresh.into_iter().partition(|suite| !suite.evidence.is_empty());
    // Tools may have side effects.
    fresh.sort_by_key(|suite| calls(suite, scene, "tools/call"));
    let own = with(&steady, Connection::Own);
    let each = if sparing { own.len() } else { share(&own, scene.transport) };
    let mut lanes = spread(&own, each, used, "these suites may disturb a connection, and nothing else");
    if sparing {
        let why = "each wants a fresh connection, and a start takes long: they share one";
        lanes.push(Lane { even_fresh: true, ..Lane::of(std::mem::take(&mut fresh), Some(kept), why) });
    }
    lanes.extend(Lane::each(with(&steady, Connection::Alone), "it asks on connections of its own"));
    lanes.extend(Lane::each([apart, fresh].concat(), "it wants a fresh connection"));
    longest_first(&mut lanes, scene.transport);
    let of_clients = of_clients(suites);
    // Slow starts are better made while others are under way.
    let early = if sparing { of_clients.clone() } else { Vec::new() };
    let steady_stage = Stage { lanes, at_once: true, of_clients: early, ..Stage::default() };

    // What is compared with the lists of other connections is asked for after them.
    let late = [with(&steady, Connection::Last), late].concat();
    let why = "what these suites get is compared with what others got before";
    let late = Lane { even_fresh: sparing, ..Lane::of(late, Some(kept), why) };
    let (lanes, closes, frees) = (vec![late], vec![kept], Some(used));
    let late_stage = Stage { lanes, at_once: true, closes, again: true, frees, ..Stage::default() };

    let mut is_free = true;
    let turn = |suites: Vec<&'a Suite>| {
        let shares = is_free && suites.iter().any(|suite| suite.connection != Connection::Fresh);
        is_free &= !shares;
        Lane::of(suites, shares.then_some(used), "these suites make the same change, so they take turns")
    };
    let lanes = turns.into_values().map(turn).collect();
    let turns_stage = Stage { lanes, at_once: true, of_clients, again: true, frees, ..Stage::default() };
    let end = Stage { closes: vec![used], ..Stage::default() };
    vec![steady_stage, late_stage, turns_stage, end]
}

/// Splits suites into lanes of so many each, of which one uses the connection that is there. A suite stays after those
/// whose evidence it uses.
fn spread<'a>(suites: &[&'a Suite], each: usize, on: Slot, why: &'static str) -> Vec<Lane<'a>> {
    let mut lanes: Vec<Lane> = Vec::new();
    for &suite in suites {
        let uses = |lane: &Lane| lane.suites.iter().any(|begun| suite.evidence.contains(&begun.id));
        let last = lanes.len().checked_sub(1).filter(|&last| lanes[last].suites.len() < each);
        match lanes.iter().position(uses).or(last) {
            Some(lane) => lanes[lane].suites.push(suite),
            None => lanes.push(Lane::of(vec![suite], lanes.is_empty().then_some(on), why)),
        }
    }
    lanes
}

/// How many suites are to share a connection of those that are gathered at once.
fn share(suites: &[&Suite], transport: Transport) -> usize {
    if transport.capabilities().stream_per_request { FEW } else { suites.len().div_ceil(PROCESSES) }
}

/// Over HTTP few lanes are walked at a time, so those that take longest begin.
fn longest_first(lanes: &mut [Lane], transport: Transport) {
    if transport.capabilities().stream_per_request {
        lanes.sort_by_key(|lane| Reverse(lane.suites.iter().map(|suite| suite.gather.len()).sum::<usize>()));
    }
}

/// The suites of the full client on such a connection.
fn with<'a>(suites: &[&'a Suite], connection: Connection) -> Vec<&'a Suite> {
    let fits = |suite: &&&Suite| suite.connection == connection && suite.client == Client::Full;
    suites.iter().filter(fits).copied().collect()
}

fn of_clients<'a>(suites: &[&'a Suite]) -> Vec<&'a Suite> {
    suites.iter().copied().filter(|suite| suite.client != Client::Full).collect()
}
