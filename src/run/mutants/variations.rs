//! What the trials of variations show together: the verdicts that a variation changed without naming them.

use std::collections::BTreeSet;

use super::trial::{Shown, Trial};
use crate::error::exit;

#[derive(Default)]
pub struct Variations {
    trials: usize,
    names: BTreeSet<String>,
    lines: Vec<String>,
    flaws: Vec<String>,
}

impl Variations {
    pub fn add(&mut self, trial: &Trial, shown: &Shown) {
        self.trials += 1;
        self.names.extend(trial.fault.clone());
        let wrong = wrong(trial, shown);
        let name = trial.name();
        self.lines.push(match &wrong {
            None => format!("✓ {name}  {}", passed(shown)),
            Some(wrong) => format!("✗ {name}  {wrong}"),
        });
        self.flaws.extend(wrong.map(|wrong| format!("{name}: {wrong}")));
    }

    /// One line for each trial.
    pub fn table(&self) -> impl Iterator<Item = String> {
        self.lines.iter().cloned()
    }

    pub fn flaws(&self) -> &[String] {
        &self.flaws
    }

    pub fn summary(&self) -> String {
        format!(
            "{} variations in {} trials: {} trials with verdicts that no variation may change",
            self.names.len(),
            self.trials,
            self.flaws.len()
        )
    }
}

fn passed(shown: &Shown) -> String {
    shown.stopped.as_ref().map_or_else(|| format!("{} passed", shown.passed), |_| "no run, as it has to be".to_owned())
}

fn wrong(trial: &Trial, shown: &Shown) -> Option<String> {
    match (trial.stops, &shown.stopped) {
        (Some(says), Some(why)) if shown.code == exit::UNREACHABLE && why.contains(says) => None,
        (Some(says), Some(why)) => Some(format!("exit code {}, and not with `{says}`: {why}", shown.code)),
        (Some(says), None) => Some(format!("it prevents every run, and there was one; expected `{says}`")),
        (None, Some(why)) => Some(format!("no run: {}", why.lines().map(str::trim).collect::<Vec<_>>().join("; "))),
        (None, None) if !shown.undeclared.is_empty() => Some(format!("changes {}", shown.undeclared.join(", "))),
        (None, None) if shown.passed == 0 => Some("no rule passed".to_owned()),
        (None, None) => None,
    }
}
