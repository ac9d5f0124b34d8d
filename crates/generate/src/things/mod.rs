//! Things that tools keep: one tool creates them, others read, list, update and delete them.
//!
//! That comes before other calls: those may use up what the server has, and fill its lists.
//!
//! Tools are grouped by their names and the fields they share. Each scenario makes things of its own, and compares what the
//! tools say with what was confirmed before. It is run again before it counts.

mod bench;
mod changes;
mod group;
mod lists;
mod reads;
mod record;
mod special;

use std::collections::{HashMap, VecDeque};

use self::{
    bench::Bench,
    group::{Group, groups},
};
use super::{calls::Source, item::Sequence, observe::Observer};

/// Whether what should hold was found; `None` if it cannot be tested with these tools.
type Outcome = Option<Result<(), String>>;

/// Maximum number of tested groups.
const TRIED: usize = 12;

/// What is tested, from the basic to the rare: a scenario that fails makes the later ones useless.
#[derive(Clone, Debug)]
enum Scenario {
    Created,
    Kept,
    FailedCreation,
    ReadTwice,
    Listed,
    ListedThenRead,
    Updated(String),
    UpdatedTogether,
    UpdatedToNothing(String),
    UpdatedTwice,
    UpdatedUnknown,
    Deleted,
    Special(String, &'static str, serde_json::Value),
    UpdatedAtOnce,
    CreatedAtOnce,
    Many,
    Cancelled,
}

impl Scenario {
    /// The kind of the sequence, which rules name.
    const fn kind(&self) -> &'static str {
        match self {
            Self::Created | Self::Kept | Self::CreatedAtOnce | Self::Special(..) => "created, read",
            Self::FailedCreation => "failed",
            Self::ReadTwice => "read",
            Self::Listed | Self::ListedThenRead => "listed",
            Self::Updated(_)
            | Self::UpdatedTogether
            | Self::UpdatedToNothing(_)
            | Self::UpdatedTwice
            | Self::UpdatedUnknown
            | Self::UpdatedAtOnce => "updated, read",
            Self::Deleted => "deleted, read",
            Self::Many => "many",
            Self::Cancelled => "cancelled",
        }
    }

    async fn run(&self, bench: &mut Bench<'_, '_, '_>) -> Outcome {
        match self {
            Self::Created => reads::created(bench).await,
            Self::Kept => reads::kept(bench).await,
            Self::FailedCreation => lists::failed_creation(bench).await,
            Self::ReadTwice => reads::read_twice(bench).await,
            Self::Listed => lists::listed(bench).await,
            Self::ListedThenRead => lists::listed_then_read(bench).await,
            Self::Updated(field) => changes::updated(bench, std::slice::from_ref(field)).await,
            Self::UpdatedTogether => {
                let all = bench.updatable();
                if all.len() > 1 { changes::updated(bench, &all).await } else { None }
            }
            Self::UpdatedToNothing(field) => changes::to_nothing(bench, field).await,
            Self::UpdatedTwice => changes::twice(bench).await,
            Self::UpdatedUnknown => changes::unknown(bench).await,
            Self::UpdatedAtOnce => changes::at_once(bench).await,
            Self::Deleted => changes::deleted(bench).await,
            Self::Special(field, what, value) => special::kept(bench, field, what, value).await,
            Self::CreatedAtOnce => reads::created_at_once(bench).await,
            Self::Many => reads::many(bench).await,
            Self::Cancelled => reads::cancelled(bench).await,
        }
    }
}

/// The scenarios for these tools.
fn scenarios(bench: &Bench) -> Vec<Scenario> {
    let mut all = vec![
        Scenario::Created,
        Scenario::FailedCreation,
        Scenario::Kept,
        Scenario::ReadTwice,
        Scenario::Listed,
        Scenario::ListedThenRead,
    ];
    let fields = bench.updatable();
    all.extend(fields.iter().cloned().map(Scenario::Updated));
    all.extend([Scenario::UpdatedTogether, Scenario::UpdatedTwice, Scenario::UpdatedUnknown, Scenario::UpdatedAtOnce]);
    all.extend([Scenario::Deleted, Scenario::CreatedAtOnce]);
    all.extend(fields.into_iter().map(Scenario::UpdatedToNothing));
    all.extend(special::values(bench).into_iter().map(|(field, what, value)| Scenario::Special(field, what, value)));
    all.extend([Scenario::Many, Scenario::Cancelled]);
    all
}

/// The scenarios of all groups that were not tested yet.
pub struct Things {
    waiting: VecDeque<(usize, Scenario)>,
    /// The number of the next thing.
    number: usize,
    /// The number of things that were created, by group.
    created: HashMap<usize, usize>,
    is_planned: bool,
}

impl Things {
    pub fn new() -> Self {
        Self { waiting: VecDeque::new(), number: 0, created: HashMap::new(), is_planned: false }
    }

    /// The groups take turns.
    fn plan(&mut self, observer: &mut Observer<'_>, groups: &[Group<'_>]) {
        self.is_planned = true;
        let all: Vec<Vec<Scenario>> =
            groups.iter().map(|group| scenarios(&Bench::new(observer, group, (0, 0)))).collect();
        let most = all.iter().map(Vec::len).max().unwrap_or_default();
        for turn in 0..most {
            let of_turn = all.iter().enumerate().filter_map(|(index, all)| Some((index, all.get(turn)?.clone())));
            self.waiting.extend(of_turn);
        }
    }

    pub async fn test(
        &mut self,
        observer: &mut Observer<'_>,
        sources: &[Source],
        over: impl Fn() -> bool,
    ) -> Vec<Sequence> {
        let mut groups = groups(sources);
        groups.truncate(TRIED);
        if !self.is_planned {
            self.plan(observer, &groups);
        }
        let mut found = Vec::new();
        while !over() && observer.caller.gone.is_none() {
            let Some((index, scenario)) = self.waiting.pop_front() else { break };
            let created = self.created.entry(index).or_default();
            let (item, numbers) = tested(observer, &groups[index], &scenario, (self.number, *created)).await;
            (self.number, *created) = numbers;
            // Where nothing that is created can be read, the rest would only repeat that.
            let is_useless = matches!(scenario, Scenario::Created) && item.as_ref().is_none_or(|item| !item.holds);
            if is_useless && !groups[index].is_listed() {
                self.waiting.retain(|(other, _)| *other != index);
            }
            found.extend(item);
        }
        found
    }
}

/// The scenario, again if it fails; `None` if it cannot be tested, or fails only once.
async fn tested(
    observer: &mut Observer<'_>,
    group: &Group<'_>,
    scenario: &Scenario,
    mut numbers: (usize, usize),
) -> (Option<Sequence>, (usize, usize)) {
    let mut last = None;
    for attempt in 0..2 {
        if attempt > 0 && matches!(scenario, Scenario::Many | Scenario::Cancelled) {
            // What is used up or blocked stays so, as long as the process runs.
            observer.caller.renew().await;
        }
        let mut bench = Bench::new(observer, group, numbers);
        let outcome = scenario.run(&mut bench).await;
        let trace = bench.clean().await;
        numbers = (trace.number, trace.created);
        let Some(outcome) = outcome else { return (None, numbers) };
        let name = &group.create.subject.name;
        let holds = outcome.is_ok();
        last = Some(trace.item(scenario.kind(), name, holds, &outcome.err().unwrap_or_default()));
        if holds {
            break;
        }
    }
    (last, numbers)
}
