//! Generates calls from the schemas of a server, which define valid and invalid arguments.
//!
//! ```text
//! schema -> Source (valid, invalid, hostile calls) -> Observer (sends, looks again) -> $calls -> rules of suites
//!                                                            ^                                      |
//!                                                            +---- shrink: smaller arguments <------+
//! ```
//!
//! This folder does not decide what is correct: rules over `$calls` do, in `suites/generated`. So the rule that failed
//! can judge smaller arguments as well, whatever it is about. A finding is reported only if its call fails again.

mod beside;
mod bounds;
mod caller;
mod calls;
mod findings;
mod formats;
mod growth;
mod hostile;
mod invalid;
mod keywords;
mod numbers;
mod observe;
mod paste;
mod pool;
mod program;
mod schema;
mod sequences;
mod sessions;
mod shrink;
mod state;
mod store;
mod subject;
mod templates;
#[cfg(test)]
mod tests;
mod texts;
mod together;
mod valid;

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use serde_json::{Value, json};
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
    observe::{Observer, SLOW, Usual},
    pool::{Pool, collect, harvest},
    subject::{Subject, What},
    together::{Accepted, together},
};
use crate::{
    evidence::RunContext,
    outcome::{CallCounts, RuleResult},
    plan::Plan,
};

/// The number of calls that are judged together.
const BATCH: usize = 32;
/// Calls of one source without a response, after which it is left alone: each may take the time of hundreds.
const HANGS: usize = 6;
/// Turns of each tool for one of a prompt, a template, a completion and a list.
const TURNS: usize = 2;

/// What to generate, and limits.
pub struct Settings {
    pub calls: usize,
    pub time: Duration,
    pub seed: u64,
    /// Only these subjects, by name; naming a tool permits its calls.
    pub only: Vec<String>,
    /// Tools may be called that the user did not name and that may have side effects.
    pub call_tools: bool,
    /// Tools in the configuration.
    pub named: Vec<String>,
    /// Where the program of the server is, unless it runs there: its messages disclose it to nobody.
    pub program: Option<String>,
    /// One call alone.
    pub replay: Option<Stored>,
    /// Calls that failed in earlier runs.
    pub earlier: Vec<Stored>,
    /// The options that name the target, for a command to copy.
    pub options: String,
    /// Whether the user has stopped the run.
    pub interrupted: Box<dyn Fn() -> bool>,
}

/// The result of generated calls.
pub struct Generated {
    pub rules: Vec<RuleResult>,
    pub counts: Vec<CallCounts>,
    pub notes: Vec<String>,
    /// The smallest calls that fail.
    pub failing: Vec<Stored>,
    /// Why the run ended before all calls were made, if so.
    pub cut_short: Option<String>,
}

/// Lists the subjects, makes calls until a limit is reached, shrinks those that fail, and judges the results.
pub async fn generate(mut caller: Caller, scene: &mut RunContext, plan: &Plan<'_>, settings: &Settings) -> Generated {
    let began = Instant::now();
    let over = || began.elapsed() >= settings.time || (settings.interrupted)();
    // The rest of the time is for checks that need several calls.
    let enough = || began.elapsed() >= settings.time * 3 / 4 || over();
    survey(&mut caller, scene).await;
    let mut pool = Pool::new();
    collect(&mut pool, &scene.saves["survey"]["resources"]["items"], 3);
    let (subjects, mut notes) = subjects(scene, settings);
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
    let scene = &*scene;
    let mut observer = Observer {
        caller,
        scene,
        usual: Usual::default(),
        slow: HashSet::new(),
        made: 0,
        careful: false,
        program: settings.program.clone(),
    };
    let mut findings = Findings::new(plan, scene);
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
    let mut hung: HashMap<usize, usize> = HashMap::new();
    let limit = observer.caller.limit;
    let mut made = 0;
    if settings.replay.is_some()
        && let Some(source) = sources.first()
        && let Some(call) = source.plainest().and_then(|arguments| source.of(arguments, false))
    {
        // Slow calls are recognized only by comparison with another call.
        observer.observe(source, &call).await;
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
        // What hung once hangs again: the rest of the time is for other calls. It is confirmed with all the time that it has.
        observer.caller.limit =
            if hung.contains_key(&index) { limit.min(observer.soon(&source.subject.name)) } else { limit };
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
        if item["end"] == "timeout" {
            if item["usual"] == false {
                // What is usual is not known yet, perhaps.
                sources[index].again(call.clone());
            } else if item["by_number"] == false {
                let times = hung.entry(index).or_insert(0);
                *times += 1;
                if *times == HANGS {
                    notes.push(format!(
                        "{}: {HANGS} calls had no response; no more were made",
                        sources[index].subject.name
                    ));
                    exhausted.insert(index);
                }
            }
        }
        let before = last.replace((index, call.clone()));
        if item["killed"].is_string()
            && let Some((before, earlier)) = before.filter(|_| settings.replay.is_none())
            && let Some(guilty) = kills(&mut observer, &sources[before], &earlier).await
        {
            batch.push((before, earlier, guilty));
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
        let mut compared = state::changes(&mut observer, &sources, over).await;
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

/// The call before one that the process did not survive, if it was that one: some exit after they have responded.
async fn kills(observer: &mut Observer<'_>, source: &Source, call: &Call) -> Option<Value> {
    let careful = std::mem::replace(&mut observer.careful, true);
    let item = observer.observe(source, call).await.filter(|item| item["killed"].is_string());
    observer.careful = careful;
    item
}

/// The time that each source took.
#[derive(Default)]
struct Spent {
    ms: HashMap<usize, u64>,
    passed: HashMap<usize, usize>,
}

/// Turns that a source passes which takes most of the time.
const PASSED: usize = 8;

impl Spent {
    fn add(&mut self, index: usize, item: &Value) {
        *self.ms.entry(index).or_default() += item["ms"].as_u64().unwrap_or_default();
    }

    /// Whether this source took more time than all others together. It gets a turn now and then, however.
    fn is_turn_of_others(&mut self, index: usize) -> bool {
        let own = self.ms.get(&index).copied().unwrap_or_default();
        if own <= SLOW || own * 2 <= self.ms.values().sum() {
            return false;
        }
        let passed = self.passed.entry(index).or_default();
        *passed = (*passed + 1) % (PASSED + 1);
        *passed != 0
    }
}

/// The lists of the server, in the form that suites use.
async fn survey(caller: &mut Caller, scene: &mut RunContext) {
    let lists = [
        ("tools", "tools/list", "tools", "tools"),
        ("prompts", "prompts/list", "prompts", "prompts"),
        ("resources", "resources/list", "resources", "resources"),
        ("templates", "resources/templates/list", "resourceTemplates", "resources"),
    ];
    let mut saves = json!({});
    for (save, method, field, capability) in lists {
        saves[save] = if scene.offers(capability) { caller.list(method, field).await } else { json!({ "items": [] }) };
    }
    scene.saves.insert("survey".into(), saves);
}

/// The subjects that may be called, and notes about those that are not called.
fn subjects(scene: &RunContext, settings: &Settings) -> (Vec<Subject>, Vec<String>) {
    let survey = &scene.saves["survey"];
    let items = |list: &str| survey[list]["items"].as_array().cloned().unwrap_or_default();
    let (mut subjects, mut left, mut destructive): (Vec<Subject>, Vec<String>, Vec<String>) = Default::default();
    let mut notes = Vec::new();
    for tool in items("tools") {
        let Some(subject) = Subject::tool(&tool) else {
            notes.push(format!("a tool has no usable `name` or `inputSchema`: {}", tool["name"]));
            continue;
        };
        let hints = &tool["annotations"];
        let is_named = settings.only.contains(&subject.name)
            || settings.named.contains(&subject.name)
            || settings.replay.as_ref().is_some_and(|stored| stored.is_of(&subject));
        let allowed =
            is_named || hints["readOnlyHint"] == true || (settings.call_tools && hints["destructiveHint"] != true);
        if tool["execution"]["taskSupport"] == "required" {
            notes.push(format!("{}: not called, because it runs only as a task", subject.name));
        } else if subjects.iter().any(|known| known.name == subject.name) {
            // If several tools have the same name, only one of them can be called.
        } else if allowed {
            subjects.push(subject);
        } else if settings.call_tools {
            destructive.push(subject.name);
        } else {
            left.push(subject.name);
        }
    }
    let shown = |names: &[String]| {
        names.iter().take(5).cloned().collect::<Vec<_>>().join(", ") + if names.len() > 5 { ", ..." } else { "" }
    };
    if !left.is_empty() {
        let names = shown(&left);
        notes.push(format!("tools not called (they may have side effects): {names}; --only NAME allows one, --call-tools allows all but destructive ones"));
    }
    if !destructive.is_empty() {
        notes.push(format!("destructive tools not called: {}; --only NAME allows one", shown(&destructive)));
    }
    let prompts: Vec<Subject> = items("prompts").iter().filter_map(Subject::prompt).collect();
    let templates: Vec<Subject> = items("templates").iter().filter_map(Subject::template).collect();
    if scene.offers("completions") {
        subjects.extend(prompts.iter().chain(&templates).flat_map(Subject::completions));
    }
    subjects.extend(prompts.into_iter().chain(templates));
    let listed = [("tools", "tools/list"), ("prompts", "prompts/list"), ("resources", "resources/list")];
    subjects.extend(
        listed.iter().filter(|(capability, _)| scene.offers(capability)).map(|(_, method)| Subject::list(method)),
    );
    if !settings.only.is_empty() {
        subjects.retain(|subject| settings.only.contains(&subject.name));
    }
    (subjects, notes)
}

/// The order in which the sources are used.
fn turns(sources: &[Source]) -> Vec<usize> {
    let tools: Vec<usize> = (0..sources.len()).filter(|index| sources[*index].subject.what == What::Tool).collect();
    let others: Vec<usize> = (0..sources.len()).filter(|index| !tools.contains(index)).collect();
    if tools.is_empty() {
        return others;
    }
    // One of each kind in turn: there may be many completions and few prompts.
    let of = |what: What| {
        others.iter().copied().filter(move |index| sources[*index].subject.what == what).collect::<Vec<_>>()
    };
    let kinds = [What::Prompt, What::Template, What::List, What::Completion].map(of);
    let rounds = kinds.iter().map(Vec::len).max().unwrap_or_default().max(1);
    let mut order = Vec::new();
    for round in 0..rounds {
        (0..TURNS).for_each(|_| order.extend(&tools));
        order.extend(kinds.iter().filter_map(|kind| kind.get(round % kind.len().max(1))));
    }
    order
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
            counts.invalid += 1;
            counts.rejected += usize::from(failed);
        }
        _ => counts.hostile += 1,
    }
    counts.errors += usize::from(item["end"] != "result");
    counts.slowest_ms = counts.slowest_ms.max(item["ms"].as_u64().unwrap_or_default());
}

/// Adds the keywords of the schema that calls were made for.
fn covered(mut counts: CallCounts, source: &Source) -> CallCounts {
    let mut keywords = Vec::new();
    keywords::keywords(&source.subject.schema, &mut keywords);
    let (exercised, not): (Vec<String>, Vec<String>) =
        keywords.into_iter().partition(|keyword| source.covered.contains(keyword));
    (counts.exercised, counts.not_exercised) = (exercised, not);
    counts
}
