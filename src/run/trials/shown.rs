//! What a trial showed.

use std::{collections::HashSet, time::Duration};

use super::{conducted::Conducted, trial::Trial};
use crate::{
    outcome::Status,
    suite::{Rule, Suite},
};

/// How long a run may take on any fault or variation at the default limits: a goal, not a measurement.
pub const LONGEST: Duration = Duration::from_secs(35);

/// The result of a trial.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Rules that failed and name the fault.
    pub caught: Vec<String>,
    /// Rules that name the fault, apply, and did not fail.
    pub idle: Vec<String>,
    /// Rules that failed and do not name it.
    pub others: Vec<String>,
    /// Rules that failed, warned or broke, and that the fault neither names nor declares.
    pub undeclared: Vec<String>,
    /// Rules that the fault declares, and that neither failed, warned nor broke.
    pub unaffected: Vec<String>,
    /// Rules that could not be judged because of an error.
    pub broken: Vec<String>,
    /// Why there was no run.
    pub stopped: Option<String>,
    pub code: u8,
    /// How many rules passed.
    pub passed: usize,
    pub took: Duration,
}

impl Shown {
    pub fn of(trial: &Trial, conducted: &Conducted, suites: &[Suite]) -> Self {
        let mut shown = Self {
            unaffected: trial.also.clone(),
            code: conducted.report.exit_code,
            took: conducted.took,
            ..Self::default()
        };
        let names = |rule: &&Rule| trial.fault.as_ref().is_some_and(|fault| rule.faults.contains(fault));
        let naming = suites.iter().flat_map(|suite| &suite.rules).filter(names);
        let naming: HashSet<&str> = naming.map(|rule| rule.id.as_str()).collect();
        for result in &conducted.report.rules {
            let named = naming.contains(result.id.as_str());
            shown.passed += usize::from(result.status == Status::Pass);
            if matches!(result.status, Status::Fail | Status::Warn | Status::Broken) {
                let declared = |id: &String| id == "*" || *id == result.id;
                shown.unaffected.retain(|id| !declared(id));
                if !named && !trial.also.iter().any(declared) {
                    shown.undeclared.push(result.id.clone());
                }
            }
            let list = match result.status {
                Status::Fail | Status::Warn | Status::Advice if named => &mut shown.caught,
                Status::Fail | Status::Warn | Status::Advice => &mut shown.others,
                Status::Broken => &mut shown.broken,
                Status::Pass | Status::NotExercised if named => &mut shown.idle,
                _ => continue,
            };
            list.push(result.id.clone());
        }
        shown
    }
}
