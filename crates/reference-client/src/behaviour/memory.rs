//! The state that some faults need between messages.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use conform_faults::Counters;

#[derive(Default)]
pub struct Memory {
    /// Counters by name.
    pub counts: HashMap<&'static str, u64>,
    /// Counters by method, URI or the like.
    pub tallies: HashMap<String, u64>,
    /// Values by name.
    pub values: HashMap<&'static str, Value>,
    /// Texts that occurred before.
    pub seen: HashSet<String>,
    /// Messages that are held back.
    pub held: Vec<Value>,
    /// Messages that the edits of a fault have selected.
    pub edited: Counters,
}

impl Memory {
    /// How often this was called with the name, from 1.
    pub fn count(&mut self, name: &'static str) -> u64 {
        let count = self.counts.entry(name).or_default();
        *count += 1;
        *count
    }

    /// How often this was called with the text, from 1.
    pub fn tally(&mut self, text: &str) -> u64 {
        let count = self.tallies.entry(text.to_owned()).or_default();
        *count += 1;
        *count
    }

    /// Whether this is the first call with the name.
    pub fn first(&mut self, name: &'static str) -> bool {
        self.count(name) == 1
    }

    pub fn keep(&mut self, name: &'static str, value: Value) {
        self.values.insert(name, value);
    }

    /// Null if there is none.
    pub fn kept(&self, name: &'static str) -> Value {
        self.values.get(name).cloned().unwrap_or_default()
    }
}
