//! Which rules found similar mutants. They are tried first, as a run with few rules takes a fraction of one with all.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use super::{NO_CONNECTION, derive::Mutant, ledger::Ledger};

/// How many rules are tried before all are.
const TRIED: usize = 4;

#[derive(Default)]
pub struct Hints(Mutex<HashMap<String, Vec<String>>>);

impl Hints {
    pub fn of_ledger(ledger: &Ledger) -> Self {
        let hints = Self::default();
        for (place, operator, rule) in ledger.found().filter(|(_, _, rule)| *rule != NO_CONNECTION) {
            hints.add(place, operator, rule);
        }
        hints
    }

    pub fn of(&self, mutant: &Mutant) -> Vec<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rules: Vec<String> = Vec::new();
        for rule in keys(&mutant.place, mutant.operator).iter().filter_map(|key| known.get(key)).flatten() {
            if rules.len() < TRIED && !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
        rules
    }

    pub fn add(&self, place: &str, operator: &str, rule: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for key in keys(place, operator) {
            let rules = known.entry(key).or_default();
            if !rules.iter().any(|known| known == rule) {
                rules.push(rule.to_owned());
            }
        }
    }
}

/// What a mutant has in common with others: from the mutant itself to its message.
fn keys(place: &str, operator: &str) -> [String; 4] {
    let message = place.split(" /").next().unwrap_or_default();
    [format!("{place}: {operator}"), place.to_owned(), format!("{message}: {operator}"), message.to_owned()]
}
