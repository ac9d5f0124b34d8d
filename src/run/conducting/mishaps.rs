//! Problems of the server during the run, as notes. The same problem in many suites is one note.

use indexmap::IndexMap;

use crate::revision::Revision;

/// Names of suites in a note.
const SHOWN: usize = 3;

#[derive(Default)]
pub struct Mishaps {
    /// Where the server was lost and restarted, and why, each time.
    restarts: Vec<(String, String)>,
    /// Suites that could not send all their requests, by the reason.
    unfinished: IndexMap<String, Vec<String>>,
}

impl Mishaps {
    /// The server was lost in a suite, and was restarted.
    pub fn started_anew(&mut self, suite: &str, revision: Revision, why: String) {
        self.restarts.push((format!("{suite} ({revision})"), why));
    }

    /// A suite could not send all its requests.
    pub fn unfinished(&mut self, suite: &str, revision: Revision, why: String) {
        self.unfinished.entry(why).or_default().push(format!("{suite} ({revision})"));
    }

    /// `starts` means that this program starts the server; otherwise it can only connect to it again.
    pub fn notes(&self, starts: bool) -> impl Iterator<Item = String> {
        let unfinished = self.unfinished.iter().map(|(why, suites)| {
            let verb = if suites.iter().all(|suite| *suite == suites[0]) { "is" } else { "are" };
            format!("{} {verb} incomplete: {why}", listed(suites))
        });
        self.restarted(starts).into_iter().chain(unfinished)
    }

    /// One note for all restarts: the findings tell each.
    fn restarted(&self, starts: bool) -> Option<String> {
        let (first, why) = self.restarts.first()?;
        let what = if starts { "was restarted" } else { "disconnected" };
        if self.restarts.len() == 1 {
            return Some(format!("the server {what} in {first}: {why}"));
        }
        let suites: Vec<String> = self.restarts.iter().map(|(suite, _)| suite.clone()).collect();
        let alike = self.restarts.iter().all(|(_, other)| other == why);
        let lead = if alike { "" } else { "the first time: " };
        Some(format!("the server {what} {} times, in {}: {lead}{why}", suites.len(), listed(&suites)))
    }
}

fn listed(suites: &[String]) -> String {
    let mut names: Vec<&str> = suites.iter().map(String::as_str).collect();
    names.dedup();
    let more = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
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
        mishaps.unfinished("a", revision, "the time was over".into());
        let notes: Vec<_> = mishaps.notes(true).map(|note| note.replace(&format!(" ({revision})"), "")).collect();
        let died = "the server was restarted 5 times, in a, b, c and 1 more: exited with status 3";
        assert_eq!(notes, [died, "a is incomplete: the time was over"]);
        mishaps.started_anew("a", revision, "exited with status 4".into());
        let note = mishaps.notes(true).next().unwrap_or_default();
        assert!(note.contains("6 times") && note.ends_with("the first time: exited with status 3"), "{note}");
    }
}
