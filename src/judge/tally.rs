//! What one rule has come to so far, and the result it makes in the end.

use serde_json::Value;

use super::place::Place;
use crate::{
    evidence::Scene,
    outcome::{Finding, Level, Observation, RuleResult, Status},
    plan::PlannedRule,
    suite::{Path, Rule, Scope, Suite},
};

/// Findings shown for one rule; further ones are only counted.
pub const FINDINGS_KEPT: usize = 20;
/// Places remembered of one rule, so that what follows from its findings can be folded under it.
const PLACES_KEPT: usize = 10_000;
/// What a `may` rule shows of what it saw.
const OBSERVED_KEPT: usize = 8;

pub struct Tally<'a> {
    pub suite: &'a Suite,
    pub rule: &'a Rule,
    /// What the names of its suite stand for.
    pub ground: &'a Scope<'a>,
    pub left_out: Option<String>,
    /// What would have to be known for the rule to be judged.
    pub lacking: Option<String>,
    /// Items that `every` went over, whether or not `where` let them through.
    pub seen: usize,
    pub checked: usize,
    pub found: Vec<Found>,
    /// Where each finding stands, those included that are only counted.
    pub places: Vec<(Place, Place)>,
    pub observed: Vec<Observation>,
    /// A name or path that had no value in this run, when nothing could be judged for lack of it.
    pub missing: Option<String>,
    pub broken: Option<String>,
    /// Rules whose findings were the same cause as this one's.
    pub also: Vec<String>,
    /// The rule under which all findings of this one were folded.
    pub folded_under: Option<String>,
}

pub struct Found {
    pub finding: Finding,
    /// The item that was judged, and the value in it that is at fault.
    pub item: Place,
    pub at: Place,
}

impl<'a> Tally<'a> {
    pub fn new(suite: &'a Suite, planned: &PlannedRule<'a>, ground: &'a Scope<'a>) -> Self {
        Self {
            suite,
            rule: planned.rule,
            ground,
            left_out: planned.left_out.clone(),
            lacking: planned.lacking.clone(),
            seen: 0,
            checked: 0,
            found: Vec::new(),
            places: Vec::new(),
            observed: Vec::new(),
            missing: None,
            broken: None,
            also: Vec::new(),
            folded_under: None,
        }
    }

    /// Adds a finding, or counts it with one that says the same of another place.
    pub fn find(&mut self, found: Found) {
        if self.places.len() < PLACES_KEPT {
            self.places.push((found.item.clone(), found.at.clone()));
        }
        let same_place = |known: &Found| known.at == found.at && known.finding.message == found.finding.message;
        if self.found.iter().any(|known| same_place(known) && known.finding.subject == found.finding.subject) {
            return;
        }
        let alike = |known: &&mut Found| {
            known.finding.message == found.finding.message && known.finding.subject == found.finding.subject
        };
        if let Some(known) = self.found.iter_mut().find(alike) {
            known.finding.alike += 1;
        } else if self.found.len() < FINDINGS_KEPT {
            self.found.push(found);
        } else if let Some(last) = self.found.last_mut() {
            last.finding.alike += 1;
        }
    }

    pub fn observe(&mut self, path: &Path, value: &Value) {
        let is_known = |seen: &Observation| seen.what == path.text && seen.value == *value;
        if self.observed.len() < OBSERVED_KEPT && !self.observed.iter().any(is_known) {
            self.observed.push(Observation { what: path.text.clone(), value: value.clone() });
        }
    }

    pub fn finish(self, scene: &Scene) -> RuleResult {
        let incident = scene.incidents.get(&self.suite.id);
        let (status, reason) = if let Some(reason) = self.left_out {
            (Status::NotApplicable, Some(reason))
        } else if let Some(reason) = self.lacking {
            (Status::NotExercised, Some(reason))
        } else if !self.found.is_empty() {
            (of_failure(self.rule.level), None)
        } else if let Some(reason) = self.broken {
            (Status::Broken, Some(reason))
        } else if let Some(cause) = self.folded_under {
            (Status::NotExercised, Some(format!("could not be judged where {cause} failed")))
        } else if self.checked > 0 && self.rule.level == Level::May {
            (Status::Observed, None)
        } else if self.checked > 0 {
            (Status::Pass, None)
        } else if let Some(incident) = incident {
            (Status::Broken, Some(incident.clone()))
        } else {
            let unseen = match self.seen {
                0 => "the server sent nothing of the kind",
                _ => "nothing of what the server sent meets the condition of the rule",
            };
            (Status::NotExercised, Some(self.missing.unwrap_or_else(|| unseen.into())))
        };
        RuleResult {
            id: self.rule.id.clone(),
            suite: self.suite.id.clone(),
            revision: scene.revision,
            level: self.rule.level,
            status,
            statement: self.rule.statement.clone(),
            source: self.rule.source.clone(),
            derived: self.rule.derived.clone(),
            hint: self.rule.hint.clone(),
            checked: self.checked,
            findings: self.found.into_iter().map(|found| found.finding).collect(),
            reason,
            observed: self.observed,
            also: self.also,
        }
    }
}

fn of_failure(level: Level) -> Status {
    match level {
        Level::Must => Status::Fail,
        Level::Should => Status::Warn,
        Level::Advice => Status::Advice,
        Level::May => Status::Observed,
    }
}
