//! Judges the calls, and finds the smallest call for each finding.

use std::{collections::HashMap, time::Duration};

use serde_json::Value;
use tokio::time::Instant;

use super::{
    Settings,
    calls::{Call, Kind, Source},
    observe::Observer,
    paste,
    shrink::simpler,
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
/// Maximum number of calls and time for shrinking one finding; a call that times out takes the longest.
const CALLS: usize = 150;
const TIME: Duration = Duration::from_secs(20);

/// Rules that compare results before and after several calls.
const COMPARED: [&str; 4] =
    ["generated-read-only", "generated-idempotent", "generated-sessions", "generated-concurrent"];

/// Whether a single call proves nothing for this rule.
fn is_compared(rule: &str) -> bool {
    COMPARED.contains(&rule)
}

/// A call for which a rule fails.
struct Failing {
    rule: String,
    index: usize,
    call: Call,
    item: Value,
    /// Further calls with the same rule, subject and place.
    alike: usize,
    key: String,
}

pub struct Findings<'a> {
    plan: &'a Plan<'a>,
    scene: &'a RunContext,
    checked: HashMap<String, usize>,
    failing: Vec<Failing>,
    /// Findings that are only counted.
    further: HashMap<String, usize>,
    shown: HashMap<String, Vec<Finding>>,
    growth: Vec<Value>,
    sequences: Vec<Value>,
    unrepeated: usize,
}

impl<'a> Findings<'a> {
    pub fn new(plan: &'a Plan<'a>, scene: &'a RunContext) -> Self {
        Self {
            plan,
            scene,
            checked: HashMap::new(),
            failing: Vec::new(),
            further: HashMap::new(),
            shown: HashMap::new(),
            growth: Vec::new(),
            sequences: Vec::new(),
            unrepeated: 0,
        }
    }

    fn verdicts<'i>(&self, items: impl Iterator<Item = &'i Value>) -> Vec<RuleResult> {
        judge_generated(self.plan, self.scene, items.map(|item| ("calls", item)))
    }

    /// Judges calls and keeps those that fail.
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
            // For hostile values only the text of the failure distinguishes causes.
            Kind::Hostile => String::new(),
            Kind::Valid | Kind::Invalid => format!("{} {}", call.keyword, call.at),
        };
        let same = |known: &&mut Failing| known.rule == rule && known.index == index && known.key == key;
        if let Some(known) = self.failing.iter_mut().find(same) {
            known.alike += 1;
            // Shrinking a smaller call takes less time.
            if call.arguments.to_string().len() < known.call.arguments.to_string().len() {
                (known.call, known.item) = (call.clone(), item.clone());
            }
            return;
        }
        let of_subject = self.failing.iter().filter(|known| known.rule == rule && known.index == index).count();
        if of_subject >= SHOWN || self.failing.len() >= SHRUNK {
            *self.further.entry(rule.to_owned()).or_default() += 1;
            return;
        }
        self.failing.push(Failing {
            rule: rule.to_owned(),
            index,
            call: call.clone(),
            item: item.clone(),
            alike: 0,
            key,
        });
    }

    /// The growth of the process.
    pub fn grown(&mut self, items: Vec<Value>) {
        self.growth = items;
    }

    /// The results of sequences of calls.
    pub fn related(&mut self, items: Vec<Value>) {
        self.sequences = items;
    }

    /// Repeats each failing call, with smaller arguments as long as it fails.
    pub async fn shrink(
        &mut self,
        observer: &mut Observer<'_>,
        sources: &[Source],
        settings: &Settings,
    ) -> Vec<Stored> {
        let mut stored: Vec<Stored> = Vec::new();
        for failing in std::mem::take(&mut self.failing) {
            let source = &sources[failing.index];
            let Some((call, item)) = self.smallest(observer, source, &failing).await else {
                self.unrepeated += 1 + failing.alike;
                continue;
            };
            let results = self.verdicts(std::iter::once(&item));
            let Some(result) = results.into_iter().find(|result| result.id == failing.rule) else { continue };
            let kept = Stored::new(&source.subject, &call);
            let line = kept.text();
            for mut finding in result.findings {
                let quoted = |text: &str| shlex::try_quote(text).unwrap_or_default().into_owned();
                let again = if is_compared(&failing.rule) {
                    format!("--seed {} --only {}", settings.seed, quoted(&source.subject.name))
                } else {
                    format!("--replay {}", quoted(&line))
                };
                let command =
                    format!("mcp-conform generate {} --revision {} {again}", settings.options, self.scene.revision);
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

    fn fails(&self, rule: &str, item: &Value) -> bool {
        self.verdicts(std::iter::once(item)).iter().any(|result| result.id == rule && !result.findings.is_empty())
    }

    /// The smallest call that fails in the same way. The call itself is repeated first; `None` if it passes then.
    async fn smallest(&self, observer: &mut Observer<'_>, source: &Source, failing: &Failing) -> Option<(Call, Value)> {
        // Those calls were already made twice.
        if is_compared(&failing.rule) {
            return Some((failing.call.clone(), failing.item.clone()));
        }
        let began = Instant::now();
        let mut smallest = None;
        for _ in 0..2 {
            let item = observer.observe(source, &failing.call).await?;
            if self.fails(&failing.rule, &item) {
                smallest = Some((failing.call.clone(), item));
                break;
            }
        }
        let (mut call, mut item) = smallest?;
        let most = observer.made + CALLS;
        'smaller: while observer.made < most && began.elapsed() < TIME {
            for arguments in simpler(&call.arguments) {
                if observer.made >= most || began.elapsed() >= TIME {
                    break 'smaller;
                }
                let Some(next) = alike(source, &call, arguments) else { continue };
                if let Some(seen) = observer.observe(source, &next).await
                    && self.fails(&failing.rule, &seen)
                {
                    (call, item) = (next, seen);
                    continue 'smaller;
                }
                if observer.caller.gone.is_some() {
                    break 'smaller;
                }
            }
            break;
        }
        Some((call, item))
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

    /// The result of each rule.
    pub fn results(mut self) -> Vec<RuleResult> {
        let growth = self.growth.iter().map(|item| ("growth", item));
        let sequences = self.sequences.iter().map(|item| ("sequences", item));
        let mut results = judge_generated(self.plan, self.scene, growth.chain(sequences));
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

/// The call with these arguments, if it has the same kind. A value at a bound stays at the bound.
fn alike(source: &Source, call: &Call, arguments: Value) -> Option<Call> {
    if !source.is_like(call, &arguments) {
        return None;
    }
    let Some(inside) = &call.inside else { return Some(source.like(call, arguments)) };
    let (bound, beside) = (call.arguments.pointer(&call.at)?, inside.pointer(&call.at)?);
    if arguments.pointer(&call.at) != Some(bound) {
        return None;
    }
    let mut inside = arguments.clone();
    *inside.pointer_mut(&call.at)? = beside.clone();
    Some(Call { inside: Some(inside), ..source.like(call, arguments) })
}
