//! The effect of a suite on the server and its connection. It follows from the connection that the suite declares and
//! from its verbs.

use crate::{
    evidence::RunContext,
    gather::steps,
    suite::{Capabilities, Connection, Suite, Verb},
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
    /// It sends nothing, and sees what the server sends on its own. It is useful only if the server sends requests to its
    /// client.
    Observes,
    /// It is useful only if the server sends requests to its client.
    NeedsClientRequests,
}

pub fn effect<'a>(suite: &'a Suite, context: &RunContext) -> Effect<'a> {
    let change = steps(suite, context).find_map(|step| step.verb.spec().changes);
    match (suite.connection, change) {
        _ if suite.capabilities == Some(Capabilities::Full) && pauses(suite, context) => Effect::Observes,
        _ if suite.capabilities.is_some() => Effect::NeedsClientRequests,
        (Connection::Shared, _) => Effect::Reads,
        (_, Some(fact)) => Effect::Changes(fact),
        (Connection::Final, _) => Effect::ComesLate,
        (Connection::New, _) if !suite.requires.is_empty() => Effect::ComesLate,
        (Connection::PerCall, _) => Effect::Handshakes,
        (Connection::New, _) if calls(suite, context, "initialize") => Effect::Handshakes,
        (Connection::New, _) => Effect::NeedsUnused,
        (Connection::Isolated, _) => Effect::Disturbs,
    }
}

/// Whether a suite mostly waits, for tools or for messages, and does not affect other suites meanwhile.
pub fn waits(suite: &Suite, context: &RunContext) -> bool {
    let waits = steps(suite, context).any(|step| step.verb.spec().waits);
    matches!(effect(suite, context), Effect::Disturbs | Effect::NeedsUnused)
        && (waits || calls(suite, context, "tools/call"))
}

/// Whether a suite has steps that need a second connection.
pub fn needs_two(suite: &Suite, context: &RunContext) -> bool {
    steps(suite, context).any(|step| step.verb.spec().needs_second)
}

/// Whether it only pauses.
fn pauses(suite: &Suite, context: &RunContext) -> bool {
    steps(suite, context).all(|step| matches!(step.verb, Verb::Pause(_)))
}

fn calls(suite: &Suite, context: &RunContext, method: &str) -> bool {
    steps(suite, context).any(|step| step.verb.spec().calls == Some(method))
}
