//! Many servers concurrently: which rules fail on most of them, and how each server stands in each suite.
//!
//! A [`Matrix`] is plain data of a bounded size, however many servers there are: [`Fold`] takes one report after the other and
//! keeps counts of all, and of the worst servers a row each. The forms of it are functions of that data.

mod fold;
mod html;
mod markdown;
mod terminal;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::Serialize;

use super::tally::Tally;
use crate::{
    outcome::{Level, Status, Tool},
    revision::Revision,
};

pub use fold::Fold;
pub use terminal::{line, summary};

/// Raised when a reader of `matrix.json` would have to change.
pub const MATRIX_SCHEMA: u32 = 1;

/// What a run against one server comes to; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    Failing,
    /// It could not be started or reached, or died.
    Broken,
    /// No rule could be checked.
    Empty,
    Conforming,
}

impl Standing {
    pub const ALL: [Self; 4] = [Self::Failing, Self::Broken, Self::Empty, Self::Conforming];

    pub const fn of(exit_code: u8) -> Self {
        match exit_code {
            0 => Self::Conforming,
            1 => Self::Failing,
            4 => Self::Empty,
            _ => Self::Broken,
        }
    }

    /// The exit code of a matrix in which nothing is worse.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Failing => 1,
            Self::Broken => 3,
            Self::Empty => 4,
            Self::Conforming => 0,
        }
    }

    /// The class in a page, which is that of the status that looks like it.
    const fn status(self) -> Status {
        match self {
            Self::Failing => Status::Fail,
            Self::Broken => Status::Broken,
            Self::Empty => Status::NotExercised,
            Self::Conforming => Status::Pass,
        }
    }

    /// After a number of servers.
    const fn said_of(self, one: bool) -> &'static str {
        match (self, one) {
            (Self::Failing, true) => "fails",
            (Self::Failing, false) => "fail",
            (Self::Broken, _) => "could not be tested or died",
            (Self::Empty, _) => "showed nothing to check",
            (Self::Conforming, true) => "conforms",
            (Self::Conforming, false) => "conform",
        }
    }
}

#[derive(Debug, Serialize)]
pub struct Matrix {
    pub schema: u32,
    pub tool: Tool,
    /// How many servers there are.
    pub servers: usize,
    pub by_standing: IndexMap<Standing, usize>,
    pub exit_code: u8,
    /// Files that are no reports of this version.
    pub unreadable: usize,
    /// What does not hold, by status, and of those what most servers have in common first.
    pub failures: Vec<Common>,
    /// All results of all servers, by suite.
    pub suites: BTreeMap<String, Tally>,
    /// The worst first.
    pub rows: Vec<Row>,
    /// Servers that are counted and have no row.
    pub left_out: usize,
}

/// A rule that does not hold on some servers.
#[derive(Debug, Serialize)]
pub struct Common {
    pub rule: String,
    pub suite: String,
    pub status: Status,
    pub level: Level,
    pub statement: String,
    pub source: String,
    /// On how many it does not hold.
    pub servers: usize,
    /// Some of them, by name.
    pub named: Vec<String>,
}

/// A server.
#[derive(Debug, Serialize)]
pub struct Row {
    pub name: String,
    /// Where its report is, as seen from the matrix.
    pub file: Option<String>,
    pub standing: Standing,
    /// The command line or URL.
    pub target: String,
    /// Name and version, as it states them.
    pub server: String,
    pub transport: String,
    pub revisions: Vec<Revision>,
    pub ms: u64,
    pub rules: Tally,
    pub suites: BTreeMap<String, Tally>,
    /// The worst of what does not hold.
    pub findings: Vec<Told>,
    /// Rules that do not hold besides these.
    pub more: usize,
    /// Why there is nothing better to tell.
    pub note: Option<String>,
}

/// A rule that does not hold on a server, in short.
#[derive(Debug, Serialize)]
pub struct Told {
    pub rule: String,
    pub status: Status,
    pub subject: String,
    pub message: String,
    pub reproduce: Option<String>,
}

impl Matrix {
    /// The forms in which it is kept, each with the ending of its file.
    pub fn forms(&self) -> [(&'static str, String); 3] {
        let json = serde_json::to_string_pretty(self).expect("a matrix is plain data with strings for keys");
        [("html", html::render(self)), ("md", markdown::render(self)), ("json", json + "\n")]
    }

    /// Suites in which something is worth a look, the same in each form.
    fn notable(&self) -> impl Iterator<Item = &str> {
        self.suites.iter().filter(|(_, tally)| tally.is_notable()).map(|(suite, _)| suite.as_str())
    }

    /// What it all comes to.
    fn meaning(&self) -> String {
        let servers = if self.servers == 1 { "server" } else { "servers" };
        if self.by_standing.keys().all(|standing| *standing == Standing::Conforming) {
            return format!("All {} {servers} conform in what was checked.", self.servers);
        }
        let said = |(standing, count): (&Standing, &usize)| format!("{count} {}", standing.said_of(*count == 1));
        let parts: Vec<_> = self.by_standing.iter().map(said).collect();
        format!("Of {} {servers} {}.", self.servers, parts.join(", "))
    }
}

/// The name of a rule's status, for a reader.
fn verb(status: Status) -> &'static str {
    match status {
        Status::Fail => "fails",
        Status::Known => "is known to fail",
        Status::Broken => "is broken",
        _ => "warns",
    }
}
