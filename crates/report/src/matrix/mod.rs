//! Many servers in one report: which rules fail on most of them, and the result of each server in each suite.
//!
//! A [`Matrix`] is plain data of a limited size, however many servers there are. [`Fold`] reads one report after the
//! other. It keeps counts of all, and a row for each of the worst servers. All formats are functions of that data.

mod fold;
mod github;
mod hosts;
mod html;
mod junit;
mod markdown;
mod terminal;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use quick_junit::TestSuite;
use serde::Serialize;

use self::hosts::ByTaken;
use super::{Format, tally::Tally};
use conform_model::{
    outcome::{Level, Status, Taken, Tool},
    revision::Revision,
};

pub use fold::Fold;
pub use terminal::{line, summary};

/// Raised when a reader of `matrix.json` would have to change.
pub const MATRIX_SCHEMA: u32 = 1;

/// The result of a run against one server, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    Failing,
    /// It could not be started or reached, or it crashed.
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

    /// The exit code of a matrix in which no server is worse.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Failing => 1,
            Self::Broken => 3,
            Self::Empty => 4,
            Self::Conforming => 0,
        }
    }

    /// The CSS class, which is that of the status with the same look.
    const fn status(self) -> Status {
        match self {
            Self::Failing => Status::Fail,
            Self::Broken => Status::Broken,
            Self::Empty => Status::NotExercised,
            Self::Conforming => Status::Pass,
        }
    }

    /// Follows a number of servers.
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
    /// The number of servers.
    pub servers: usize,
    pub by_standing: IndexMap<Standing, usize>,
    pub exit_code: u8,
    /// Files that are not reports of this version.
    pub unreadable: usize,
    /// Rules that did not pass, by status, the most frequent first.
    pub failures: Vec<Common>,
    /// All results of all servers, by suite.
    pub suites: BTreeMap<String, Tally>,
    /// By profile, if some were judged.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub hosts: BTreeMap<String, ByTaken>,
    /// The worst servers, the worst first.
    pub rows: Vec<Row>,
    /// Servers that are counted but have no row.
    pub left_out: usize,
}

/// A rule that does not pass on some servers.
#[derive(Debug, Serialize)]
pub struct Common {
    pub rule: String,
    pub suite: String,
    pub status: Status,
    pub level: Level,
    pub statement: String,
    pub source: String,
    /// The number of servers.
    pub servers: usize,
    /// Some of them, by name.
    pub named: Vec<String>,
}

/// A server.
#[derive(Debug, Serialize)]
pub struct Row {
    pub name: String,
    /// The path of its report, relative to the matrix.
    pub file: Option<String>,
    pub standing: Standing,
    /// The command line or URL.
    pub target: String,
    /// Name and version as the server sends them.
    pub server: String,
    pub transport: String,
    pub revisions: Vec<Revision>,
    pub ms: u64,
    pub rules: Tally,
    pub suites: BTreeMap<String, Tally>,
    /// By profile, if some were judged.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub taken: BTreeMap<String, Taken>,
    /// The worst rules that did not pass.
    pub findings: Vec<Told>,
    /// The number of further rules that did not pass.
    pub more: usize,
    /// Why there are no results, if so.
    pub note: Option<String>,
    /// Its rules as tests, if they were added.
    #[serde(skip)]
    tests: Vec<TestSuite>,
}

/// A short description of a rule that did not pass on a server.
#[derive(Debug, Serialize)]
pub struct Told {
    pub rule: String,
    pub status: Status,
    pub subject: String,
    pub message: String,
    pub reproduce: Option<String>,
}

impl Matrix {
    /// All formats, each with the extension of its file.
    pub fn forms(&self) -> [(&'static str, String); 3] {
        let json = serde_json::to_string_pretty(self).expect("a matrix is plain data with strings for keys");
        [("html", html::render(self)), ("md", markdown::render(self)), ("json", json + "\n")]
    }

    /// As a report for pipelines; the rows need [`Row::with_tests`] for it. `None` for other formats.
    pub fn report(&self, format: Format) -> Option<String> {
        match format {
            Format::Junit => Some(junit::render(self)),
            Format::Github => Some(github::render(self)),
            _ => None,
        }
    }

    /// Suites with failures, broken rules, warnings or advice, the same in each format.
    fn notable(&self) -> impl Iterator<Item = &str> {
        self.suites.iter().filter(|(_, tally)| tally.is_notable()).map(|(suite, _)| suite.as_str())
    }

    /// The overall result in a sentence.
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
        Status::Flaky => "is flaky",
        Status::Known => "is known to fail",
        Status::Broken => "is broken",
        _ => "warns",
    }
}
