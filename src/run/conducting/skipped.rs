//! Requests that were skipped because similar requests had timed out.

use crate::{
    evidence::RunContext,
    session::{GivenUp, Kind},
};

/// Records them; the value is notes about them.
pub fn record(context: &mut RunContext, given_up: Vec<(Kind, GivenUp)>) -> Vec<String> {
    let mut notes = Vec::new();
    for (Kind { text, awaited, .. }, GivenUp { sent, suites }) in given_up {
        for suite in &suites {
            context.skipped.entry(suite.clone()).or_default().insert(text.clone(), sent);
        }
        let sent = if awaited {
            format!("`{text}` was awaited {sent} times without being received")
        } else {
            format!("{sent} requests `{text}` had no response")
        };
        notes.push(format!("{sent}, so others of this kind were skipped in {}", suites.join(", ")));
    }
    notes
}
