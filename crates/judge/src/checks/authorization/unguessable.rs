//! Ids created in sequence differ in more than a counter or a clock.

use std::collections::HashSet;

use serde_json::json;

use crate::checks::{Check, Fault, Given, Report, texts};

pub const CHECK: Check = Check { name: "unguessable", given: &["ids"], run };

/// With fewer ids, the constant part cannot be determined.
const MIN_IDS: usize = 3;
/// Minimum length after the common prefix: eight random characters can hardly be guessed.
const FEWEST: usize = 8;

fn run(given: &Given) -> Report {
    let mut ids = texts(given.value("ids"));
    // A server may return the same task for a repeated request. That is not a matter of randomness.
    let mut known = HashSet::new();
    ids.retain(|id| known.insert(*id));
    if ids.len() < MIN_IDS {
        return Report::default();
    }
    let longest = ids.iter().map(|id| id.chars().count()).max().unwrap_or_default();
    let alike = common(&ids, |id| id.chars().collect()) + common(&ids, |id| id.chars().rev().collect());
    let own = longest.saturating_sub(alike);
    let told = || format!("{} ids differ in {own} characters only: {}", ids.len(), ids.join(", "));
    guessable(&ids, (own < FEWEST).then(told))
}

/// The report on all ids, with the message if they can be guessed.
pub(super) fn guessable(ids: &[&str], message: Option<String>) -> Report {
    let fault = |message| Fault { given: "ids", message, received: Some(json!(ids)), ..Fault::default() };
    Report::of(message.map(fault).into_iter().collect())
}

/// The length of their common prefix.
fn common(ids: &[&str], spell: fn(&str) -> Vec<char>) -> usize {
    let spelt: Vec<Vec<char>> = ids.iter().map(|id| spell(id)).collect();
    let shortest = spelt.iter().map(Vec::len).min().unwrap_or_default();
    let alike = |at: &usize| spelt.iter().all(|id| id[*at] == spelt[0][*at]);
    (0..shortest).take_while(alike).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    fn passes(ids: &[&str]) -> bool {
        tried(&CHECK, Revision::NEWEST, [("ids", json!(ids))]).faults.is_empty()
    }

    #[test]
    fn counters_and_clocks_are_told_from_chance() {
        assert!(!passes(&["task-1", "task-2", "task-3"]));
        assert!(!passes(&["9", "10", "11"]));
        assert!(!passes(&["task_1732233600123", "task_1732233600124", "task_1732233600131"]));
        assert!(passes(&["a", "a", "a"]));
        assert!(passes(&["V1StGXR8_Z5j", "n3K0-pQ2xLm7", "t9Wc_aB4sDf1"]));
        assert!(passes(&[
            "786512e2-9e0d-44bd-8f29-789f320fe840",
            "0f1b6c1e-51c0-4a3a-9b8e-2f0e2b1d5c77",
            "c2a1f7d4-0c9b-4e55-a1d2-6b7f8e9d0a1b",
        ]));
    }
}
