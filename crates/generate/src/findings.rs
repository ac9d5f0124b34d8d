//! Judges the calls, and finds the smallest call for each finding.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use super::{
    calls::{Call, Kind, Source},
    item::Item,
    observe::Observer,
    store::Stored,
};
use conform_judge::judge_generated;
use conform_model::{
    evidence::{
        End, Recorder, RunContext,
        generated::{CALLS, MadeCall, SMALLEST, SmallestCall},
    },
    outcome::RuleResult,
};
use conform_suite::plan::Plan;

/// Findings of one rule on one subject that are shrunk and shown. More of them usually have the same cause.
const SHOWN: usize = 3;
/// Maximum number of findings that are shrunk.
const SHRUNK: usize = 400;
/// The rule that compares a value at a bound with one inside it.
const AT_BOUND: &str = "generated-bound-accepted";
/// Rules that compare the results of several calls.
const COMPARED: [&str; 9] = [
    "generated-read-only",
    "generated-idempotent",
    "generated-sessions",
    "generated-concurrent",
    "generated-cancelled",
    "generated-template-decoded",
    "generated-template-stale",
    "generated-template-offered",
    "generated-prompt-kept",
];

/// The rule that compares a call with others, and still has a smallest one.
const ALIKE: &str = "generated-validated-alike";

/// Whether a single call proves nothing for this rule.
pub fn is_compared(rule: &str) -> bool {
    COMPARED.contains(&rule)
}

/// A call for which a rule fails.
pub struct Failing {
    pub rule: String,
    index: usize,
    pub call: Call,
    pub item: Item,
    /// Further calls with the same rule, subject and place.
    alike: usize,
    key: String,
}

/// A call that was made, with the index of its source.
pub type Made = (usize, Call, Item);

pub struct Findings<'a> {
    plan: &'a Plan<'a>,
    context: &'a RunContext,
    /// Everything that was judged. It joins the messages at the end, so that their numbers have no gaps.
    record: Recorder,
    failing: Vec<Failing>,
    /// Findings beyond those that are shown.
    further: IndexMap<String, usize>,
    unrepeated: usize,
}

impl<'a> Findings<'a> {
    pub fn new(plan: &'a Plan<'a>, context: &'a RunContext, record: Recorder) -> Self {
        Self { plan, context, record, failing: Vec::new(), further: IndexMap::new(), unrepeated: 0 }
    }

    fn verdicts(&self, items: impl Iterator<Item = Value>) -> Vec<RuleResult> {
        judge_generated(self.plan, self.context, items.map(|item| (CALLS, item)))
    }

    /// The rules that a call fails.
    fn failed(&self, item: Value) -> Vec<String> {
        let results = self.verdicts(std::iter::once(item)).into_iter();
        results.filter(|result| !result.findings.is_empty()).map(|result| result.id).collect()
    }

    pub fn fails(&self, rule: &str, item: &Item) -> bool {
        self.failed(item.shown()).iter().any(|failed| failed == rule)
    }

    /// Judges calls and records them; those that fail are kept.
    pub fn judge(&mut self, calls: Vec<Made>) {
        let shown: Vec<Value> = calls.iter().map(|(.., item)| item.shown()).collect();
        let results = self.verdicts(shown.iter().cloned());
        let all_pass = results.iter().all(|result| result.findings.is_empty());
        for ((index, call, item), shown) in calls.into_iter().zip(shown) {
            let failed = if all_pass { Vec::new() } else { self.failed(shown.clone()) };
            for rule in &failed {
                self.keep(rule, index, &call, &item);
            }
            self.record.generated(CALLS, &MadeCall { item: shown, failed });
        }
    }

    fn keep(&mut self, rule: &str, index: usize, call: &Call, item: &Item) {
        let key = match call.kind {
            // Calls that hang take long to shrink.
            _ if item.end == End::Timeout => String::new(),
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

    /// Records what several calls bring about.
    pub fn relate(&self, name: &str, items: &[impl Serialize]) {
        for item in items {
            self.record.generated(name, item);
        }
    }

    /// Repeats each failing call with smaller arguments as long as it fails, and records the smallest ones.
    pub async fn shrink(&mut self, observer: &mut Observer<'_>, sources: &[Source], end: Instant) {
        // The smallest call of each rule and subject, and its number.
        let mut known: HashMap<(String, usize, String), usize> = HashMap::new();
        let mut found: Vec<SmallestCall> = Vec::new();
        observer.careful = true;
        for failing in std::mem::take(&mut self.failing) {
            let source = &sources[failing.index];
            let Some((call, item)) = self.smallest(observer, source, &failing, end).await else {
                self.unrepeated += 1 + failing.alike;
                continue;
            };
            let same = (failing.rule.clone(), failing.index, call.arguments.to_string());
            if let Some(first) = known.get(&same) {
                found[*first].alike += 1 + failing.alike;
                continue;
            }
            known.insert(same, found.len());
            let times = self.times(observer, source, &failing.rule, &call).await;
            found.push(SmallestCall {
                item: item.shown(),
                alike: failing.alike,
                replay: Stored::new(&source.subject, &call, times.unwrap_or(1)).text(),
                alone: times.is_some() && !is_compared(&failing.rule) && failing.rule != ALIKE,
                rule: failing.rule,
            });
        }
        self.relate(SMALLEST, &found);
    }

    /// Why no more calls can be recorded, if so.
    pub fn full(&self) -> Option<String> {
        self.record.full()
    }

    /// Moves everything to the record of the run.
    pub fn move_to(&self, run: &Recorder) {
        for frame in self.record.frames() {
            if let (Some(name), Some(item)) = (&frame.text, &frame.message) {
                run.generated(name, item);
            }
        }
    }

    /// A note on what is not reported, and how many findings were only counted.
    pub fn unshown(self) -> (Option<String>, IndexMap<String, usize>) {
        let unrepeated = self.unrepeated;
        let note = || {
            format!(
                "calls that failed a rule, and did not when they were made again alone: {unrepeated}; they are not reported"
            )
        };
        ((unrepeated > 0).then(note), self.further)
    }
}
