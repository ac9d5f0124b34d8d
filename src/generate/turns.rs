//! Whose turn it is: each kind gets its share of the calls, and of the time.

use std::collections::HashMap;

use serde_json::Value;

use super::{calls::Source, observe::SLOW, subject::What};

/// Turns of each tool for one of a prompt, a template, a completion and a list.
const TURNS: usize = 2;

/// The order in which the sources take turns.
pub fn turns(sources: &[Source]) -> Vec<usize> {
    let tools: Vec<usize> = (0..sources.len()).filter(|index| sources[*index].subject.what == What::Tool).collect();
    let others: Vec<usize> = (0..sources.len()).filter(|index| !tools.contains(index)).collect();
    if tools.is_empty() {
        return others;
    }
    // One of each kind in turn: there may be many completions, and few prompts.
    let of = |what: What| {
        others.iter().copied().filter(move |index| sources[*index].subject.what == what).collect::<Vec<_>>()
    };
    let kinds = [What::Prompt, What::Template, What::List, What::Completion].map(of);
    let rounds = kinds.iter().map(Vec::len).max().unwrap_or_default().max(1);
    let mut order = Vec::new();
    for round in 0..rounds {
        (0..TURNS).for_each(|_| order.extend(&tools));
        order.extend(kinds.iter().filter_map(|kind| kind.get(round % kind.len().max(1))));
    }
    order
}

/// The time that each source took.
#[derive(Default)]
pub struct Spent {
    ms: HashMap<usize, u64>,
    passed: HashMap<usize, usize>,
}

/// Turns that a source passes which takes most of the time.
const PASSED: usize = 8;

impl Spent {
    pub fn add(&mut self, index: usize, item: &Value) {
        *self.ms.entry(index).or_default() += item["ms"].as_u64().unwrap_or_default();
    }

    /// Whether this source took more time than all others together. It gets a turn now and then, however.
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
