//! The results of all trials of variations: verdicts that a variation changed without naming them.

use std::collections::BTreeMap;

use mcp_conform::{
    error::exit,
    run::{
        process::console,
        trials::{LONGEST, Shown, Trial},
    },
};

#[derive(Default)]
pub struct Variations {
    trials: usize,
    /// The verdicts that each variation names and did not change in any trial.
    idle: BTreeMap<String, Vec<String>>,
    lines: Vec<String>,
    flaws: Vec<String>,
}

impl Variations {
    pub fn add(&mut self, trial: &Trial, shown: &Shown) {
        self.trials += 1;
        let idle = self.idle.entry(trial.fault.clone().unwrap_or_default()).or_insert_with(|| trial.also.clone());
        idle.retain(|rule| shown.unaffected.contains(rule));
        let wrong = wrong(trial, shown);
        let name = trial.name();
        let mark = if wrong.is_none() { "✓" } else { "✗" };
        self.lines.push(format!("{mark} {name}  {}", passed(shown)));
        self.flaws.extend(wrong.map(|wrong| format!("{name}: {wrong}")));
    }

    /// One line per trial.
    pub fn table(&self) -> impl Iterator<Item = String> {
        self.lines.iter().cloned()
    }

    /// Deviations. `whole`: no trial was skipped.
    pub fn flaws(&self, whole: bool) -> Vec<String> {
        let mut flaws = self.flaws.clone();
        let idle =
            self.idle.iter().filter(|_| whole).flat_map(|(name, rules)| rules.iter().map(move |rule| (name, rule)));
        flaws.extend(idle.map(|(name, rule)| format!("{name} names {rule} and never changes it")));
        flaws
    }

    pub fn summary(&self, flaws: &[String]) -> String {
        format!(
            "{} in {}; {}",
            console::counted(self.idle.len(), "variation"),
            console::counted(self.trials, "trial"),
            console::counted(flaws.len(), "flaw")
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
        (None, None) if shown.took > LONGEST => Some(format!("took {:?}", shown.took)),
        (None, None) if shown.passed == 0 => Some("no rule passed".to_owned()),
        (None, None) => None,
    }
}
