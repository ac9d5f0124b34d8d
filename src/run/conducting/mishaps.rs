//! Problems of the server during the run, as notes. The same problem in many suites is one note.

use indexmap::IndexMap;

use crate::revision::Revision;

/// Names of suites in a note.
const SHOWN: usize = 3;

#[derive(Default)]
pub struct Mishaps(IndexMap<Mishap, Vec<String>>);

#[derive(PartialEq, Eq, Hash)]
enum Mishap {
    StartedAnew(String),
    Unfinished(String),
}

impl Mishaps {
    /// The server was lost in a suite, and was restarted.
    pub fn started_anew(&mut self, suite: &str, revision: Revision, why: String) {
        self.add(Mishap::StartedAnew(why), suite, revision);
    }

    /// A suite could not send all its requests.
    pub fn unfinished(&mut self, suite: &str, revision: Revision, why: String) {
        self.add(Mishap::Unfinished(why), suite, revision);
    }

    fn add(&mut self, mishap: Mishap, suite: &str, revision: Revision) {
        self.0.entry(mishap).or_default().push(format!("{suite} ({revision})"));
    }

    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(mishap, suites)| match (mishap, suites.len()) {
            (Mishap::StartedAnew(why), 1) => format!("the server was restarted in {}: {why}", suites[0]),
            (Mishap::StartedAnew(why), times) => {
                format!("the server was restarted {times} times, in {}: {why}", listed(suites))
            }
            (Mishap::Unfinished(why), _) => format!("{} is incomplete: {why}", listed(suites)),
        })
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
        let notes: Vec<_> = mishaps.notes().map(|note| note.replace(&format!(" ({revision})"), "")).collect();
        let died = "the server was restarted 5 times, in a, b, c and 1 more: exited with status 3";
        assert_eq!(notes, [died, "a is incomplete: the time was over"]);
    }
}
