//! From generated calls to a report: the smallest calls that fail, and how often each rule was judged.

use super::{Options, paste, shown::show_frames, target, verdict::sum_up};
use crate::judge_generated;
use conform_model::{
    evidence::{
        Evidence, RunContext,
        generated::{CALLS, GROWTH, GeneratedRun, MadeCall, SEQUENCES, SMALLEST, SmallestCall},
    },
    outcome::{RuleResult, RunReport, Status},
};
use conform_suite::{
    Suite,
    plan::{Plan, plan},
};

pub fn assess(evidence: &Evidence, suites: &[Suite], options: &Options) -> RunReport {
    let Evidence { header, contexts, .. } = evidence;
    let runs = || contexts.iter().filter_map(|context| Some((context, context.generated.as_ref()?)));
    let mut rules = Vec::new();
    for (context, run) in runs() {
        let plan = plan(suites, context, options.filter);
        rules.extend(Judged { plan, context, run, options: &header.target.options, rules: Vec::new() }.all(evidence));
    }
    rules.retain(|rule| options.filter.shows(&rule.id));
    show_frames(&mut rules, evidence.frames(), header.evidence_frames);
    let (notes, cut_short) = (header.notes.clone(), header.end.cut_short.clone());
    let mut report = RunReport {
        started: header.started,
        ms: header.ms,
        calls: runs().flat_map(|(_, run)| run.counts.clone()).collect(),
        ..sum_up(target(header, contexts), rules, notes, cut_short, (options.strict, header.scope.flaky))
    };
    report.exit_code = header.end.interrupted.unwrap_or(report.exit_code);
    report
}

struct Judged<'a> {
    plan: Plan<'a>,
    context: &'a RunContext,
    run: &'a GeneratedRun,
    /// Those that select the server.
    options: &'a str,
    rules: Vec<RuleResult>,
}

impl Judged<'_> {
    fn all(mut self, evidence: &Evidence) -> Vec<RuleResult> {
        let effects = [GROWTH, SEQUENCES].into_iter();
        self.rules = self.judge(effects.flat_map(|name| evidence.generated(name).map(move |item| (name, item))));
        let passed = evidence.generated(CALLS).filter(|call: &MadeCall| call.failed.is_empty());
        self.add(self.judge(passed.map(|call| (CALLS, call.item))), &[]);
        for MadeCall { item, failed } in evidence.generated(CALLS) {
            if !failed.is_empty() {
                self.add(self.judge(std::iter::once((CALLS, item))), &failed);
            }
        }
        let again = self.whole();
        for finding in self.rules.iter_mut().flat_map(|rule| &mut rule.findings) {
            finding.reproduce = Some(again.clone());
        }
        evidence.generated(SMALLEST).for_each(|smallest| self.show(smallest));
        self.rules.iter_mut().for_each(|rule| conclude(rule, self.run.further.get(&rule.id).copied()));
        self.rules
    }

    fn judge(&self, items: impl Iterator<Item = (&'static str, serde_json::Value)>) -> Vec<RuleResult> {
        judge_generated(&self.plan, self.context, items)
    }

    /// Counts what was judged. Findings count, too, unless the smallest calls of the rule show them.
    fn add(&mut self, results: Vec<RuleResult>, shown: &[String]) {
        for (rule, result) in self.rules.iter_mut().zip(results) {
            rule.checked += result.checked;
            if !shown.contains(&rule.id) {
                rule.findings.extend(result.findings);
                rule.further += result.further;
            }
        }
    }

    /// Adds the finding of a call.
    fn show(&mut self, smallest: SmallestCall) {
        let SmallestCall { rule, item, alike, replay, alone } = smallest;
        let results = self.judge(std::iter::once((CALLS, item.clone())));
        let again = match (alone, item["name"].as_str()) {
            (false, Some(name)) => format!("--seed {} --only {}", self.run.seed, quoted(name)),
            _ => format!("--replay {}", quoted(&replay)),
        };
        let again = self.command(&again);
        let Some((known, result)) = self.rules.iter_mut().zip(results).find(|(known, _)| known.id == rule) else {
            return;
        };
        let yaml = paste::suite(&rule, &result.statement, &result.source, &item);
        for mut finding in result.findings {
            finding.reproduce = Some(again.clone());
            finding.alike = alike;
            finding.yaml.clone_from(&yaml);
            known.findings.push(finding);
        }
    }

    /// The command that repeats all calls of this run, for findings that need several calls.
    fn whole(&self) -> String {
        let only = self.run.only.iter().map(|name| format!(" --only {}", quoted(name))).collect::<String>();
        let permitted = if self.run.call_tools { " --call-tools" } else { "" };
        self.command(&format!("{permitted}{only} --calls {} --seed {}", self.run.calls, self.run.seed))
    }

    fn command(&self, more: &str) -> String {
        let options = if self.options.is_empty() { String::new() } else { format!(" {}", self.options) };
        format!("mcp-conform generate{options} --revision {} {}", self.context.revision, more.trim_start())
    }
}

fn quoted(text: &str) -> String {
    shlex::try_quote(text).unwrap_or_default().into_owned()
}

/// Sets the status, and adds the failing calls that were only counted.
fn conclude(rule: &mut RuleResult, further: Option<usize>) {
    if !rule.findings.is_empty() {
        rule.further += further.unwrap_or_default();
        rule.set_judged(rule.level.of_failure());
    } else if rule.checked > 0 && rule.status == Status::NotExercised {
        rule.set_judged(Status::Pass);
    }
}
