//! The rules that look at what passes by, and what each of them waits for: found out once, as all of it passes all of them.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    item::{Item, judge_item},
    tally::Tally,
};
use crate::{
    revision::Revision,
    suite::{Filter, Path, STREAMED, Scope, Test},
};

/// Rules without `every` over a streamed name judge all items that it selects together; more than these are left out.
const COLLECTED_AT_MOST: usize = 10_000;

pub struct Audience<'t, 'a> {
    revision: Revision,
    seats: Vec<Seat<'t, 'a>>,
    /// Who waits for the items of each streamed name.
    waiting: HashMap<&'static str, Vec<Row<'a>>>,
}

/// Seats with a view of the same items: all that pass the filter. Many rules are about one method.
struct Row<'a> {
    filter: Option<&'a Filter>,
    /// Each with the paths that lead into the items.
    seats: Vec<(usize, Vec<&'a Path>)>,
}

struct Seat<'t, 'a> {
    tally: &'t mut Tally<'a>,
    collected: Vec<Value>,
}

impl<'t, 'a> Audience<'t, 'a> {
    pub fn new(revision: Revision) -> Self {
        Self { revision, seats: Vec::new(), waiting: HashMap::new() }
    }

    /// Takes a rule in, or gives it back if it looks at nothing that passes by.
    pub fn seat(&mut self, tally: &'t mut Tally<'a>) -> Option<&'t mut Tally<'a>> {
        let paths = looked_at(tally);
        let mut takes_part = false;
        for root in STREAMED {
            let paths: Vec<&Path> = paths.iter().copied().filter(|path| path.root == root).collect();
            if !paths.is_empty() {
                takes_part = true;
                let filter = paths[0].first_filter().filter(|_| paths.len() == 1);
                let rows = self.waiting.entry(root).or_default();
                let row = rows.iter().position(|row| row.filter == filter).unwrap_or_else(|| {
                    rows.push(Row { filter, seats: Vec::new() });
                    rows.len() - 1
                });
                rows[row].seats.push((self.seats.len(), paths));
            }
        }
        if !takes_part {
            return Some(tally);
        }
        self.seats.push(Seat { tally, collected: Vec::new() });
        None
    }

    pub fn waits_for(&self, root: &str) -> bool {
        self.waiting.contains_key(root)
    }

    /// Whether nobody waits for an item like this, whatever its `lacking` member will be.
    pub fn turns_away(&self, root: &str, item: &Value, lacking: &str) -> bool {
        let rows = self.waiting.get(root).into_iter().flatten();
        rows.map(|row| row.filter).all(|filter| filter.is_some_and(|filter| filter.fails_without(item, lacking)))
    }

    /// One item passes by, as the only element of the array that the streamed name stands for.
    pub fn look(&mut self, root: &str, item: Value) {
        let Some(rows) = self.waiting.get(root) else { return };
        let items = Value::Array(vec![item]);
        for row in rows.iter().filter(|row| row.filter.is_none_or(|filter| filter.holds(&items[0]))) {
            for (seat, paths) in &row.seats {
                self.seats[*seat].look(paths, &items, self.revision);
            }
        }
    }

    /// Everything has passed by.
    pub fn leave(self) {
        for Seat { tally, collected } in self.seats {
            if !collected.is_empty() {
                let collected = Value::Array(collected);
                let mut inner = Scope::over(tally.ground);
                for root in STREAMED {
                    inner.bind(root, &collected);
                }
                judge_item(tally, &inner, self.revision, None);
            }
        }
    }
}

impl Seat<'_, '_> {
    fn look(&mut self, paths: &[&Path], items: &Value, revision: Revision) {
        let rule = self.tally.rule;
        if let Some(every) = &rule.every {
            for path in paths {
                for node in &path.select_in(items) {
                    let mut inner = Scope::over(self.tally.ground);
                    inner.bind(every.var.as_str(), node.value);
                    judge_item(self.tally, &inner, revision, Some(&Item { var: &every.var, path, root: items, node }));
                }
            }
        } else if matches!(rule.test, Test::Observe(_)) {
            for path in paths {
                for node in path.select_in(items) {
                    self.tally.checked += 1;
                    self.tally.observe(path, node.value);
                }
            }
        } else if self.collected.len() < COLLECTED_AT_MOST && paths.iter().any(|path| !path.select_in(items).is_empty())
        {
            self.collected.extend(items.get(0).cloned());
        }
    }
}

/// Where a rule looks, apart from what it compares with.
fn looked_at<'a>(tally: &Tally<'a>) -> Vec<&'a Path> {
    let rule = tally.rule;
    match (&rule.every, &rule.test) {
        (Some(every), _) => every.over.iter().collect(),
        (None, Test::Expect(clauses)) => clauses.iter().map(|clause| &clause.subject).collect(),
        (None, Test::Observe(paths)) => paths.iter().collect(),
        (None, Test::Check { given, .. }) => given.iter().flat_map(|(_, template)| template.references()).collect(),
    }
}
