//! The effect of a suite on the server and its connection. It follows from the connection that the suite declares and
//! from its verbs.

use crate::{
    evidence::RunContext,
    gather::{asks_beside, steps},
    suite::{Client, Connection, Suite, Template, Verb},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect<'a> {
    /// It has no side effects.
    Reads,
    /// It may disturb its own connection, and nothing else.
    Disturbs,
    /// It needs an unused connection, and has no other effect.
    NeedsUnused,
    /// It performs handshakes, on connections that no other suite can use.
    Handshakes,
    /// It is compared with the evidence of other suites, or may kill the server.
    ComesLate,
    /// It makes the server change this.
    Changes(&'a str),
    /// It is useful only if the server sends requests to its client. The client here has fewer capabilities.
    LimitsClient,
}

pub fn effect<'a>(suite: &'a Suite, scene: &RunContext) -> Effect<'a> {
    let change = steps(suite, scene).find_map(|step| match &step.verb {
        Verb::Change(cause) => cause.first_member(),
        _ => None,
    });
    match (suite.connection, change) {
        _ if suite.client != Client::Full => Effect::LimitsClient,
        (Connection::Shared, _) => Effect::Reads,
        (_, Some(fact)) => Effect::Changes(fact),
        (Connection::Last, _) => Effect::ComesLate,
        (Connection::Fresh, _) if !suite.evidence.is_empty() => Effect::ComesLate,
        (Connection::Alone, _) => Effect::Handshakes,
        (Connection::Fresh, _) if calls(suite, scene, "initialize") => Effect::Handshakes,
        (Connection::Fresh, _) => Effect::NeedsUnused,
        (Connection::Own, _) => Effect::Disturbs,
    }
}

/// Whether a suite mostly waits, for tools or for messages, and does not affect other suites meanwhile.
pub fn waits(suite: &Suite, scene: &RunContext) -> bool {
    let pauses = steps(suite, scene).any(|step| match &step.verb {
        Verb::Await(_) | Verb::Pause(_) => true,
        Verb::Call(call) => call.seconds.is_some_and(|seconds| seconds < 1.0),
        Verb::Http(http) => http.method != "DELETE" && http.seconds.is_some(),
        _ => false,
    });
    matches!(effect(suite, scene), Effect::Disturbs | Effect::NeedsUnused)
        && (pauses || calls(suite, scene, "tools/call"))
}

/// Whether a suite has steps that need a second connection.
pub fn needs_two(suite: &Suite, scene: &RunContext) -> bool {
    steps(suite, scene).any(asks_beside)
}

fn calls(suite: &Suite, scene: &RunContext, method: &str) -> bool {
    let is = |template: &Template| matches!(template, Template::Literal(name) if name == method);
    steps(suite, scene).any(|step| matches!(&step.verb, Verb::Call(call) if !call.alone && is(&call.method)))
}
