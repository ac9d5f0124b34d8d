//! Known failures: expected while they fail, and reported when they pass.

use std::{collections::BTreeMap, fs, io::ErrorKind, path::Path};

use indexmap::IndexMap;
use serde::Deserialize;
use toml::Spanned;

use super::outdated::update;

use crate::{
    assess::verdict::total,
    cli::OutputArgs,
    error::Error,
    evidence::RunEnd,
    judge::{FINDINGS_KEPT, profiles},
    outcome::{Finding, OutdatedEntry, RuleResult, RunReport, Status},
    plan::nearest,
    report::{first_lines, flow, plain},
    revision::Revision,
    run::process::console::{complain, failed},
    suite::Suite,
};

const WRITES: &str = "`--write-baseline PATH` writes one";

/// The message of a finding is a comment of its entry: the width of its lines, and how many there are at most.
const COMMENT: usize = 100;
const COMMENT_LINES: usize = 4;

const HEAD: &str = "\
# Known failures. Each one is expected until it passes; state in `reason` why, and when it will be fixed.
# An entry is for one `subject`; without this field it covers all findings of the rule.
";

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    #[serde(default)]
    known: Vec<Known>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    rule: Spanned<String>,
    /// The subject of the failure; without it, any subject.
    subject: Option<String>,
    revision: Option<Revision>,
    #[serde(default)]
    reason: String,
    /// The line of `rule` in the file, from 1.
    #[serde(skip)]
    line: usize,
}

impl Baseline {
    fn read(text: &str) -> Result<Self, toml::de::Error> {
        let mut baseline: Self = toml::from_str(text)?;
        for known in &mut baseline.known {
            known.line = 1 + text[..known.rule.span().start].matches('\n').count();
        }
        Ok(baseline)
    }

    /// The baseline file of the options, if any. It is read before the run, so that a mistake in it is reported at
    /// once.
    pub fn wanted(args: &OutputArgs, suites: &[&Suite]) -> Result<Self, Error> {
        let renewed = args.write_baseline.as_ref().filter(|path| path.exists());
        let Some(path) = args.baseline.as_ref().or(renewed) else {
            if args.update_baseline {
                return Err(Error::Usage {
                    message: "--update-baseline needs a list of known failures".into(),
                    help: Some("name it with --baseline PATH, or with `baseline` in mcp-conform.toml".into()),
                });
            }
            return Ok(Self::default());
        };
        let text = fs::read_to_string(path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => Error::Usage {
                message: format!("there is no baseline `{}`", path.display()),
                help: Some(WRITES.into()),
            },
            _ => failed(path, "read", source),
        })?;
        let baseline = Self::read(&text).map_err(|why| Error::Usage {
            message: format!("`{}` is not a baseline\n{}", path.display(), why.to_string().trim_end()),
            help: Some(WRITES.into()),
        })?;
        let rules = || suites.iter().flat_map(|suite| &suite.rules).map(|rule| rule.id.as_str());
        if let Some(known) = baseline.known.iter().find(|known| !rules().any(|id| id == known.rule.as_ref())) {
            return Err(Error::Usage {
                message: format!("`{}` names an unknown rule: {}", path.display(), known.rule.as_ref()),
                help: nearest(known.rule.as_ref(), rules()).map(|near| format!("did you mean {near}?")),
            });
        }
        Ok(baseline)
    }

    /// Writes the baseline file or compares the report with it, depending on the options. A rule may pass only because
    /// the run did less than a whole one; `saw_all`: it saw everything.
    pub fn settle(
        self,
        report: &mut RunReport,
        args: &OutputArgs,
        end: &RunEnd,
        saw_all: &SawAll,
    ) -> Result<(), Error> {
        let settled = if report.cause().is_none() { self.compare(report, args, saw_all) } else { Ok(()) };
        report.exit_code = end.interrupted.unwrap_or(report.exit_code);
        settled
    }

    fn compare(self, report: &mut RunReport, args: &OutputArgs, saw_all: &SawAll) -> Result<(), Error> {
        if let Some(path) = &args.write_baseline {
            let text = self.renewed(report, saw_all);
            fs::write(path, &text).map_err(|source| failed(path, "write", source))?;
            let written = Self::read(&text).map_err(|why| Error::usage(why.to_string()))?;
            written.apply(report, path, saw_all);
            let entries = if written.known.len() == 1 { "entry" } else { "entries" };
            complain(&format!("wrote {}: {} {entries}", path.display(), written.known.len()));
        } else if let Some(path) = &args.baseline {
            self.apply(report, path, saw_all);
            if args.update_baseline && !report.outdated.is_empty() {
                return update(path, report, |text| Ok(Self::read(text)?.known.len()));
            }
        }
        Ok(())
    }

    /// Whether this result fails the run: it has a finding that no entry is for.
    pub fn fails(&self, rule: &RuleResult, strict: bool) -> bool {
        let entries: Vec<_> = self.known.iter().filter(|known| known.concerns(rule)).collect();
        let is_known = |finding: &Finding| entries.iter().any(|known| known.covers(&finding.subject));
        fails(rule, strict) && (entries.is_empty() || !rule.findings.iter().all(is_known))
    }

    /// Marks the failures that are known, and fails the run for entries that now pass.
    fn apply(&self, report: &mut RunReport, path: &Path, saw_all: &SawAll) {
        let strict = report.strict;
        let mut used = vec![false; self.known.len()];
        let of_profiles = report.profiles.iter_mut().flat_map(|profile| &mut profile.rules);
        for rule in report.rules.iter_mut().chain(of_profiles).filter(|rule| fails(rule, strict)) {
            let entries = self.known.iter().enumerate().filter(|(_, known)| known.concerns(rule));
            let entries: Vec<_> = entries.filter(|(_, known)| known.covers_any(rule)).collect();
            for (index, _) in &entries {
                used[*index] = true;
            }
            let is_known = |subject: &str| entries.iter().find(|(_, known)| known.covers(subject));
            let reason = entries.iter().map(|(_, known)| known.reason.as_str()).find(|reason| !reason.is_empty());
            if !entries.is_empty() && rule.findings.iter().all(|finding| is_known(&finding.subject).is_some()) {
                rule.status = Status::Known;
                rule.reason = Some(reason.unwrap_or("no reason given").to_owned());
            } else {
                rule.findings.retain(|finding| is_known(&finding.subject).is_none());
            }
        }
        let mut gone: IndexMap<&str, Vec<&str>> = IndexMap::new();
        for (known, _) in self.known.iter().zip(used).filter(|(_, used)| !used) {
            // A rule that was not judged this time may still fail.
            // Without --strict, a SHOULD that is violated is no failure, but it does not pass either.
            let passes = |rule: &RuleResult| {
                was_judged(rule)
                    && saw_all(rule, known.subject.as_deref())
                    && rule.status != Status::Known
                    && !(rule.status == Status::Warn && known.covers_any(rule))
            };
            if report.counting().any(|rule| known.concerns(rule) && passes(rule)) {
                gone.entry(known.rule.as_ref()).or_default().extend(known.subject.as_deref());
                report.outdated_entries.push(OutdatedEntry {
                    file: path.display().to_string(),
                    line: known.line,
                    rule: known.rule.as_ref().clone(),
                    subject: known.subject.clone(),
                });
            }
        }
        let told = gone.iter().map(|(rule, subjects)| format!("{}: {}", path.display(), outdated(rule, subjects)));
        report.outdated = told.collect();
        report.notes.extend(report.outdated.iter().cloned());
        report.profiles.iter_mut().for_each(profiles::total);
        total(report);
    }

    /// The current failures as the text of a baseline file. The reasons of existing entries are kept.
    fn renewed(&self, report: &RunReport, saw_all: &SawAll) -> String {
        let mut failing: BTreeMap<&str, Vec<&RuleResult>> = BTreeMap::new();
        for rule in report.with_profiles().filter(|rule| fails(rule, report.strict)) {
            failing.entry(&rule.id).or_default().push(rule);
        }
        let mut text = HEAD.to_owned();
        // A rule that was not judged this time, for example because of a filter, may still fail.
        let may_fail = |known: &&Known| {
            let mut judged = report.with_profiles().filter(|rule| known.concerns(rule) && was_judged(rule)).peekable();
            judged.peek().is_none()
                || judged.any(|rule| {
                    !saw_all(rule, known.subject.as_deref()) || (fails(rule, report.strict) && known.covers_any(rule))
                })
        };
        let kept: Vec<&Known> = self.known.iter().filter(may_fail).collect();
        text.extend(kept.iter().map(|known| known.written()));
        for (id, results) in failing {
            for (subject, said) in uncovered(&results, &kept) {
                let said = first_lines(&plain(&flow(said)), COMMENT, COMMENT_LINES).join("\n# ");
                let rule = Spanned::new(0..0, id.to_owned());
                let known = Known { rule, subject, revision: None, reason: String::new(), line: 0 };
                text += &known.written().replacen('\n', &format!("\n# {said}\n"), 1);
            }
        }
        text
    }
}

/// The findings of a rule that match no entry, each with its message: by subject, or else the rule as a whole.
fn uncovered<'r>(results: &[&'r RuleResult], kept: &[&Known]) -> IndexMap<Option<String>, &'r str> {
    let tells_apart = results.iter().all(|rule| are_told_apart(&rule.findings));
    let mut new = IndexMap::new();
    for (rule, finding) in results.iter().flat_map(|rule| rule.findings.iter().map(move |finding| (*rule, finding))) {
        if !kept.iter().any(|known| known.concerns(rule) && known.covers(&finding.subject)) {
            let subject = tells_apart.then(|| finding.subject.clone());
            new.entry(subject).or_insert(finding.message.as_str());
        }
    }
    new
}

/// Whether every finding has a subject that is the same in the next run.
fn are_told_apart(findings: &[Finding]) -> bool {
    let lasts = |finding: &Finding| !finding.subject.is_empty() && !finding.renamed_each_run;
    findings.len() < FINDINGS_KEPT && findings.iter().all(lasts)
}

impl Known {
    /// The entry as a TOML table.
    fn written(&self) -> String {
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let subject = self.subject.iter().map(|subject| ("subject", quoted(subject)));
        let revision = self.revision.iter().map(|revision| ("revision", quoted(revision.as_str())));
        let members = [("rule", quoted(self.rule.as_ref()))].into_iter().chain(subject).chain(revision);
        let members = members.chain([("reason", quoted(&self.reason))]);
        members.fold("\n[[known]]\n".to_owned(), |text, (name, value)| text + &format!("{name} = {value}\n"))
    }

    fn concerns(&self, rule: &RuleResult) -> bool {
        *self.rule.as_ref() == rule.id && self.revision.is_none_or(|revision| revision == rule.revision)
    }

    fn covers(&self, subject: &str) -> bool {
        self.subject.as_deref().is_none_or(|known| known == subject)
    }

    fn covers_any(&self, rule: &RuleResult) -> bool {
        self.subject.is_none() || rule.findings.iter().any(|finding| self.covers(&finding.subject))
    }
}

/// Whether a run would have shown that a rule fails for a subject.
pub type SawAll<'a> = dyn Fn(&RuleResult, Option<&str>) -> bool + 'a;

/// The message for entries that match no failure.
fn outdated(rule: &str, subjects: &[&str]) -> String {
    match subjects {
        [] => format!("{rule} now passes: remove it"),
        [one] => format!("{rule} now passes for {one}: remove it"),
        several => format!("{rule} now passes for {}: remove them", several.join(", ")),
    }
}

fn fails(rule: &RuleResult, strict: bool) -> bool {
    rule.status == Status::Fail || (strict && rule.status == Status::Warn)
}

/// Whether the result shows that the rule passes or fails; a flaky one does both.
fn was_judged(rule: &RuleResult) -> bool {
    !matches!(rule.status, Status::NotExercised | Status::NotApplicable | Status::Broken | Status::Flaky)
}
