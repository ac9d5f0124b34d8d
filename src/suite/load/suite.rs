//! One suite, part by part.

use indexmap::IndexMap;
use serde_json::Value;

use super::{Known, Origin, SURVEY, lint::Lint, window::Window};
use crate::{
    revision::Revision,
    suite::{
        decode::Pairs,
        diagnostic::Problems,
        file::{self, SuiteFile},
        model::{Client, Connection, Suite, Template, ValueRow},
    },
};

/// How long a text may become that is repeated.
const TEXT_AT_MOST: usize = 1 << 20;

/// The suite, unless it cannot be put together; every mistake is noted in `problems`.
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
    let mut lint = Lint {
        known,
        origin,
        problems,
        survey: (!is_survey).then_some(survey),
        values: Vec::new(),
        rows: Vec::new(),
        loops: Vec::new(),
        names: Vec::new(),
        shapes: Vec::new(),
        subscriptions: Vec::new(),
        in_rules: false,
        alone: connection == Connection::Alone,
    };
    let id = lint.needs(&typed.typed, "suite", typed.suite);
    id.as_ref().inspect(|id| lint.check_id(id));
    let about = lint.needs(&typed.typed, "about", typed.about);
    let applies = lint.applies(typed.applies, Window::ALWAYS);
    let window = Window::of(&applies);
    let values = lint.values(typed.values, window);
    lint.values = values.keys().cloned().collect();
    lint.rows = values.iter().flat_map(|(name, rows)| rows.iter().map(move |row| row_of(name, row))).collect();
    let gather = lint.steps(typed.gather, window);
    lint.in_rules = true;
    let rules = typed.rules.into_iter().flatten().filter_map(|rule| lint.rule(rule, window)).collect();
    let untested = typed.untested.into_iter().flatten().filter_map(|untested| lint.untested(untested)).collect();
    Some(Suite {
        id: id?.value,
        about: about?.value,
        file: file.to_owned(),
        applies,
        replaces: typed.replaces.map(|replaced| replaced.0).into_iter().flatten().map(|id| id.value).collect(),
        connection,
        client: typed.capabilities.unwrap_or(Client::Full),
        evidence: typed.requires.map(|suites| suites.0).into_iter().flatten().map(|id| id.value).collect(),
        values,
        gather,
        rules,
        untested,
    })
}

fn row_of(name: &str, row: &ValueRow) -> (String, Option<Revision>, Option<Revision>, Value) {
    (name.to_owned(), row.since, row.until, row.is.clone())
}

impl Lint<'_> {
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
