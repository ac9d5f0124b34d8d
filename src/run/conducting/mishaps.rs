//! Restarts of the server during the run, as one note.

use indexmap::IndexMap;

use crate::{assess::notes::listed, revision::Revision};

/// Where the server was lost and restarted, and why, each time.
#[derive(Default)]
pub struct Mishaps {
    restarts: Vec<(String, Revision, String)>,
}

impl Mishaps {
    /// The server was lost in a suite, and was restarted.
    pub fn started_anew(&mut self, suite: &str, revision: Revision, why: String) {
        self.restarts.push((suite.to_owned(), revision, why));
    }

    /// One note for all restarts: the findings show each. `starts` means that this program starts the server; otherwise
    /// it can only connect to it again.
    pub fn note(&self, starts: bool) -> Option<String> {
        let (.., why) = self.restarts.first()?;
        let what = if starts { "the server was restarted" } else { "a new connection was opened" };
        let mut suites: IndexMap<&str, Vec<Revision>> = IndexMap::new();
        for (suite, revision, _) in &self.restarts {
            let of_it = suites.entry(suite).or_default();
            if !of_it.contains(revision) {
                of_it.push(*revision);
            }
        }
        let named = suites.iter().map(|(suite, of_it)| match of_it.as_slice() {
            [one] => format!("{suite} ({one})"),
            several => format!("{suite} ({} revisions)", several.len()),
        });
        let alike = self.restarts.iter().all(|(.., other)| other == why);
        let times = if self.restarts.len() == 1 { String::new() } else { format!(" {} times", self.restarts.len()) };
        let lead = if alike { "" } else { "; the first time" };
        Some(format!("{what}{times} in {}{lead}: {why}", listed(&named.collect::<Vec<_>>())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_thing_is_told_once() {
        let mut mishaps = Mishaps::default();
        let revision = Revision::NEWEST;
        for suite in ["a", "b", "b", "c", "d"] {
            mishaps.started_anew(suite, revision, "exited with status 3".into());
        }
        let note = mishaps.note(true).unwrap_or_default().replace(&format!(" ({revision})"), "");
        assert_eq!(note, "the server was restarted 5 times in a, b, c and 1 more: exited with status 3");
        mishaps.started_anew("a", revision, "exited with status 4".into());
        let note = mishaps.note(true).unwrap_or_default();
        assert!(note.contains("6 times") && note.ends_with("; the first time: exited with status 3"), "{note}");
    }
}
