//! The results of all trials together: the rules that caught each fault, and what is not proved.

use std::collections::{BTreeMap, BTreeSet};

use mcp_conform::{
    outcome::Level,
    run::{
        process::console::counted,
        trials::{LONGEST, Shown, Trial},
    },
    suite::{Rule, Suite},
};

#[derive(Default)]
pub struct Matrix {
    trials: usize,
    rows: BTreeMap<String, Row>,
    /// Failures in trials without a fault.
    alarms: Vec<String>,
}

/// One fault in all its trials.
#[derive(Default)]
struct Row {
    /// Rules that name the fault and failed because of it somewhere.
    caught: BTreeSet<String>,
    trials: usize,
    /// Trials in which no such rule failed, and what happened instead.
    missed: Vec<String>,
    /// Differences between the trial with all suites and the declaration of the fault.
    collateral: Vec<String>,
}

impl Matrix {
    pub fn add(&mut self, trial: &Trial, shown: &Shown) {
        let seen = || {
            let Shown { others, broken, stopped, .. } = shown;
            let why = stopped.iter().flat_map(|why| why.lines()).map(str::trim).collect::<Vec<_>>().join("; ");
            let failed = others.iter().chain(broken).map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("{} [{failed}{why}]", trial.name())
        };
        self.trials += 1;
        if let Some(fault) = &trial.fault {
            let row = self.rows.entry(fault.clone()).or_default();
            row.trials += 1;
            row.caught.extend(shown.caught.iter().cloned());
            row.missed.extend(shown.caught.is_empty().then(seen));
            if trial.all_suites {
                let took = shown.took;
                row.collateral.extend((took > LONGEST).then(|| format!("{} took {took:?}", trial.name())));
                let undeclared = shown.undeclared.iter().map(|id| format!("also breaks {id}, which is not declared"));
                let unaffected =
                    shown.unaffected.iter().map(|id| format!("is declared to break {id}, which it does not"));
                row.collateral.extend(undeclared.chain(unaffected).map(|what| format!("{} {what}", trial.name())));
            }
        } else if !(shown.others.is_empty() && shown.broken.is_empty() && shown.stopped.is_none()) {
            self.alarms.push(seen());
        }
    }

    /// One line per fault.
    pub fn table(&self) -> impl Iterator<Item = String> {
        self.rows.iter().map(|(fault, row)| {
            let (caught, of) = (row.trials - row.missed.len(), row.trials);
            let mark = if row.missed.is_empty() { "✓" } else { "✗" };
            let by = row.caught.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("{mark} {fault}  ({caught} of {of})  {by}")
        })
    }

    /// What is not proved. `whole`: no trial of the faults was skipped.
    pub fn flaws(&self, suites: &[Suite], whole: bool) -> Vec<String> {
        let mut flaws: Vec<String> =
            self.alarms.iter().map(|alarm| format!("failed without a fault: {alarm}")).collect();
        for (fault, row) in &self.rows {
            flaws.extend(row.missed.iter().map(|missed| format!("not caught by a rule that names it: {missed}")));
            // The trial that runs all suites depends on which trials there are.
            flaws.extend(row.collateral.iter().filter(|_| whole).cloned());
            let naming = strict_rules(suites).filter(|rule| whole && rule.faults.contains(fault));
            let idle = naming.filter(|rule| !row.caught.contains(&rule.id));
            flaws.extend(idle.map(|rule| format!("{} names {fault} and never fails because of it", rule.id)));
        }
        flaws
    }

    pub fn summary(&self, suites: &[Suite]) -> String {
        let proven: BTreeSet<&String> = self.rows.values().flat_map(|row| &row.caught).collect();
        format!(
            "{}: {} of {} faults caught wherever they can show, {} of {} rules seen to fail, {}",
            counted(self.trials, "trial"),
            self.rows.values().filter(|row| row.missed.is_empty()).count(),
            self.rows.len(),
            strict_rules(suites).filter(|rule| proven.contains(&rule.id)).count(),
            strict_rules(suites).count(),
            counted(self.alarms.len(), "false alarm")
        )
    }
}

/// The rules above MAY.
pub fn strict_rules(suites: &[Suite]) -> impl Iterator<Item = &Rule> {
    // Rules that only generated calls can break are proved by `generate`.
    let run = suites.iter().filter(|suite| !suite.generated);
    run.flat_map(|suite| &suite.rules).filter(|rule| rule.level != Level::May)
}
