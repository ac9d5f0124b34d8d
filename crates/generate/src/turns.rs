//! The order of the calls: each subject gets its share of the calls and of the time.

use std::collections::HashMap;

use super::{calls::Source, item::Item, observe::SLOW, subject::What};

/// Calls of each tool for each call of a prompt, a template, a completion or a list.
const TURNS: usize = 2;

/// The order in which the sources take turns.
pub fn turns(sources: &[Source]) -> Vec<usize> {
    let tools: Vec<usize> = (0..sources.len()).filter(|index| sources[*index].subject.what == What::Tool).collect();
    let others: Vec<usize> = (0..sources.len()).filter(|index| !tools.contains(index)).collect();
    if tools.is_empty() {
        return others;
    }
    let mut order = Vec::new();
    (0..TURNS).for_each(|_| order.extend(&tools));
    order.extend(others);
    order
}

/// What a call may cost besides its time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Loss {
    /// It had no response within the timeout, which is the time of hundreds of calls.
    Response,
    /// It ended the server, whose starts are limited. The remaining ones are for confirming findings.
    Server,
}

/// After this many calls with the same loss a source gets no more turns.
const LOSSES: usize = 6;

/// What the calls of each source cost.
#[derive(Default)]
pub struct Spent {
    ms: HashMap<usize, u64>,
    passed: HashMap<usize, usize>,
    lost: HashMap<(usize, Loss), usize>,
}

/// A source that took most of the time skips this many turns.
const PASSED: usize = 8;

impl Spent {
    pub fn add(&mut self, index: usize, item: &Item) {
        *self.ms.entry(index).or_default() += item.ms;
    }

    /// Counts a loss. If there were too many, the note says so, and the source should get no more turns.
    pub fn lose(&mut self, index: usize, loss: Loss, name: &str) -> Option<String> {
        let times = self.lost.entry((index, loss)).or_default();
        *times += 1;
        let what = match loss {
            Loss::Response => format!("{LOSSES} calls had no response"),
            Loss::Server => format!("the server exited after {LOSSES} calls"),
        };
        (*times == LOSSES).then(|| format!("{name}: {what}; no more were made"))
    }

    pub fn has_lost(&self, index: usize, loss: Loss) -> bool {
        self.lost.contains_key(&(index, loss))
    }

    /// Whether this source skips its turn because it took more time than all others together.
    pub fn is_turn_of_others(&mut self, index: usize) -> bool {
        let own = self.ms.get(&index).copied().unwrap_or_default();
        if own <= SLOW || own * 2 <= self.ms.values().sum() {
            return false;
        }
        let passed = self.passed.entry(index).or_default();
        *passed = (*passed + 1) % (PASSED + 1);
        *passed != 0
    }
}
