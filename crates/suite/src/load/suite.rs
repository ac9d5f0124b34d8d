//! One suite, part by part.

use std::time::Duration;

use indexmap::IndexMap;
use serde_json::Value;

use super::{Known, Origin, SURVEY, lint::Lint, window::Window};
use crate::{
    decode::{Pairs, Typed},
    file::{self, SuiteFile},
    model::{Connection, Rule, Scenario, Suite, Template, ValueRow, Verb},
};
use conform_model::{evidence::Side, revision::Revision};
use conform_source::{
    diagnostic::Problems,
    yaml::{At, Tree},
};

/// The maximum length of a repeated text.
const TEXT_AT_MOST: usize = 1 << 20;

/// Builds the suite. Returns `None` if that is impossible; every mistake is in `problems`.
pub fn build(
    typed: SuiteFile,
    file: &str,
    known: &Known,
    origin: Origin,
    survey: &[String],
    problems: &mut Problems,
) -> Option<Suite> {
    let is_survey = typed.suite.as_ref().is_some_and(|id| id.value == SURVEY);
    let connection = typed.connection.unwrap_or(Connection::Shared);
    let subject = typed.subject.unwrap_or(Side::Server);
    let mut lint = Lint {
        known,
        origin,
        problems,
        survey: (!is_survey && subject == Side::Server).then_some(survey),
        values: Vec::new(),
        rows: Vec::new(),
        loops: Vec::new(),
        names: Vec::new(),
        shapes: Vec::new(),
        subscriptions: Vec::new(),
        to_pages: Vec::new(),
        in_rules: false,
        subject,
        is_profile: typed.profile.is_some(),
        alone: connection == Connection::PerCall,
    };
    let profile = lint.profile(&typed);
    let id = lint.needs(&typed.typed, "suite", typed.suite);
    id.as_ref().inspect(|id| lint.check_id(id));
    let about = lint.needs(&typed.typed, "about", typed.about);
    let applies = lint.applies(typed.applies, Window::ALWAYS);
    let window = Window::of(&applies);
    let values = lint.values(typed.values, window);
    lint.values = values.keys().chain(&known.values).cloned().collect();
    lint.rows = values.iter().flat_map(|(name, rows)| rows.iter().map(move |row| row_of(name, row))).collect();
    let scenario = lint.scenario(&typed.typed, typed.world, typed.drive, typed.answers.as_ref(), typed.patience);
    let mut gather = lint.steps(typed.gather, window);
    lint.in_rules = true;
    let rules = typed.rules.into_iter().flat_map(|rules| rules.0);
    let rules: Vec<_> = rules.filter_map(|rule| lint.rule(rule, window)).collect();
    for step in gather.iter_mut().filter(|step| !is_survey && step.each.is_none()) {
        if let (Verb::List(list), Some(save)) = (&mut step.verb, &step.save) {
            let mut to_pages = lint.to_pages.iter().filter(|path| path.root == *save);
            list.by_page = to_pages.any(|path| path.is_whole() || path.may_select_in_pages(&list.take));
        }
    }
    let untested = typed.untested.into_iter().flatten().filter_map(|untested| lint.untested(untested)).collect();
    Some(Suite {
        id: id?.value,
        about: about?.value,
        file: file.to_owned(),
        profile,
        subject,
        scenario,
        generated: rules.iter().any(Rule::looks_at_generated),
        applies,
        replaces: typed.replaces.map(|replaced| replaced.0).into_iter().flatten().map(|id| id.value).collect(),
        connection,
        capabilities: typed.capabilities,
        requires: typed.requires.map(|suites| suites.0).into_iter().flatten().map(|id| id.value).collect(),
        values,
        gather,
        rules,
        untested,
    })
}

fn row_of(name: &str, row: &ValueRow) -> (String, Option<Revision>, Option<Revision>, Value) {
    (name.to_owned(), row.since, row.until, row.is.clone())
}

/// Keys for suites about clients, and keys for suites about servers.
const ABOUT_CLIENTS: [&str; 4] = ["world", "drive", "answers", "patience"];
const ABOUT_SERVERS: [&str; 3] = ["gather", "connection", "capabilities"];
/// Stands for the reference server without a fault.
const USUAL: &str = "usual";

impl Lint<'_> {
    fn scenario(
        &mut self,
        own: &Typed,
        world: Option<At<String>>,
        drive: Option<Vec<Tree>>,
        answers: Option<&Tree>,
        patience: Option<usize>,
    ) -> Option<Scenario> {
        let (foreign, subject): (&[&str], _) = match self.subject {
            Side::Server => (&ABOUT_CLIENTS, "servers"),
            Side::Client => (&ABOUT_SERVERS, "clients"),
            Side::Gateway => (&ABOUT_SERVERS, "gateways"),
            Side::AuthorizationServer => (&ABOUT_CLIENTS, "authorization servers"),
        };
        for key in foreign.iter().filter(|key| own.has(key)) {
            self.problems.add(own.place(key), format!("`{key}` has no meaning in a suite about {subject}"));
        }
        if world.is_none() && matches!(self.subject, Side::Client | Side::Gateway) {
            for key in ABOUT_CLIENTS.into_iter().filter(|key| own.has(key)) {
                self.problems.add(own.place(key), format!("`{key}` needs `world`"));
            }
        }
        let world = world?;
        if world.value != USUAL {
            self.one_known(&world, "world", &self.known.worlds);
        }
        let drive = drive.into_iter().flatten().filter_map(|action| self.action(&action)).collect();
        Some(Scenario {
            world: world.value,
            drive,
            answers: answers.map(Value::from).unwrap_or_default(),
            patience: patience.map_or(Duration::ZERO, |ms| Duration::from_millis(ms as u64)),
        })
    }

    fn values(&mut self, typed: Option<Pairs<Vec<file::ValueRow>>>, outer: Window) -> IndexMap<String, Vec<ValueRow>> {
        let mut values = IndexMap::new();
        for (name, rows) in typed.map(|pairs| pairs.0).into_iter().flatten() {
            if rows.is_empty() {
                self.problems.add(name.at, "a value needs at least one row");
            }
            let rows = rows.into_iter().filter_map(|row| self.row(row, outer)).collect();
            values.insert(name.value, rows);
        }
        values
    }

    fn row(&mut self, typed: file::ValueRow, outer: Window) -> Option<ValueRow> {
        self.window(typed.since.as_ref(), typed.until.as_ref(), outer);
        let is = self.needs(&typed.typed, "is", typed.is)?;
        let Template::Literal(value) = self.template(&is)? else {
            self.problems.add(is.at, "a value must be a constant, without references");
            return None;
        };
        let value = match (typed.times, value) {
            (None, value) => value,
            (Some(times), serde_json::Value::String(text)) if text.len().saturating_mul(times) <= TEXT_AT_MOST => {
                text.repeat(times).into()
            }
            (Some(_), _) => {
                self.problems.add(is.at, format!("`times` repeats a string, up to {TEXT_AT_MOST} bytes"));
                return None;
            }
        };
        Some(ValueRow {
            since: typed.since.map(|since| since.value),
            until: typed.until.map(|until| until.value),
            is: value,
        })
    }
}
