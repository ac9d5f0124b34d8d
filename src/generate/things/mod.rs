//! Things that tools keep: one tool creates them, others read, list, update and delete them.
//!
//! Tools are grouped by their names and the fields they share. Each scenario makes things of its own, and compares what the
//! tools say with what was confirmed before. It is run again before it counts.

mod changes;
mod group;
mod bench;
mod lists;
mod record;
mod reads;
mod special;

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
    Many,
    Cancelled,
}

impl Scenario {
    /// The kind of the sequence, which rules name.
    const fn kind(&self) -> &'static str {
        match self {
            Self::Created | Self::Kept | Self::Special(..) => "created, read",
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
            Self::Updated(field) => changes::updated(bench, &[field.clone()]).await,
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
    all.push(Scenario::Deleted);
    all.extend(fields.into_iter().map(Scenario::UpdatedToNothing));
    all.extend(special::values(bench).into_iter().map(|(field, what, value)| Scenario::Special(field, what, value)));
    all.extend([Scenario::Many, Scenario::Cancelled]);
    all
}

pub async fn things(observer: &mut Observer<'_>, sources: &[Source], over: impl Fn() -> bool) -> Vec<Sequence> {
    let mut found = Vec::new();
    for group in groups(sources).iter().take(TRIED) {
        let mut number = 0;
        let all = scenarios(&Bench::new(observer, group, 0));
        for scenario in all {
            if over() || observer.caller.gone.is_some() {
                return found;
            }
            let (item, next) = tested(observer, group, &scenario, number).await;
            number = next;
            let is_basic = matches!(scenario, Scenario::Created);
            let holds = item.as_ref().is_some_and(|item| item.holds);
            found.extend(item);
            // Where nothing that is created can be read, the rest would only repeat that.
            if is_basic && !holds && !group.is_listed() {
                break;
            }
        }
    }
    found
}

/// The scenario, again if it fails; `None` if it cannot be tested, or fails only once.
async fn tested(
    observer: &mut Observer<'_>,
    group: &Group<'_>,
    scenario: &Scenario,
    mut number: usize,
) -> (Option<Sequence>, usize) {
    let mut last = None;
    for _ in 0..2 {
        let mut bench = Bench::new(observer, group, number);
        let outcome = scenario.run(&mut bench).await;
        let trace = bench.clean().await;
        number = trace.number;
        let Some(outcome) = outcome else { return (None, number) };
        let name = &group.create.subject.name;
        let holds = outcome.is_ok();
        last = Some(trace.item(scenario.kind(), name, holds, &outcome.err().unwrap_or_default()));
        if holds {
            break;
        }
    }
    (last, number)
}
