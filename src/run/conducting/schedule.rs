//! Which suites are gathered side by side, and which have to take turns.
//!
//! Processes of one server may share what they show, say a folder. So suites that compare lists and contents come before
//! those that change something, and suites that make the same change take turns. Sessions over HTTP share a server for certain, and some
//! servers bear one alone, as do some processes that lock what they work on: there one lane follows another.
//!
//! Each process costs its start: suites share one as far as they do not spoil it for each other, and all the more where a
//! start takes long.

use std::cmp::Reverse;

use futures_util::future::join;
use indexmap::IndexMap;

use super::{
    clients,
    executor::{Lane, Lanes},
    gathered::Gathered,
    suite_effects::{asks, calls, changes, only_looks, takes_its_time, takes_two, waits},
};
use crate::{
    evidence::{RunContext, Transport},
    session::Conversation,
    suite::{Client, Connection, Suite},
};

/// Suites that share a connection over HTTP, where several are gathered at once: a further one costs a request or two.
const FEW: usize = 3;
/// Processes among which suites are divided that could share one, where a further one costs less than waiting.
const PROCESSES: usize = 3;

/// Gathers for the suites; `first` is the connection of the survey. What was gathered comes in the order of the suites.
pub async fn rounds<'a>(
    lanes: &Lanes<'a>,
    suites: &[&'a Suite],
    scene: &RunContext,
    mut first: Option<Conversation>,
) -> Vec<Gathered<'a>> {
    let takes_two = suites.iter().any(|suite| takes_two(suite, scene));
    let (mut gains, mut second) = (false, None);
    if let Some(first) = &first {
        gains = gains_by_company(lanes, scene.transport, takes_two, first).await;
        if gains && (!scene.transport.capabilities().stream_per_request || lanes.bears_a_crowd(scene.revision).await) {
            second = lanes.beside(first, scene.revision).await;
        }
    }
    let (looking, mut others): (Vec<_>, Vec<_>) = suites.iter().partition(|suite| {
        let is_shared = suite.connection == Connection::Shared || (second.is_some() && only_looks(suite, scene));
        is_shared && suite.client == Client::Full
    });
    let mut all = match second {
        Some(_) => at_once(lanes, &looking, scene, &mut first, &mut second).await,
        None => lanes.one_by_one(vec![Lane::of(looking, Some(&mut first))], scene).await,
    };
    let mut probed = None;
    if let (true, true, Some(first), None) = (scene.transport.capabilities().process, takes_two, &first, &second)
        && !lanes.opener.is_single()
    {
        if let Some(suite) = probing(lanes, &others, scene) {
            probed = lanes.probe(first, suite, scene).await;
        }
        if probed.is_none() {
            second = lanes.beside(first, scene.revision).await;
        }
    }
    if scene.transport.capabilities().stream_per_request && !gains && lanes.may_crowd() {
        all.extend(waits_together(lanes, &mut others, scene, first.as_ref()).await);
    }
    others.retain(|suite| probed.as_ref().is_none_or(|probed| probed.suite.id != suite.id));
    all.extend(match (second, &probed) {
        (None, None) => one_by_one(lanes, &others, scene, first).await,
        (second, _) => side_by_side(lanes, &others, scene, first, second).await,
    });
    all.extend(probed);
    all.sort_by_key(|gathered| suites.iter().position(|suite| suite.id == gathered.suite.id));
    all
}

/// A suite of which the process shows whether the server bears one beside the first, where a second conversation would be
/// of no other use.
fn probing<'a>(lanes: &Lanes<'a>, suites: &[&'a Suite], scene: &RunContext) -> Option<&'a Suite> {
    let mut asking = suites.iter().copied().filter(|suite| asks(suite, scene));
    let wants_it = |suite: &Suite| matches!(suite.connection, Connection::Fresh | Connection::Last);
    let is_of_use = lanes.connects_quickly() || asking.clone().any(wants_it);
    asking.find(|suite| !is_of_use && suite.connection == Connection::Alone)
}

/// Whether several suites at once are through sooner, and not only at the cost of others.
async fn gains_by_company(lanes: &Lanes<'_>, transport: Transport, takes_two: bool, first: &Conversation) -> bool {
    let able = transport.capabilities();
    (able.process && takes_two && lanes.connects_quickly())
        || (able.stream_per_request && lanes.gains_by_company(first).await)
}

/// Gathers for suites that are in nobody's way.
async fn at_once<'a>(
    lanes: &Lanes<'a>,
    suites: &[&'a Suite],
    scene: &RunContext,
    first: &mut Option<Conversation>,
    second: &mut Option<Conversation>,
) -> Vec<Gathered<'a>> {
    let (shared, others): (Vec<&Suite>, Vec<_>) =
        suites.iter().partition(|suite| suite.connection == Connection::Shared);
    let (own, apart): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|suite| suite.connection == Connection::Own && !waits(suite, scene));
    let mut round: Vec<Lane> = apart.into_iter().map(Lane::apart).collect();
    // What is the same in one process need not be so in another.
    let each = if scene.transport.capabilities().process { shared.len() } else { FEW };
    round.extend(spread(&shared, each, first));
    round.extend(spread(&own, share(&own, scene.transport), second));
    longest_first(&mut round, scene.transport);
    let (mut all, left) = lanes.side_by_side(round, scene).await;
    all.extend(alone(lanes, left, scene, &mut None).await);
    all
}

/// Gathers at once for those suites that spend their time waiting for tools and for silence. The others ask for what may
/// end a server, and of a quick one it is to be known whose request that was.
async fn waits_together<'a>(
    lanes: &Lanes<'a>,
    suites: &mut Vec<&'a Suite>,
    scene: &RunContext,
    first: Option<&Conversation>,
) -> Vec<Gathered<'a>> {
    let (waiting, others): (Vec<&Suite>, Vec<_>) = suites.iter().partition(|suite| takes_its_time(suite, scene));
    let Some(first) = first.filter(|_| waiting.len() > 1) else { return Vec::new() };
    let mut second = lanes.beside(first, scene.revision).await;
    if second.is_none() || !lanes.bears_a_crowd(scene.revision).await {
        lanes.close(second, false).await;
        return Vec::new();
    }
    *suites = others;
    let mut round = spread(&waiting, 1, &mut second);
    longest_first(&mut round, scene.transport);
    let (mut all, left) = lanes.side_by_side(round, scene).await;
    lanes.close(second, false).await;
    all.extend(alone(lanes, left, scene, &mut None).await);
    all
}

async fn one_by_one<'a>(
    lanes: &Lanes<'a>,
    suites: &[&'a Suite],
    scene: &RunContext,
    first: Option<Conversation>,
) -> Vec<Gathered<'a>> {
    // What may disturb a connection shares a second one, as long as that bears it: starting a server is dear. Many
    // servers of HTTP+SSE bear one connection at a time and end with it, so there the first one has to do.
    let mut second = None;
    if scene.transport.capabilities().endpoint {
        second = first;
    } else {
        lanes.close(first, true).await;
    }
    let own =
        [Connection::Own, Connection::Last, Connection::Alone].map(|connection| with(suites, connection)).concat();
    let mut all = lanes.one_by_one(vec![Lane::of(own, Some(&mut second))], scene).await;
    lanes.close(second, false).await;
    let fresh = with(suites, Connection::Fresh).into_iter().map(Lane::apart).collect();
    all.extend(lanes.one_by_one(fresh, scene).await);
    let others = of_clients(&clients::others(&lanes.opener.recorder), suites);
    all.extend(lanes.one_by_one(others, scene).await);
    all
}

async fn side_by_side<'a>(
    lanes: &Lanes<'a>,
    suites: &[&'a Suite],
    scene: &RunContext,
    first: Option<Conversation>,
    second: Option<Conversation>,
) -> Vec<Gathered<'a>> {
    // Who waits holds nobody up, where a connection for each costs little.
    let (waiting, others): (Vec<_>, Vec<_>) =
        suites.iter().partition(|suite| lanes.connects_quickly() && waits(suite, scene));
    let waiting = lanes.side_by_side(waiting.into_iter().map(Lane::apart).collect(), scene);
    let ((mut all, left), others) =
        join(Box::pin(waiting), Box::pin(in_turns(lanes, &others, scene, first, second))).await;
    all.extend(others);
    all.extend(alone(lanes, left, scene, &mut None).await);
    all
}

async fn in_turns<'a>(
    lanes: &Lanes<'a>,
    suites: &[&'a Suite],
    scene: &RunContext,
    mut first: Option<Conversation>,
    mut second: Option<Conversation>,
) -> Vec<Gathered<'a>> {
    // The second connection is unused. Where starts are slow, it is kept for suites that need a fresh one.
    let sparing = !lanes.connects_quickly();
    if sparing {
        std::mem::swap(&mut first, &mut second);
    }
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
    // Tools may leave something behind.
    fresh.sort_by_key(|suite| calls(suite, scene, "tools/call"));
    let own = with(&steady, Connection::Own);
    let each = if sparing { own.len() } else { share(&own, scene.transport) };
    let mut round = spread(&own, each, &mut second);
    if sparing {
        round.push(Lane { even_fresh: true, ..Lane::of(std::mem::take(&mut fresh), Some(&mut first)) });
    }
    let apart = [with(&steady, Connection::Alone), apart, fresh].concat();
    round.extend(apart.into_iter().map(Lane::apart));
    longest_first(&mut round, scene.transport);
    // A slow start is better had while others are under way.
    let early = if sparing { clients::others(&lanes.opener.recorder) } else { Vec::new() };
    round.extend(of_clients(&early, suites));
    let (mut all, mut left) = lanes.side_by_side(round, scene).await;
    // What is compared with the lists of other connections is asked for behind them.
    let late = [with(&steady, Connection::Last), late].concat();
    let late = Lane { even_fresh: sparing, ..Lane::of(late, Some(&mut first)) };
    let (gathered, more) = lanes.side_by_side(vec![late], scene).await;
    all.extend(gathered);
    left.extend(more);
    let is_single = first.is_none();
    lanes.close(first, true).await;
    all.extend(alone(lanes, left, scene, &mut second).await);

    let mut spare = Some(&mut second);
    let turn = |suites: Vec<&'a Suite>| {
        let shares = suites.iter().any(|suite| suite.connection != Connection::Fresh);
        Lane::of(suites, spare.take_if(|_| shares))
    };
    let mut round: Vec<Lane> = turns.into_values().map(turn).collect();
    let mut late = clients::others(&lanes.opener.recorder);
    late.retain(|client| !early.contains(client));
    round.extend(of_clients(&late, suites));
    let (gathered, left) = lanes.side_by_side(round, scene).await;
    all.extend(gathered);
    all.extend(alone(lanes, left, scene, &mut second).await);
    lanes.close(second, is_single).await;
    all
}

/// Once more for suites that found no connection, or lost it, now that nothing else is connected. Where the server did not
/// come back, it is told how it was lost, and nothing else is judged: several suites lost it, and one request can have ended it.
async fn alone<'a>(
    lanes: &Lanes<'a>,
    before: Vec<Gathered<'a>>,
    scene: &RunContext,
    second: &mut Option<Conversation>,
) -> Vec<Gathered<'a>> {
    if !before.is_empty() {
        lanes.close(second.take(), false).await;
        lanes.closed().await;
    }
    let again = lanes.one_by_one(before.iter().map(|gathered| Lane::apart(gathered.suite)).collect(), scene).await;
    let counts = |(before, again): (Gathered<'a>, Gathered<'a>)| {
        if again.unasked && !before.unasked { before.lost_for_good() } else { again }
    };
    before.into_iter().zip(again).map(counts).collect()
}

/// Splits suites into lanes of so many each, of which one uses the connection that is there. A suite stays behind those
/// whose evidence it uses.
fn spread<'a, 'c>(suites: &[&'a Suite], each: usize, there: &'c mut Option<Conversation>) -> Vec<Lane<'a, 'c>> {
    let mut there = Some(there);
    let mut lanes: Vec<Lane> = Vec::new();
    for &suite in suites {
        let uses = |lane: &Lane| lane.suites.iter().any(|begun| suite.evidence.contains(&begun.id));
        let last = lanes.len().checked_sub(1).filter(|&last| lanes[last].suites.len() < each);
        match lanes.iter().position(uses).or(last) {
            Some(lane) => lanes[lane].suites.push(suite),
            None => lanes.push(Lane::of(vec![suite], there.take())),
        }
    }
    lanes
}

/// How many suites are to share a connection of those that are gathered at once.
fn share(suites: &[&Suite], transport: Transport) -> usize {
    if transport.capabilities().stream_per_request { FEW } else { suites.len().div_ceil(PROCESSES) }
}

/// Over HTTP few lanes are walked at a time, so those that take longest begin.
fn longest_first(round: &mut [Lane], transport: Transport) {
    if transport.capabilities().stream_per_request {
        round.sort_by_key(|lane| Reverse(lane.suites.iter().map(|suite| suite.gather.len()).sum::<usize>()));
    }
}

/// The suites of the full client on such a connection.
fn with<'a>(suites: &[&'a Suite], connection: Connection) -> Vec<&'a Suite> {
    let fits = |suite: &&&Suite| suite.connection == connection && suite.client == Client::Full;
    suites.iter().filter(fits).copied().collect()
}

fn of_clients<'a, 'c>(clients: &[Client], suites: &[&'a Suite]) -> Vec<Lane<'a, 'c>> {
    suites.iter().filter(|suite| clients.contains(&suite.client)).map(|suite| Lane::apart(suite)).collect()
}
