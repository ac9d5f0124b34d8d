//! Generates calls from what a server publishes. Its schemas define which arguments are valid, and so which are not.
//!
//! ```text
//! schema -> Source (valid, invalid, hostile calls) -> Observer (sends, looks again) -> $calls -> rules of suites
//!                                                            ^                                      |
//!                                                            +---- shrink: smaller arguments <------+
//! ```
//!
//! The verdicts come from rules over `$calls` in `suites/generated`. So the rule that failed can judge smaller
//! arguments again. A finding is reported only if its call fails again.

mod beside;
mod caller;
mod calls;
mod findings;
mod growth;
mod listed;
mod observe;
mod paste;
mod pool;
mod program;
mod sequences;
mod sessions;
mod smallest;
mod state;
mod store;
mod subject;
mod templates;
#[cfg(test)]
mod tests;
mod together;
mod turns;
mod values;

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use serde_json::Value;
use tokio::time::Instant;

pub use self::{
    caller::{BY, Caller},
    program::directory,
    store::{Store, Stored},
};
use self::{
    calls::{Call, Kind, Source},
    findings::Findings,
    growth::Growth,
    listed::{subjects, survey},
    observe::{Observer, Usual},
    pool::{Pool, collect, harvest},
    subject::Subject,
    together::{Accepted, together},
    turns::{Loss, Spent, turns},
};
use crate::{
    evidence::RunContext,
    outcome::{CallCounts, RuleResult},
    plan::Plan,
};

/// A replayed call is preceded by up to this many others, until one has a response: they show the usual duration.
const USUAL: usize = 3;
/// The number of calls that are judged together.
const BATCH: usize = 32;

/// What to generate, and how much of it.
pub struct Settings {
    pub calls: usize,
    pub time: Duration,
    pub seed: u64,
    /// Call only these, by name; naming a tool permits its calls.
    pub only: Vec<String>,
    /// Tools may be called that are not named and may have side effects.
    pub call_tools: bool,
    /// Tools that the configuration names.
    pub named: Vec<String>,
    /// The directory of the server's program, unless it runs there. Its messages must not disclose it.
    pub program: Option<String>,
    /// Make only this call.
    pub replay: Option<Stored>,
    /// Calls that failed before.
    pub earlier: Vec<Stored>,
    /// The options that name the target, for the rerun command.
    pub options: String,
    /// Whether the user interrupted the run.
    pub interrupted: Box<dyn Fn() -> bool>,
}

/// The results.
pub struct Generated {
    pub rules: Vec<RuleResult>,
    pub counts: Vec<CallCounts>,
    pub notes: Vec<String>,
    /// The smallest calls that fail.
    pub failing: Vec<Stored>,
    /// Why the run ended before all calls were made.
    pub cut_short: Option<String>,
}

/// Lists what the server has, makes calls until a limit is reached, judges them, and shrinks those that fail.
pub async fn generate(mut caller: Caller, context: &mut RunContext, plan: &Plan<'_>, settings: &Settings) -> Generated {
    let began = Instant::now();
    // The rest of the time is for confirming and shrinking what failed.
    let over = || began.elapsed() >= settings.time * 3 / 4 || (settings.interrupted)();
    // From then on, only what needs several calls is tested.
    let enough = || began.elapsed() >= settings.time / 2 || over();
    survey(&mut caller, context).await;
    let mut pool = Pool::new();
    collect(&mut pool, &context.saves["survey"]["resources"]["items"], 3);
    let (subjects, mut notes) = subjects(context, settings);
    let mut sources: Vec<Source> =
        subjects.into_iter().map(|subject| Source::new(subject, settings.seed, &pool)).collect();
    notes.extend(sources.iter().flat_map(|source| source.notes.clone()));
    if let Some(stored) = &settings.replay {
        sources.retain(|source| stored.is_of(&source.subject));
    } else {
        for stored in settings.earlier.iter().rev() {
            let known = sources.iter_mut().find(|source| stored.is_of(&source.subject));
            if let Some(source) = known
                && let Some(call) = stored.call(source)
            {
                source.first(call);
            }
        }
    }
    let context = &*context;
    let mut observer = Observer {
        caller,
        context,
        usual: Usual::default(),
        slow: HashSet::new(),
        made: 0,
        empty_completions: HashMap::new(),
        careful: false,
        programs: settings.program.iter().cloned().chain(program::of_processes()).collect(),
    };
    let mut findings = Findings::new(plan, context);
    let mut growth = Growth::new(settings.calls);
    let mut counts: HashMap<usize, CallCounts> = HashMap::new();
    let mut batch: Vec<(usize, Call, Value)> = Vec::new();
    let mut accepted = Accepted::default();
    let mut spent = Spent::default();
    let mut cut_short = None;
    let mut turn = turns(&sources).into_iter().cycle();
    let mut exhausted = HashSet::new();
    let wanted = settings.replay.as_ref().map_or(settings.calls, |stored| sources.len().min(1) * stored.repeated());
    observer.careful = settings.replay.is_some();
    let mut last: Option<(usize, Call)> = None;
    let limit = observer.caller.limit;
    let mut made = 0;
    if settings.replay.is_some()
        && let Some(source) = sources.first_mut()
    {
        // Only other calls show the usual duration.
        for _ in 0..USUAL {
            let Some(call) = source.next(&pool) else { break };
            let item = observer.observe(source, &call).await;
            if item.is_some_and(|item| item["end"] == "result" || item["end"] == "error") {
                break;
            }
        }
    }
    while made < wanted && exhausted.len() < sources.len() {
        if enough() {
            let why =
                if (settings.interrupted)() { "before the interruption" } else { "in the time given by --seconds" };
            notes.push(format!("{made} of {wanted} calls were made {why}"));
            break;
        }
        let Some(index) = turn.next() else { break };
        if exhausted.len() + 1 < sources.len() && spent.is_turn_of_others(index) {
            continue;
        }
        if exhausted.contains(&index) {
            continue;
        }
        let source = &mut sources[index];
        let call = match &settings.replay {
            Some(stored) => stored.call(source),
            None => source.next(&pool),
        };
        let Some(call) = call else {
            exhausted.insert(index);
            continue;
        };
        growth.look(made, &observer.caller);
        made += 1;
        // A subject that hung once probably hangs again, so its calls get less time. The full timeout confirms a
        // finding.
        observer.caller.limit =
            if spent.has_lost(index, Loss::Response) { limit.min(observer.soon(&source.subject.name)) } else { limit };
        let item = observer.observe(source, &call).await;
        observer.caller.limit = limit;
        let Some(item) = item else {
            if let Some(gone) = observer.caller.gone.clone() {
                cut_short = Some(format!("the server could not be started again: {gone}"));
                break;
            }
            continue;
        };
        count(counts.entry(index).or_insert_with(|| counts_of(&source.subject)), &item);
        spent.add(index, &item);
        let mut lost = None;
        if item["end"] == "timeout" {
            if item["usual"] == false {
                // The usual duration may not be known yet.
                sources[index].again(call.clone());
            } else if item["by_number"] == false {
                lost = Some((index, Loss::Response));
            }
        }
        let before = last.replace((index, call.clone()));
        let mut guilty = None;
        if item["killed"].is_string() && settings.replay.is_none() {
            if let Some((before, earlier)) = before {
                let item = kills(&mut observer, &sources[before], &earlier).await;
                guilty = item.map(|item| (before, earlier, item));
            }
            lost = Some((guilty.as_ref().map_or(index, |(before, ..)| *before), Loss::Server));
        }
        if let Some((index, loss)) = lost
            && let Some(note) = spent.lose(index, loss, &sources[index].subject.name)
        {
            notes.push(note);
            exhausted.insert(index);
        }
        if let Some(guilty) = guilty {
            batch.push(guilty);
            continue;
        }
        harvest(&mut pool, &item);
        accepted.add(index, &call, &item);
        batch.push((index, call, item));
        if batch.len() >= BATCH {
            findings.judge(std::mem::take(&mut batch));
        }
    }
    findings.judge(batch);
    let mut grown = growth.items();
    if settings.replay.is_none() {
        grown.extend(growth::files(&mut observer, &sources, over).await);
        let mut compared = state::changes(&mut observer, &sources, &accepted, over).await;
        compared.extend(sessions::mixed(&mut observer, &sources, over).await);
        compared.extend(together(&mut observer, &sources, &accepted, over).await);
        compared.extend(templates::misread(&mut observer, &sources, over).await);
        for (item, call, index) in compared {
            findings.judge(vec![(index, call, item)]);
        }
        let found = sequences::sequences(&mut observer, &sources, over).await;
        findings.related(found);
    }
    findings.grown(grown);
    let failing = findings.shrink(&mut observer, &sources, settings).await;
    notes.extend(findings.notes());
    observer.caller.close().await;
    notes.push(format!("seed {}: the same seed makes the same calls", settings.seed));
    let mut counts: Vec<(usize, CallCounts)> = counts.into_iter().collect();
    counts.sort_by_key(|(index, _)| *index);
    let counts = counts.into_iter().map(|(index, counts)| covered(counts, &sources[index])).collect();
    Generated { rules: findings.results(settings), counts, notes, failing, cut_short }
}

/// Repeats the call before one that the process did not survive: some exit after their response. `None` if it survives.
async fn kills(observer: &mut Observer<'_>, source: &Source, call: &Call) -> Option<Value> {
    let careful = std::mem::replace(&mut observer.careful, true);
    let item = observer.observe(source, call).await.filter(|item| item["killed"].is_string());
    observer.careful = careful;
    item
}

fn counts_of(subject: &Subject) -> CallCounts {
    CallCounts { what: subject.what.word().to_owned(), name: subject.name.clone(), ..CallCounts::default() }
}

fn count(counts: &mut CallCounts, item: &Value) {
    counts.calls += 1;
    let failed = item["failed"] == true;
    match item["kind"].as_str().and_then(Kind::named) {
        Some(Kind::Valid) => {
            counts.valid += 1;
            counts.accepted += usize::from(item["end"] == "result" && !failed);
        }
        Some(Kind::Invalid) => {
            let must = !item["keyword"].as_str().is_some_and(|keyword| values::invalid::EXEMPT.contains(&keyword));
            counts.invalid += usize::from(must);
            counts.rejected += usize::from(must && failed);
        }
        _ => counts.hostile += 1,
    }
    counts.errors += usize::from(item["end"] != "result");
    counts.slowest_ms = counts.slowest_ms.max(item["ms"].as_u64().unwrap_or_default());
}

/// Adds the keywords of the schema that the calls covered.
fn covered(mut counts: CallCounts, source: &Source) -> CallCounts {
    let mut keywords = Vec::new();
    values::keywords::keywords(&source.subject.schema, &mut keywords);
    let (exercised, not): (Vec<String>, Vec<String>) =
        keywords.into_iter().partition(|keyword| source.covered.contains(keyword));
    (counts.exercised, counts.not_exercised) = (exercised, not);
    counts
}
