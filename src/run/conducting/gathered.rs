//! What came of a suite, and whether it was lost with its connection.

use serde_json::{Value, json};

use crate::suite::Suite;

/// What came of a suite.
pub struct Gathered<'a> {
    pub suite: &'a Suite,
    pub saves: Value,
    /// What kept it from asking all that it was to ask.
    pub incident: Option<String>,
    /// How the server was lost, each time that it was started anew.
    pub deaths: Vec<String>,
    /// Whether a connection beside the others ended before anything was heard.
    pub lost: bool,
    /// Whether no connection could be had, so that nothing was asked at all.
    pub unasked: bool,
}

impl<'a> Gathered<'a> {
    pub fn nothing(suite: &'a Suite, why: String) -> Self {
        Self { suite, saves: json!({}), incident: Some(why), deaths: Vec::new(), lost: false, unasked: true }
    }

    /// The same for a server that was lost then, and did not come back.
    pub fn lost_for_good(self) -> Self {
        let why = "the server exited or disconnected during this request, and did not recover";
        Self { saves: json!({}), incident: self.incident.or_else(|| Some(why.to_owned())), ..self }
    }

    /// Whether a connection ended under it, or only an exchange.
    pub fn was_cut_off(&self) -> bool {
        self.incident.is_some() || !self.deaths.is_empty() || some_ended(&self.saves, "closed")
    }
}

/// Whether one of the saved replies ended so.
fn some_ended(saved: &Value, how: &str) -> bool {
    match saved {
        Value::Object(members) => {
            let is_reply = saved["frames"].is_array();
            // Results may hold anything.
            let mut others = members.iter().filter(|(name, _)| !is_reply || *name != "result");
            (is_reply && saved["end"] == how) || others.any(|(_, member)| some_ended(member, how))
        }
        Value::Array(items) => items.iter().any(|item| some_ended(item, how)),
        _ => false,
    }
}
