//! Judges the calls, and finds the smallest call for each finding.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    Settings,
    calls::{Call, Kind, Source},
    observe::Observer,
    paste,
    store::Stored,
};
use crate::{
    evidence::RunContext,
    judge::judge_generated,
    outcome::{Finding, RuleResult, Status},
    plan::Plan,
};

/// Findings of one rule on one subject that are shrunk and shown. More of them usually have the same cause.
const SHOWN: usize = 3;
/// Maximum number of findings that are shrunk.
const SHRUNK: usize = 40;
/// The rule that compares a value at a bound with one inside it.
const AT_BOUND: &str = "generated-bound-accepted";
/// Rules that compare the results of several calls.
const COMPARED: [&str; 6] = [
    "generated-read-only",
    "generated-idempotent",
    "generated-sessions",
    "generated-concurrent",
    "generated-cancelled",
    "generated-template-decoded",
];

/// Whether a single call proves nothing for this rule.
pub fn is_compared(rule: &str) -> bool {
    COMPARED.contains(&rule)
}

/// A call for which a rule fails.
pub struct Failing {
    pub rule: String,
    index: usize,
    pub call: Call,
    pub item: Value,
    /// Further calls with the same rule, subject and place.
    alike: usize,
    key: String,
}

pub struct Findings<'a> {
    plan: &'a Plan<'a>,
    context: &'a RunContext,
    checked: HashMap<String, usize>,
    failing: Vec<Failing>,
    /// Findings beyond those that are shown.
    further: HashMap<String, usize>,
    shown: HashMap<String, Vec<Finding>>,
    growth: Vec<Value>,
    sequences: Vec<Value>,
    unrepeated: usize,
}

impl<'a> Findings<'a> {
    pub fn new(plan: &'a Plan<'a>, context: &'a RunContext) -> Self {
        Self {
            plan,
            context,
            checked: HashMap::new(),
            failing: Vec::new(),
            further: HashMap::new(),
            shown: HashMap::new(),
            growth: Vec::new(),
            sequences: Vec::new(),
            unrepeated: 0,
        }
    }

    pub fn verdicts<'i>(&self, items: impl Iterator<Item = &'i Value>) -> Vec<RuleResult> {
        judge_generated(self.plan, self.context, items.map(|item| ("calls", item)))
    }

    /// Judges calls; those that fail are kept.
    pub fn judge(&mut self, calls: Vec<(usize, Call, Value)>) {
        let results = self.verdicts(calls.iter().map(|(.., item)| item));
        for result in &results {
            *self.checked.entry(result.id.clone()).or_default() += result.checked;
        }
        if results.iter().all(|result| result.findings.is_empty()) {
            return;
        }
        for (index, call, item) in calls {
            for result in self.verdicts(std::iter::once(&item)).into_iter().filter(|result| !result.findings.is_empty())
            {
                self.keep(&result.id, index, &call, &item);
            }
        }
    }

    fn keep(&mut self, rule: &str, index: usize, call: &Call, item: &Value) {
        let key = match call.kind {
            // Calls that hang take long to shrink.
            _ if item["end"] == "timeout" => String::new(),
            // For hostile values, only the error text distinguishes the causes.
            Kind::Hostile => String::new(),
            Kind::Valid | Kind::Invalid => format!("{} {}", call.keyword, call.at),
        };
        let same = |known: &&mut Failing| known.rule == rule && known.index == index && known.key == key;
        if let Some(known) = self.failing.iter_mut().find(same) {
            known.alike += 1;
            // A smaller call is shrunk faster.
            if call.arguments.to_string().len() < known.call.arguments.to_string().len() {
                known.call = Call { inside: call.inside.clone().filter(|_| rule == AT_BOUND), ..call.clone() };
                known.item = item.clone();
            }
            return;
        }
        let of_subject = self.failing.iter().filter(|known| known.rule == rule && known.index == index).count();
        if of_subject >= SHOWN || self.failing.len() >= SHRUNK {
            *self.further.entry(rule.to_owned()).or_default() += 1;
            return;
        }
        // Only findings about a bound must keep the value at the bound.
        let inside = call.inside.clone().filter(|_| rule == AT_BOUND);
        self.failing.push(Failing {
            rule: rule.to_owned(),
            index,
            call: Call { inside, ..call.clone() },
            item: item.clone(),
            alike: 0,
            key,
        });
    }

    /// How the process grew.
    pub fn grown(&mut self, items: Vec<Value>) {
        self.growth = items;
    }

    /// Sequences of calls.
    pub fn related(&mut self, items: Vec<Value>) {
        self.sequences = items;
    }

    /// Repeats each failing call with smaller arguments as long as it fails.
    pub async fn shrink(
        &mut self,
        observer: &mut Observer<'_>,
        sources: &[Source],
        settings: &Settings,
    ) -> Vec<Stored> {
        let mut stored: Vec<Stored> = Vec::new();
        // The finding that has this smallest call.
        let mut known: HashMap<(String, usize, String), usize> = HashMap::new();
        observer.careful = true;
        for failing in std::mem::take(&mut self.failing) {
            let source = &sources[failing.index];
            let Some((call, item)) = self.smallest(observer, source, &failing).await else {
                self.unrepeated += 1 + failing.alike;
                continue;
            };
            let same = (failing.rule.clone(), failing.index, call.arguments.to_string());
            if let Some(first) = known.get(&same) {
                if let Some(first) = self.shown.get_mut(&failing.rule).and_then(|shown| shown.get_mut(*first)) {
                    first.alike += 1 + failing.alike;
                }
                continue;
            }
            known.insert(same, self.shown.get(&failing.rule).map_or(0, Vec::len));
            let results = self.verdicts(std::iter::once(&item));
            let Some(result) = results.into_iter().find(|result| result.id == failing.rule) else { continue };
            let times = self.times(observer, source, &failing.rule, &call).await;
            let kept = Stored::new(&source.subject, &call).times(times.unwrap_or(1));
            let line = kept.text();
            for mut finding in result.findings {
                let quoted = |text: &str| shlex::try_quote(text).unwrap_or_default().into_owned();
                let again = if is_compared(&failing.rule) || times.is_none() {
                    format!("--seed {} --only {}", settings.seed, quoted(&source.subject.name))
                } else {
                    format!("--replay {}", quoted(&line))
                };
                let command =
                    format!("mcp-conform generate {} --revision {} {again}", settings.options, self.context.revision);
                finding.reproduce = Some(command.replace("  ", " "));
                finding.alike = failing.alike;
                finding.yaml = paste::suite(&failing.rule, &result.statement, &result.source, &item);
                self.shown.entry(failing.rule.clone()).or_default().push(finding);
            }
            if !stored.contains(&kept) {
                stored.push(kept);
            }
        }
        stored
    }

    pub fn notes(&self) -> Vec<String> {
        let unrepeated = self.unrepeated;
        let note = || {
            format!(
                "calls that failed a rule, and did not when they were made again alone: {unrepeated}; they are not reported"
            )
        };
        (unrepeated > 0).then(note).into_iter().collect()
    }

    /// The command that repeats all calls of this run, for findings that need several calls.
    fn whole(&self, settings: &Settings) -> String {
        let quoted = |text: &str| shlex::try_quote(text).unwrap_or_default().into_owned();
        let only = settings.only.iter().map(|name| format!(" --only {}", quoted(name))).collect::<String>();
        let permitted = if settings.call_tools { " --call-tools" } else { "" };
        format!(
            "mcp-conform generate {} --revision {}{permitted}{only} --calls {} --seed {}",
            settings.options, self.context.revision, settings.calls, settings.seed
        )
    }

    /// Each rule with its findings.
    pub fn results(mut self, settings: &Settings) -> Vec<RuleResult> {
        let growth = self.growth.iter().map(|item| ("growth", item));
        let sequences = self.sequences.iter().map(|item| ("sequences", item));
        let mut results = judge_generated(self.plan, self.context, growth.chain(sequences));
        for finding in results.iter_mut().flat_map(|result| &mut result.findings) {
            finding.reproduce = Some(self.whole(settings));
        }
        for result in &mut results {
            result.checked += self.checked.get(&result.id).copied().unwrap_or_default();
            result.findings.extend(self.shown.remove(&result.id).unwrap_or_default());
            result.further += self.further.get(&result.id).copied().unwrap_or_default();
            if result.findings.is_empty() {
                result.further = 0;
                if result.checked > 0 && result.status == Status::NotExercised {
                    (result.status, result.reason) = (Status::Pass, None);
                }
            } else {
                (result.status, result.reason) = (result.level.of_failure(), None);
            }
        }
        results
    }
}
