//! A parsed and checked suite, as used by the planner, the gatherer and the judge.
//!
//! Only `load` builds one. So in every `Suite` all names are bound, all paths are parsed, and no revision window is
//! empty.

mod action;
mod profile;
mod rule;
mod step;
mod verb;

use std::{collections::BTreeMap, time::Duration};

use indexmap::IndexMap;
use serde_json::Value;

pub use self::{action::*, profile::*, rule::*, step::*, verb::VerbSpec};
use conform_model::{
    evidence::{Side, Transport},
    outcome::{GivenLevel, Level},
    revision::Revision,
};

pub struct Suite {
    pub id: String,
    pub about: String,
    /// The path of its file, as a user would type it.
    pub file: String,
    /// What makes it a profile: its rules are about a named host, and not part of the verdict.
    pub profile: Option<Profile>,
    /// The side that its rules judge.
    pub subject: Side,
    /// In a suite about clients: the server that the client meets, and its actions. Without it, the rules judge
    /// everything recorded.
    pub scenario: Option<Scenario>,
    /// Whether its rules judge generated calls, which only `generate` makes.
    pub generated: bool,
    pub applies: Applies,
    pub connection: Connection,
    /// Declared if its rules judge what the server requests from such a client.
    pub capabilities: Option<Capabilities>,
    /// Suites that are gathered too if a rule of this one is judged, because the rule needs their evidence.
    pub requires: Vec<String>,
    /// Rules that are not judged where this suite applies; `*` matches any text.
    pub replaces: Vec<String>,
    /// Constants by revision, available as `$values.name`.
    pub values: IndexMap<String, Vec<ValueRow>>,
    pub gather: Vec<Step>,
    pub rules: Vec<Rule>,
    pub untested: Vec<Untested>,
}

/// Gives rules other levels than their own.
pub fn give_levels(suites: &mut [Suite], levels: &BTreeMap<String, GivenLevel>) {
    for rule in suites.iter_mut().flat_map(|suite| &mut suite.rules) {
        if let Some(given) = levels.get(&rule.id) {
            (rule.level, rule.level_reason) = (given.level, Some(given.reason.clone()));
        }
    }
}

/// The server that a client meets, and the client's actions.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// A fault, variation or world of the reference server; `usual` is the server without any.
    pub world: String,
    /// Actions after `connect` and before `close`.
    pub drive: Vec<Action>,
    /// How the client's handlers respond, for clients that take instructions.
    pub answers: Value,
    /// The minimum timeout of a start.
    pub patience: Duration,
}

/// Where a suite, step or rule applies. An empty list sets no condition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applies {
    pub since: Option<Revision>,
    pub until: Option<Revision>,
    pub transport: Vec<Transport>,
    pub proposal: Option<String>,
    /// The identifier of an extension. The requests of a suite declare it.
    pub extension: Option<String>,
    /// Dotted paths into the server's capabilities (`resources`, `resources.subscribe`) that must be present and not
    /// false. With `!` in front, they must be absent or false.
    pub server: Vec<String>,
    /// Only for a server that requires authorization as the specification defines it.
    pub protected: bool,
    /// Facts about the server that must have been given.
    pub facts: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// The connection of the survey.
    Shared,
    /// A second connection, because the suite may disturb it. Other such suites may have used it before.
    Isolated,
    /// A connection that is not used afterwards, because the suite may kill the server.
    Final,
    /// One connection for each call, which is the first message on it, before any handshake.
    PerCall,
    /// An unused connection. Where starting a server is expensive, other suites that need one share it.
    New,
}

/// The capabilities that the client declares while a suite is gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capabilities {
    /// All that it can do.
    Full,
    /// All top-level capabilities, but as empty objects.
    Basic,
    /// Nothing.
    None,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ValueRow {
    pub since: Option<Revision>,
    pub until: Option<Revision>,
    pub is: Value,
}

impl Applies {
    /// Whether it requires that a capability is not declared.
    pub fn lacks_some(&self) -> bool {
        self.server.iter().any(|capability| capability.starts_with('!'))
    }
}

/// A requirement that no rule can test.
pub struct Untested {
    pub id: String,
    pub level: Level,
    pub statement: String,
    pub because: String,
    pub source: Option<String>,
}
