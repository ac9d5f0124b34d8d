//! The effects of a suite: what it changes, and whether it waits. They follow from its verbs, by one table.

use crate::{
    evidence::RunContext,
    gather::{asks_beside, steps},
    suite::{Client, Connection, Step, Suite, Template, Verb},
};

/// Whether a suite has anything to ask of this server.
pub fn asks(suite: &Suite, scene: &RunContext) -> bool {
    steps(suite, scene).next().is_some()
}

/// Whether a suite is gathered on a connection that others use too, or asks beside its own.
pub fn takes_two(suite: &Suite, scene: &RunContext) -> bool {
    suite.connection == Connection::Own || steps(suite, scene).any(asks_beside)
}

/// How many processes to start at once for a suite whose requests each need one.
pub fn starts_ahead(suite: &Suite, scene: &RunContext) -> usize {
    // Whether there is more to ask hangs on the responses.
    if suite.connection == Connection::Alone { steps(suite, scene).count().min(2) } else { 0 }
}

/// Whether a suite spends time without asking anything, and has no use for what others do.
pub fn waits(suite: &Suite, scene: &RunContext) -> bool {
    matches!(suite.connection, Connection::Own | Connection::Fresh)
        && suite.client == Client::Full
        && suite.evidence.is_empty()
        && changes(suite, scene).is_none()
        && pauses(suite, scene)
}

/// Whether a suite spends most of its time waiting, for tools or for silence, and leaves others alone meanwhile.
pub fn takes_its_time(suite: &Suite, scene: &RunContext) -> bool {
    suite.connection == Connection::Own
        && suite.client == Client::Full
        && changes(suite, scene).is_none()
        && (pauses(suite, scene) || calls(suite, scene, "tools/call"))
}

fn pauses(suite: &Suite, scene: &RunContext) -> bool {
    steps(suite, scene).any(|step| effects(step).pauses)
}

/// Whether a suite leaves everything as it is for others, and has no use for what they do.
pub fn only_reads(suite: &Suite, scene: &RunContext) -> bool {
    matches!(suite.connection, Connection::Own | Connection::Fresh)
        && suite.evidence.is_empty()
        && steps(suite, scene).all(|step| effects(step).only_reads)
}

/// What a step does to the server and to the schedule.
struct Effects<'a> {
    /// It leaves everything as it is.
    only_reads: bool,
    /// It spends time without asking anything.
    pauses: bool,
    /// The fact by which it brings about a change.
    changes: Option<&'a str>,
}

fn effects(step: &Step) -> Effects<'_> {
    let none = Effects { only_reads: false, pauses: false, changes: None };
    match &step.verb {
        Verb::List(_) | Verb::Walk(_) | Verb::Notify(_) | Verb::Cancel(_) => Effects { only_reads: true, ..none },
        Verb::Await(_) | Verb::Pause(_) => Effects { only_reads: true, pauses: true, ..none },
        Verb::Call(call) => Effects {
            only_reads: matches!(&call.method, Template::Literal(name) if name != "tools/call"),
            pauses: call.seconds.is_some_and(|seconds| seconds < 1.0),
            ..none
        },
        Verb::Http(http) => Effects { pauses: http.method != "DELETE" && http.seconds.is_some(), ..none },
        Verb::Send(_) => none,
        Verb::Change(cause) => Effects { changes: cause.first_member(), ..none },
    }
}

/// Whether a suite asks for this on its own connection.
pub fn calls(suite: &Suite, scene: &RunContext, method: &str) -> bool {
    let is = |template: &Template| matches!(template, Template::Literal(name) if name == method);
    let calls = |step: &Step| matches!(&step.verb, Verb::Call(call) if !call.alone && is(&call.method));
    steps(suite, scene).any(calls)
}

/// Which fact a suite brings a change about by, if any.
pub fn changes<'a>(suite: &'a Suite, scene: &RunContext) -> Option<&'a str> {
    steps(suite, scene).find_map(|step| effects(step).changes)
}
