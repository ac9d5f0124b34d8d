//! Reads one report after the other. It keeps counts, and a row for each of the worst servers.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use indexmap::IndexMap;

use super::{ByTaken, Common, MATRIX_SCHEMA, Matrix, Row, Standing, Told, junit};
use crate::tally::{Tally, standing};
use conform_model::outcome::{RuleResult, RunReport, Status, Tool, excerpt::middle};

/// Maximum number of rows. Readers look at the worst servers; the results of the others are in their files.
const ROWS: usize = 1000;
/// Maximum number of rules of one server.
const TOLD: usize = 8;
/// Maximum number of servers named with one rule.
const NAMED: usize = 20;
/// Width of a server's text in a list.
const WIDTH: usize = 200;

/// Statuses that count as not passed; advice is not important among hundreds of servers.
const UNHELD: [Status; 5] = [Status::Fail, Status::Flaky, Status::Known, Status::Broken, Status::Warn];

#[derive(Default)]
pub struct Fold {
    servers: usize,
    by_standing: IndexMap<Standing, usize>,
    unreadable: usize,
    failures: HashMap<(Status, String), Kept>,
    suites: BTreeMap<String, Tally>,
    hosts: BTreeMap<String, ByTaken>,
    rows: BTreeMap<Rank, Row>,
}

/// The order of rows: the worst first, then by name. The number distinguishes servers of the same name.
type Rank = (Standing, Reverse<[usize; 4]>, String, usize);

struct Kept {
    rule: RuleResult,
    servers: usize,
    /// The first names in order, so that the result does not depend on the order of reports.
    named: BTreeSet<String>,
}

impl Row {
    /// A summary of one report. `file` is its path relative to the matrix.
    pub fn of(name: &str, file: Option<String>, report: &RunReport) -> Self {
        let mut suites: BTreeMap<String, Tally> = BTreeMap::new();
        for rule in &report.rules {
            tally(&mut suites, &rule.suite).add(standing(report, rule));
        }
        let stated = |name: &str| report.target.server.as_ref()?.get(name)?.as_str();
        let server: Vec<_> = ["name", "version"].into_iter().filter_map(stated).collect();
        let unheld = unheld(report);
        let findings = unheld.iter().take(TOLD).map(|(status, rule)| told(*status, rule)).collect();
        let came = Standing::of(report.exit_code);
        let unexplained = matches!(came, Standing::Broken | Standing::Empty);
        Self {
            name: name.to_owned(),
            file,
            standing: came,
            target: report.target.name.clone(),
            server: middle(&server.join(" "), WIDTH).into_owned(),
            transport: report.target.transport.clone(),
            revisions: report.revisions.clone(),
            ms: report.ms,
            rules: Tally::of(report),
            suites,
            taken: report.profiles.iter().map(|profile| (profile.dated(), profile.taken())).collect(),
            findings,
            more: unheld.len().saturating_sub(TOLD),
            note: report.notes.first().filter(|_| unexplained).map(|note| middle(note, 2 * WIDTH).into_owned()),
            tests: Vec::new(),
        }
    }

    /// With the rules as tests, for the `JUnit` report.
    #[must_use]
    pub fn with_tests(self, report: &RunReport) -> Self {
        let tests = junit::of_server(&self.name, report);
        Self { tests, ..self }
    }
}

impl Fold {
    pub fn add(&mut self, row: Row, report: &RunReport) {
        self.servers += 1;
        *self.by_standing.entry(row.standing).or_default() += 1;
        for (suite, more) in &row.suites {
            tally(&mut self.suites, suite).merge(*more);
        }
        for (profile, taken) in &row.taken {
            *self.hosts.entry(profile.clone()).or_default().entry(*taken).or_default() += 1;
        }
        for (status, rule) in unheld(report) {
            let kept = self.failures.entry((status, rule.id.clone())).or_insert_with(|| Kept {
                rule: RuleResult { findings: Vec::new(), ..rule.clone() },
                servers: 0,
                named: BTreeSet::new(),
            });
            kept.servers += 1;
            kept.named.insert(row.name.clone());
            if kept.named.len() > NAMED {
                kept.named.pop_last();
            }
        }
        let count = |status| row.rules.count(status);
        let failed = [Status::Fail, Status::Flaky, Status::Broken, Status::Warn].map(count);
        self.rows.insert((row.standing, Reverse(failed), row.name.clone(), self.servers), row);
        if self.rows.len() > ROWS {
            self.rows.pop_last();
        }
    }

    /// Counts a file that is not a report of this version.
    pub fn add_unreadable(&mut self) {
        self.unreadable += 1;
    }

    pub fn is_empty(&self) -> bool {
        self.servers + self.unreadable == 0
    }

    pub fn finish(self) -> Matrix {
        let mut by_standing = self.by_standing;
        by_standing.sort_keys();
        let mut failures: Vec<_> =
            self.failures.into_iter().map(|((status, rule), kept)| common(status, rule, kept)).collect();
        failures.sort_by(|a, b| (a.status, b.servers, &a.rule).cmp(&(b.status, a.servers, &b.rule)));
        let worst = by_standing.keys().next().copied().unwrap_or(Standing::Empty);
        let worst = if self.unreadable > 0 { worst.min(Standing::Broken) } else { worst };
        Matrix {
            schema: MATRIX_SCHEMA,
            tool: Tool { name: conform_model::PROGRAM.into(), version: conform_model::VERSION.into() },
            servers: self.servers,
            by_standing,
            exit_code: worst.exit_code(),
            unreadable: self.unreadable,
            failures,
            suites: self.suites,
            hosts: self.hosts,
            left_out: self.servers - self.rows.len(),
            rows: self.rows.into_values().collect(),
        }
    }
}

/// The rules that did not pass, each once even in several revisions, the worst first.
fn unheld(report: &RunReport) -> Vec<(Status, &RuleResult)> {
    let mut worst: IndexMap<&str, (Status, &RuleResult)> = IndexMap::new();
    for rule in &report.rules {
        let status = standing(report, rule);
        if !UNHELD.contains(&status) {
            continue;
        }
        let known = worst.entry(&rule.id).or_insert((status, rule));
        if status < known.0 {
            *known = (status, rule);
        }
    }
    let mut unheld: Vec<_> = worst.into_values().collect();
    unheld.sort_by_key(|(status, _)| *status);
    unheld
}

fn tally<'a>(suites: &'a mut BTreeMap<String, Tally>, suite: &str) -> &'a mut Tally {
    // Copy the name once per suite, not once per rule.
    if !suites.contains_key(suite) {
        suites.insert(suite.to_owned(), Tally::default());
    }
    suites.get_mut(suite).expect("it was inserted")
}

fn told(status: Status, rule: &RuleResult) -> Told {
    let first = rule.findings.first();
    let short = |text: &str| middle(text, WIDTH).into_owned();
    Told {
        rule: rule.id.clone(),
        status,
        subject: first.map(|finding| short(&finding.subject)).unwrap_or_default(),
        message: short(first.map(|finding| &finding.message).or(rule.reason.as_ref()).map_or("", String::as_str)),
        reproduce: first.and_then(|finding| finding.reproduce.clone()),
    }
}

fn common(status: Status, rule: String, kept: Kept) -> Common {
    Common {
        rule,
        suite: kept.rule.suite,
        status,
        level: kept.rule.level,
        statement: kept.rule.statement,
        source: kept.rule.source,
        servers: kept.servers,
        named: kept.named.into_iter().collect(),
    }
}
