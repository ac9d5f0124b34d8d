//! How many mutants of each message, and of each operator, are of which class.

use std::collections::BTreeMap;

use super::{
    derive::Mutant,
    ledger::{CLASSES, Class},
};

type Counts = [usize; CLASSES.len()];

#[derive(Default)]
pub struct Table {
    messages: BTreeMap<String, Counts>,
    operators: BTreeMap<&'static str, Counts>,
    total: Counts,
}

impl Table {
    pub fn add(&mut self, mutant: &Mutant, class: &Class) {
        let message = mutant.place.split(" /").next().unwrap_or_default().to_owned();
        let counts = [
            self.messages.entry(message).or_default(),
            self.operators.entry(mutant.operator).or_default(),
            &mut self.total,
        ];
        for counts in counts {
            counts[class.column()] += 1;
        }
    }

    pub fn lines(&self) -> impl Iterator<Item = String> {
        let row = |name: &str, counts: &Counts| {
            let counts: String = counts.iter().map(|count| format!("{count:>11}")).collect();
            format!("{name:50}{counts}")
        };
        let head: String = CLASSES.iter().map(|class| format!("{class:>11}")).collect();
        let mut lines = vec![format!("{:50}{head}", "")];
        lines.extend(self.messages.iter().map(|(name, counts)| row(name, counts)));
        lines.push(String::new());
        lines.extend(self.operators.iter().map(|(name, counts)| row(name, counts)));
        lines.push(String::new());
        lines.push(row("all", &self.total));
        lines.into_iter()
    }
}
