//! The rules over streamed items, grouped by the items that they select: most items concern few rules.

use std::{cell::LazyCell, collections::HashMap};

use serde_json::Value;

use super::{
    item::{judge_item, unread},
    located::Item,
    tally::Tally,
};
use conform_model::revision::Revision;
use conform_suite::{Demand, Filter, Path, Rule, Scope, Test, views};

/// Rules without `every` over a streamed name judge all selected items together. Items beyond this number are dropped.
const COLLECTED_AT_MOST: usize = 10_000;

/// The fields that an exchange gets from its response.
const RESPONSE: &[&str] = &["end", "result", "error", "reply", "replies"];

pub struct Audience<'t, 'a> {
    revision: Revision,
    seats: Vec<Seat<'t, 'a>>,
    /// The rules over each streamed name.
    waiting: HashMap<&'static str, Rows<'a>>,
}

/// Rows indexed by the text that their filters require, so that most filters are not evaluated for an item.
#[derive(Default)]
struct Rows<'a> {
    all: Vec<Row<'a>>,
    undemanding: Vec<usize>,
    demanding: Vec<(Demand<'a>, HashMap<&'a str, Vec<usize>>)>,
}

/// The rules with the same filter, which is evaluated once. Many rules are about one method.
struct Row<'a> {
    filter: Option<&'a Filter>,
    /// Seats by index, with the paths that select in the items.
    seats: Vec<(usize, Vec<&'a Path>)>,
}

/// One rule, or several rules that judge the same items together; those items are kept once.
struct Seat<'t, 'a> {
    tallies: Vec<&'t mut Tally<'a>>,
    collected: Vec<Value>,
}

impl<'t, 'a> Audience<'t, 'a> {
    pub fn new(revision: Revision) -> Self {
        Self { revision, seats: Vec::new(), waiting: HashMap::new() }
    }

    /// Adds a rule, or returns it if it judges no streamed items.
    pub fn add_rule(&mut self, tally: &'t mut Tally<'a>) -> Option<&'t mut Tally<'a>> {
        let paths = looked_at(tally);
        let collects = !goes_one_by_one(tally.rule);
        let alike = |seat: &&mut Seat<'t, 'a>| {
            let first = &*seat.tallies[0];
            !goes_one_by_one(first.rule) && looked_at(first) == paths
        };
        if let Some(seat) = self.seats.iter_mut().filter(|_| collects).find(alike) {
            seat.tallies.push(tally);
            return None;
        }
        let mut takes_part = false;
        for (root, _) in views::streamed(tally.suite.subject) {
            let is_there = |path: &&Path| path.streamed && path.root == *root;
            let paths: Vec<&Path> = paths.iter().copied().filter(is_there).collect();
            // The items for a rule are collected once, whichever of its paths select them.
            let together = if collects { paths.len().max(1) } else { 1 };
            for paths in paths.chunks(together) {
                takes_part = true;
                let filter = paths[0].first_filter().filter(|_| paths.len() == 1);
                let row = self.waiting.entry(root).or_default().row(filter);
                row.seats.push((self.seats.len(), paths.to_vec()));
            }
        }
        if !takes_part {
            return Some(tally);
        }
        self.seats.push(Seat { tallies: vec![tally], collected: Vec::new() });
        None
    }

    /// The distinct filters of the rules over that name.
    pub fn filters(&self, root: &str) -> impl Iterator<Item = Option<&'a Filter>> {
        self.waiting.get(root).into_iter().flat_map(|rows| &rows.all).map(|row| row.filter)
    }

    /// Judges one item, which is the only element of the array that the streamed name stands for.
    pub fn look(&mut self, root: &str, items: &Value) {
        let Some(rows) = self.waiting.get(root) else { return };
        if let Some(why) = unread(&items[0]) {
            let needs = |row: &&Row| row.filter.is_none_or(|filter| !filter.fails_without(&items[0], RESPONSE));
            for (seat, _) in rows.all.iter().filter(needs).flat_map(|row| &row.seats) {
                for tally in &mut self.seats[*seat].tallies {
                    tally.unread.get_or_insert_with(|| why.clone());
                }
            }
            return;
        }
        for row in rows.open_to(&items[0]) {
            for (seat, paths) in &row.seats {
                self.seats[*seat].look(paths, items, self.revision);
            }
        }
    }

    /// Judges the collected items at the end of the run.
    pub fn leave(self) {
        for Seat { tallies, collected } in self.seats.into_iter().filter(|seat| !seat.collected.is_empty()) {
            let collected = Value::Array(collected);
            for tally in tallies {
                let mut inner = Scope::over(tally.ground);
                for (root, _) in views::streamed(tally.suite.subject) {
                    inner.bind(*root, &collected);
                }
                judge_item(tally, &inner, self.revision, None);
            }
        }
    }
}

impl<'a> Rows<'a> {
    /// The row with that filter.
    fn row(&mut self, filter: Option<&'a Filter>) -> &mut Row<'a> {
        let known = self.all.iter().position(|row| row.filter == filter);
        let row = known.unwrap_or_else(|| {
            self.all.push(Row { filter, seats: Vec::new() });
            self.enter(self.all.len() - 1, filter);
            self.all.len() - 1
        });
        &mut self.all[row]
    }

    fn enter(&mut self, row: usize, filter: Option<&'a Filter>) {
        let Some(demand) = filter.and_then(Filter::demand) else { return self.undemanding.push(row) };
        let texts = demand.texts.clone();
        let known = self.demanding.iter().position(|(known, _)| known.is_on_the_same_as(&demand));
        let index = known.unwrap_or_else(|| {
            self.demanding.push((demand, HashMap::new()));
            self.demanding.len() - 1
        });
        for text in texts {
            let rows = self.demanding[index].1.entry(text).or_default();
            if rows.last() != Some(&row) {
                rows.push(row);
            }
        }
    }

    /// The rows whose filters match the item.
    fn open_to<'r>(&'r self, item: &'r Value) -> impl Iterator<Item = &'r Row<'a>> {
        let met = self.demanding.iter().filter_map(|(demand, rows)| rows.get(demand.text_of(item)?));
        let rows = met.flatten().chain(&self.undemanding).map(|row| &self.all[*row]);
        rows.filter(|row| row.filter.is_none_or(|filter| filter.holds(item)))
    }
}

impl Seat<'_, '_> {
    fn look(&mut self, paths: &[&Path], items: &Value, revision: Revision) {
        let tally = &mut *self.tallies[0];
        let rule = tally.rule;
        if let Some(every) = &rule.every {
            let mut inner = Scope::over(tally.ground);
            for path in paths {
                // Locations are built on demand: most items pass, and then no location is needed.
                let located = LazyCell::new(|| path.select_in(items));
                for (index, value) in path.values_in(items).into_iter().enumerate() {
                    inner.bind(every.var.as_str(), value);
                    let location = || located[index].location.clone();
                    let item =
                        Item { suite: tally.suite, var: &every.var, path, root: items, value, location: &location };
                    judge_item(tally, &inner, revision, Some(&item));
                }
            }
        } else if matches!(rule.test, Test::Observe(_)) {
            for path in paths {
                for value in path.values_in(items) {
                    tally.checked += 1;
                    tally.observe(path, value);
                }
            }
        } else if self.collected.len() < COLLECTED_AT_MOST && paths.iter().any(|path| !path.values_in(items).is_empty())
        {
            self.collected.extend(items.get(0).cloned());
        }
    }
}

/// Whether a rule judges each item by itself, instead of all items together.
pub fn goes_one_by_one(rule: &Rule) -> bool {
    rule.every.is_some() || matches!(rule.test, Test::Observe(_))
}

/// The paths of a rule, without those of its operands.
fn looked_at<'a>(tally: &Tally<'a>) -> Vec<&'a Path> {
    let rule = tally.rule;
    match (&rule.every, &rule.test) {
        (Some(every), _) => every.over.iter().collect(),
        (None, Test::Expect(clauses)) => clauses.iter().map(|clause| &clause.subject).collect(),
        (None, Test::Observe(paths)) => paths.iter().collect(),
        (None, Test::Check { given, .. }) => given.iter().flat_map(|(_, template)| template.references()).collect(),
    }
}
