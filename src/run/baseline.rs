//! Failures that are known: expected while they last, and reported once they are gone.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;

use super::{outputs::failed, verdict::total};
use crate::{
    cli::OutputArgs,
    error::Error,
    outcome::{RuleResult, RunReport, Status},
    plan::nearest,
    revision::Revision,
    suite::Suite,
};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    #[serde(default)]
    known: Vec<Known>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    rule: String,
    /// What the failure is about; without it, whatever it is about.
    subject: Option<String>,
    revision: Option<Revision>,
    #[serde(default)]
    reason: String,
}

impl Baseline {
    /// The list that was named, if any; read before the run, so that nobody waits for one that is of no use.
    pub fn wanted(args: &OutputArgs, suites: &[Suite]) -> Result<Self, Error> {
        let renewed = args.write_baseline.as_ref().filter(|path| path.exists());
        let Some(path) = args.baseline.as_ref().or(renewed) else { return Ok(Self::default()) };
        let text = fs::read_to_string(path).map_err(|source| failed(path, "read", source))?;
        let baseline: Self = toml::from_str(&text).map_err(|why| Error::Usage {
            message: format!("`{}` is no baseline\n{}", path.display(), why.to_string().trim_end()),
            cure: Some("`--write-baseline PATH` writes one".into()),
        })?;
        let rules = || suites.iter().flat_map(|suite| &suite.rules).map(|rule| rule.id.as_str());
        if let Some(known) = baseline.known.iter().find(|known| !rules().any(|id| id == known.rule)) {
            return Err(Error::Usage {
                message: format!("`{}` names a rule that there is not: {}", path.display(), known.rule),
                cure: nearest(&known.rule, rules()).map(|near| format!("did you mean {near}?")),
            });
        }
        Ok(baseline)
    }

    /// Writes the list or holds the report against it, as was asked for.
    pub fn settle(self, report: &mut RunReport, args: &OutputArgs) -> Result<(), Error> {
        if let Some(path) = &args.write_baseline {
            let text = self.renewed(report);
            fs::write(path, &text).map_err(|source| failed(path, "write", source))?;
            let written: Self = toml::from_str(&text).map_err(|why| Error::usage(why.to_string()))?;
            written.apply(report, path);
        } else if let Some(path) = &args.baseline {
            self.apply(report, path);
        }
        Ok(())
    }

    /// Marks the failures that are known, and fails the run for entries that nothing fails for any more.
    fn apply(&self, report: &mut RunReport, path: &Path) {
        let strict = report.strict;
        let mut used = vec![false; self.known.len()];
        for rule in report.rules.iter_mut().filter(|rule| fails(rule, strict)) {
            let entries = self.known.iter().enumerate().filter(|(_, known)| known.concerns(rule));
            let entries: Vec<_> = entries.filter(|(_, known)| known.covers_any(rule)).collect();
            for (index, _) in &entries {
                used[*index] = true;
            }
            let is_known = |subject: &str| entries.iter().find(|(_, known)| known.covers(subject));
            let reason = entries.iter().map(|(_, known)| known.reason.as_str()).find(|reason| !reason.is_empty());
            if !entries.is_empty() && rule.findings.iter().all(|finding| is_known(&finding.subject).is_some()) {
                rule.status = Status::Known;
                rule.reason = Some(reason.unwrap_or("no reason is given").to_owned());
            } else {
                rule.findings.retain(|finding| is_known(&finding.subject).is_none());
            }
        }
        for (known, _) in self.known.iter().zip(used).filter(|(_, used)| !used) {
            // What was not judged this time may fail still.
            if report.rules.iter().any(|rule| known.concerns(rule) && was_judged(rule)) {
                let told = format!("{} expects {} to fail, and it holds: remove it", path.display(), known.name());
                report.outdated.push(told);
            }
        }
        report.notes.extend(report.outdated.iter().cloned());
        total(report);
    }

    /// What fails today, as the text of a baseline; the reasons of this one are kept.
    fn renewed(&self, report: &RunReport) -> String {
        let mut failing: BTreeMap<&str, &RuleResult> = BTreeMap::new();
        for rule in report.rules.iter().filter(|rule| fails(rule, report.strict) || rule.status == Status::Known) {
            failing.entry(&rule.id).or_insert(rule);
        }
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let mut text =
            "# Failures that are known. Each is expected until it is gone; say why, and until when.\n".to_owned();
        let kept = self.known.iter().filter(|known| failing.contains_key(known.rule.as_str()));
        for known in kept {
            text += &format!("\n[[known]]\nrule = {}\n", quoted(&known.rule));
            let subject = known.subject.iter().map(|subject| ("subject", quoted(subject)));
            let revision = known.revision.iter().map(|revision| ("revision", quoted(revision.as_str())));
            subject.chain(revision).for_each(|(name, value)| text += &format!("{name} = {value}\n"));
            text += &format!("reason = {}\n", quoted(&known.reason));
        }
        for (id, rule) in failing {
            if rule.status == Status::Known
                || self.known.iter().any(|known| known.rule == id && known.subject.is_none())
            {
                continue;
            }
            let said = rule.findings.first().map_or(rule.statement.as_str(), |finding| &finding.message);
            let said: String = said.chars().filter(|c| !c.is_control()).take(100).collect();
            text += &format!("\n# {said}\n[[known]]\nrule = {}\nreason = \"\"\n", quoted(id));
        }
        text
    }
}

impl Known {
    fn concerns(&self, rule: &RuleResult) -> bool {
        self.rule == rule.id && self.revision.is_none_or(|revision| revision == rule.revision)
    }

    fn covers(&self, subject: &str) -> bool {
        self.subject.as_deref().is_none_or(|known| known == subject)
    }

    fn covers_any(&self, rule: &RuleResult) -> bool {
        self.subject.is_none() || rule.findings.iter().any(|finding| self.covers(&finding.subject))
    }

    fn name(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{} for {subject}", self.rule),
            None => self.rule.clone(),
        }
    }
}

fn fails(rule: &RuleResult, strict: bool) -> bool {
    rule.status == Status::Fail || (strict && rule.status == Status::Warn)
}

fn was_judged(rule: &RuleResult) -> bool {
    !matches!(rule.status, Status::NotExercised | Status::NotApplicable | Status::Broken)
}
