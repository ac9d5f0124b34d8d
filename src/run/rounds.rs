//! Which suites are gathered side by side, and which have to take turns.
//!
//! Processes of one server may share what they show, say a folder. So what compares lists and contents is through before
//! anything is changed, and who makes the same change takes turns. Sessions over HTTP share a server for certain, and some
//! servers bear one alone, as do some processes that lock what they work on: there one lane follows another.

use futures_util::future::join;
use indexmap::IndexMap;

use super::{
    clients,
    lanes::{Gathered, Lane, Lanes},
};
use crate::{
    evidence::{Scene, Transport},
    gather::{asks_beside, steps},
    session::Conversation,
    suite::{Client, Connection, Step, Suite, Verb},
};

/// Connections for suites that can share one.
const GROUPS: usize = 3;

/// Gathers for the suites; `first` is the connection of the survey. What was gathered comes in the order of the suites.
pub async fn rounds<'a>(
    lanes: &Lanes<'a>,
    suites: &[&'a Suite],
    scene: &Scene,
    mut first: Option<Conversation>,
) -> Vec<Gathered<'a>> {
    let shared = Lane { suites: with(suites, Connection::Shared), shared: Some(&mut first) };
    let mut all = lanes.one_by_one(vec![shared], scene).await;
    let mut second = None;
    if let (Transport::Stdio, Some(first)) = (scene.transport, &first)
        && suites.iter().any(|suite| takes_two(suite, scene))
    {
        second = lanes.beside(first, scene.revision).await;
    }
    all.extend(match second {
        Some(second) => side_by_side(lanes, suites, scene, first, second).await,
        None => one_by_one(lanes, suites, scene, first).await,
    });
    all.sort_by_key(|gathered| suites.iter().position(|suite| suite.id == gathered.suite.id));
    all
}

async fn one_by_one<'a>(
    lanes: &Lanes<'a>,
    suites: &[&'a Suite],
    scene: &Scene,
    first: Option<Conversation>,
) -> Vec<Gathered<'a>> {
    // What may disturb a connection shares a second one, as long as that bears it: starting a server is dear. Many
    // servers of HTTP+SSE bear one connection at a time and end with it, so there the first one has to do.
    let mut second = None;
    if scene.transport == Transport::Sse {
        second = first;
    } else {
        lanes.close(first, true).await;
    }
    let own = [with(suites, Connection::Own), with(suites, Connection::Last)].concat();
    let own = Lane { suites: own, shared: Some(&mut second) };
    let mut all = lanes.one_by_one(vec![own], scene).await;
    lanes.close(second, false).await;
    let fresh = with(suites, Connection::Fresh).into_iter().map(Lane::apart).collect();
    all.extend(lanes.one_by_one(fresh, scene).await);
    all.extend(lanes.one_by_one(other_clients(lanes, suites), scene).await);
    all
}

async fn side_by_side<'a>(
    lanes: &Lanes<'a>,
    suites: &[&'a Suite],
    scene: &Scene,
    first: Option<Conversation>,
    second: Conversation,
) -> Vec<Gathered<'a>> {
    // Who waits holds nobody up, where a connection for each costs little.
    let (waiting, others): (Vec<_>, Vec<_>) =
        suites.iter().partition(|suite| lanes.starts_quickly() && waits(suite, scene));
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
    scene: &Scene,
    mut first: Option<Conversation>,
    second: Conversation,
) -> Vec<Gathered<'a>> {
    let mut second = Some(second);
    let (mut steady, mut turns) = (Vec::new(), IndexMap::<_, Vec<_>>::new());
    for &suite in suites {
        match changes(suite, scene).filter(|_| suite.client == Client::Full) {
            Some(fact) if suite.connection != Connection::Shared => turns.entry(fact).or_default().push(suite),
            _ => steady.push(suite),
        }
    }
    // Where a connection costs little, those that share one do so in a few groups.
    let groups = if lanes.starts_quickly() { GROUPS } else { 1 };
    let shared = with(&steady, Connection::Own);
    let mut own = groups_of(&shared, groups);
    let mut round = vec![
        Lane { suites: own.next().unwrap_or_default(), shared: Some(&mut second) },
        Lane { suites: with(&steady, Connection::Last), shared: Some(&mut first) },
    ];
    round.extend(own.map(|suites| Lane { suites, shared: None }));
    round.extend(with(&steady, Connection::Fresh).into_iter().map(Lane::apart));
    let (mut all, left) = lanes.side_by_side(round, scene).await;
    lanes.close(first, true).await;
    all.extend(alone(lanes, left, scene, &mut second).await);

    let mut spare = Some(&mut second);
    let turn = |suites: Vec<&'a Suite>| {
        let shares = suites.iter().any(|suite| suite.connection != Connection::Fresh);
        Lane { suites, shared: spare.take_if(|_| shares) }
    };
    let mut round: Vec<Lane> = turns.into_values().map(turn).collect();
    round.extend(other_clients(lanes, suites));
    let (gathered, left) = lanes.side_by_side(round, scene).await;
    all.extend(gathered);
    all.extend(alone(lanes, left, scene, &mut second).await);
    lanes.close(second, false).await;
    all
}

/// Once more for suites that found no connection, now that nothing else is connected.
async fn alone<'a>(
    lanes: &Lanes<'a>,
    suites: Vec<&'a Suite>,
    scene: &Scene,
    second: &mut Option<Conversation>,
) -> Vec<Gathered<'a>> {
    if !suites.is_empty() {
        lanes.close(second.take(), false).await;
        lanes.closed().await;
    }
    lanes.one_by_one(suites.into_iter().map(Lane::apart).collect(), scene).await
}

/// The suites of the full client on such a connection.
fn with<'a>(suites: &[&'a Suite], connection: Connection) -> Vec<&'a Suite> {
    let fits = |suite: &&&Suite| suite.connection == connection && suite.client == Client::Full;
    suites.iter().filter(fits).copied().collect()
}

/// So many groups of much the same size.
fn groups_of<'s, 'a>(suites: &'s [&'a Suite], groups: usize) -> impl Iterator<Item = Vec<&'a Suite>> + use<'s, 'a> {
    (0..groups).map(move |first| suites.iter().skip(first).step_by(groups).copied().collect())
}

/// A server that asks nothing of its client need not be told less.
fn other_clients<'a, 'c>(lanes: &Lanes<'a>, suites: &[&'a Suite]) -> Vec<Lane<'a, 'c>> {
    let asked = clients::was_asked(&lanes.opener.recorder);
    suites.iter().filter(|suite| asked && suite.client != Client::Full).map(|suite| Lane::apart(suite)).collect()
}

/// Whether a suite is gathered on a connection that others use too, or asks beside its own.
fn takes_two(suite: &Suite, scene: &Scene) -> bool {
    suite.connection == Connection::Own || steps(suite, scene).any(asks_beside)
}

/// Whether a suite spends time without asking anything, and has no use for what others do.
fn waits(suite: &Suite, scene: &Scene) -> bool {
    let is_pause = |step: &Step| match &step.verb {
        Verb::Await(_) => true,
        Verb::Call(call) => call.seconds.is_some_and(|seconds| seconds < 1.0),
        _ => false,
    };
    matches!(suite.connection, Connection::Own | Connection::Fresh)
        && suite.client == Client::Full
        && suite.evidence.is_empty()
        && changes(suite, scene).is_none()
        && steps(suite, scene).any(is_pause)
}

/// Which fact a suite brings a change about by, if any.
fn changes<'a>(suite: &'a Suite, scene: &Scene) -> Option<&'a str> {
    steps(suite, scene).find_map(|step| match &step.verb {
        Verb::Change(cause) => cause.first_member(),
        _ => None,
    })
}
