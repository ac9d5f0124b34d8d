//! The evidence of a suite, and whether its connection was lost.

use std::time::Duration;

use serde_json::{Value, json};

use super::stop::Incident;
use crate::{evidence::End, session::EndedConnection, suite::Suite};

/// The result of gathering for a suite.
pub struct Gathered<'a> {
    pub suite: &'a Suite,
    pub saves: Value,
    /// Why not all requests were sent, if so.
    pub incident: Option<Incident>,
    /// How the server was lost, each time that it was restarted.
    pub ended_connections: Vec<EndedConnection>,
    /// Whether a concurrent connection ended before it received anything.
    pub lost: bool,
    /// Whether no connection could be opened, so that no request was sent.
    pub unasked: bool,
    pub took: Duration,
}

impl<'a> Gathered<'a> {
    pub fn nothing(suite: &'a Suite, why: Incident) -> Self {
        let (incident, ended_connections, took) = (Some(why), Vec::new(), Duration::ZERO);
        Self { suite, saves: json!({}), incident, ended_connections, lost: false, unasked: true, took }
    }

    /// The same for a server that was lost and did not recover.
    #[must_use]
    pub fn lost_for_good(self) -> Self {
        let lost = "the server exited or disconnected during this request, and did not recover";
        Self { saves: json!({}), incident: self.incident.or_else(|| Some(Incident::Lost(lost.to_owned()))), ..self }
    }

    /// Whether a connection or an HTTP exchange ended during the suite.
    pub fn was_cut_off(&self) -> bool {
        self.incident.is_some() || !self.ended_connections.is_empty() || some_ended(&self.saves, End::Closed)
    }
}

/// Whether one of the saved replies has this `end`.
fn some_ended(saved: &Value, how: End) -> bool {
    match saved {
        Value::Object(members) => {
            let is_reply = saved["frames"].is_array();
            // Results can contain anything.
            let mut others = members.iter().filter(|(name, _)| !is_reply || *name != "result");
            (is_reply && End::of(saved) == Some(how)) || others.any(|(_, member)| some_ended(member, how))
        }
        Value::Array(items) => items.iter().any(|item| some_ended(item, how)),
        _ => false,
    }
}
