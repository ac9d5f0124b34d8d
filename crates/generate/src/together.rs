//! Whether the server keeps concurrent calls apart: each has to return what it returns alone.

use std::{collections::HashMap, time::Duration};

use serde_json::Value;

use super::{
    calls::{Call, Kind, Source, of_kind},
    item::Item,
    observe::{Observer, SLOW},
    sessions::with_text,
    subject::What,
};
use conform_model::evidence::{End, Reply};

/// Maximum number of tested tools.
const TRIED: usize = 12;
/// Different calls of one tool, and how often each is made concurrently.
const CALLS: usize = 4;
const TIMES: usize = 2;

/// Calls of each source that the server accepted quickly.
#[derive(Default)]
pub struct Accepted(HashMap<usize, Vec<Call>>);

impl Accepted {
    pub fn add(&mut self, index: usize, call: &Call, item: &Item) {
        let known = self.0.entry(index).or_default();
        if known.len() < CALLS && call.kind == Kind::Valid && returned(item).is_some() {
            known.push(call.clone());
        }
    }

    pub fn of(&self, index: usize) -> &[Call] {
        self.0.get(&index).map_or(&[], Vec::as_slice)
    }
}

/// The result of a call that succeeded, and was so fast that it probably does not wait for others.
fn returned(item: &Item) -> Option<Value> {
    item.result.as_ref().filter(|_| item.succeeded() && item.ms < SLOW).map(without_meta)
}

fn without_meta(result: &Value) -> Value {
    let mut result = result.clone();
    if let Some(members) = result.as_object_mut() {
        members.shift_remove("_meta");
    }
    result
}

/// A concurrent call whose response is missing, or contains the result of another call.
struct Wrong {
    mixed_up: bool,
    ignored: bool,
    frames: Vec<u64>,
}

/// The outcome of several concurrent calls.
struct Seen {
    wrong: Option<Wrong>,
    /// Whether the server still responds.
    responds: bool,
    /// The frames of the last call, which is the cancelled one, if any.
    last: Vec<u64>,
}

/// Calls tools with deterministic results concurrently, and reports their results.
pub async fn together(
    observer: &mut Observer<'_>,
    sources: &[Source],
    accepted: &Accepted,
    over: impl Fn() -> bool,
) -> Vec<(Item, Call, usize)> {
    let mut found = Vec::new();
    let mut stops_after_cancellation = false;
    let limit = observer.caller.limit;
    let tools = of_kind(sources, What::Tool);
    for (index, source) in tools.take(TRIED) {
        if over() || observer.caller.gone.is_some() {
            break;
        }
        let mut alone = alone(observer, source, accepted.of(index)).await;
        // A server that handles calls sequentially needs the sum of all times, and twice that when it is busy.
        let ms: u64 = alone.iter().map(|(_, item)| item.ms).sum::<u64>() * TIMES as u64 * 2;
        if alone.len() < 2 || Duration::from_millis(ms) > observer.caller.limit {
            continue;
        }
        let (call, mut item) = alone[0].clone();
        // Once it is found that the server stops after a cancellation, a further one would hide what other tools do.
        let mut cancels = !stops_after_cancellation;
        // The full timeout confirms a finding.
        let soon = limit.min(observer.soon(&source.subject.name).max(Duration::from_millis(ms)));
        let mut seen = at_once(observer, source, &alone, cancels, soon).await;
        if cancels {
            item.seen.survives_cancelled = Some(true);
        }
        if cancels && !seen.responds {
            // If it also stops without a cancellation, the concurrent calls are the cause.
            cancels = false;
            // The results may depend on what the process remembered until it exited.
            alone = self::alone(observer, source, accepted.of(index)).await;
            if alone.len() < 2 {
                continue;
            }
            seen = at_once(observer, source, &alone, cancels, limit).await;
            if seen.responds && seen.wrong.is_none() {
                let again = at_once(observer, source, &alone, true, limit).await;
                item.seen.survives_cancelled = Some(again.responds);
                stops_after_cancellation = !again.responds;
                if stops_after_cancellation {
                    item.frames = again.last;
                }
            }
        }
        (item.seen.mixed_up, item.seen.ignored) = (Some(false), Some(false));
        if seen.wrong.is_some()
            && let Some(Wrong { mixed_up, ignored, frames }) =
                at_once(observer, source, &alone, cancels, limit).await.wrong
            && (ignored || are_unchanged(observer, source, &alone).await)
        {
            (item.seen.mixed_up, item.seen.ignored, item.frames) = (Some(mixed_up), Some(ignored), frames);
        }
        found.push((item, call, index));
    }
    found
}

/// Different calls with a deterministic result that differs from the results of the others.
async fn alone(observer: &mut Observer<'_>, source: &Source, accepted: &[Call]) -> Vec<(Call, Item)> {
    let plain = source.plainest().unwrap_or_default();
    let texts = ["mcpconformone", "mcpconformtwo"].into_iter().filter_map(|text| with_text(source, &plain, text));
    let calls: Vec<Call> = texts.chain(accepted.iter().cloned()).collect();
    let mut alone: Vec<(Call, Item)> = Vec::new();
    for call in calls {
        let Some(item) = observer.observe(source, &call).await else { continue };
        let Some(result) = returned(&item) else { continue };
        let is_new = alone.iter().all(|(_, other)| returned(other).as_ref() != Some(&result));
        let again = if is_new { observer.observe(source, &call).await } else { None };
        if again.as_ref().and_then(returned) == Some(result) {
            alone.push((call, item));
        }
        if alone.len() == CALLS {
            break;
        }
    }
    alone
}

/// Whether each call still has its own result. If not, the state of the server changed it, not another call.
async fn are_unchanged(observer: &mut Observer<'_>, source: &Source, alone: &[(Call, Item)]) -> bool {
    for (call, item) in alone {
        if observer.observe(source, call).await.as_ref().and_then(returned) != returned(item) {
            return false;
        }
    }
    true
}

/// Makes all of these calls concurrently, and one more that is cancelled if it `cancels`.
async fn at_once(
    observer: &mut Observer<'_>,
    source: &Source,
    alone: &[(Call, Item)],
    cancels: bool,
    limit: Duration,
) -> Seen {
    let all: Vec<Value> = (0..TIMES).flat_map(|_| alone.iter().map(|(call, _)| call.arguments.clone())).collect();
    observer.made += all.len();
    let replies = observer.caller.at_once(observer.context, &source.subject, &all, cancels, limit).await;
    let results: Vec<Option<Value>> = alone.iter().map(|(_, item)| returned(item)).collect();
    let wrong = |(nr, reply): (usize, Reply)| {
        let result = reply.result.as_ref().filter(|_| reply.end == End::Result).map(without_meta);
        let own = result.is_some() && result == results[nr % alone.len()];
        Wrong {
            mixed_up: !own && result.is_some() && results.contains(&result),
            ignored: reply.end == End::Timeout || (reply.end == End::Closed && !cancels),
            frames: reply.frames,
        }
    };
    let last = replies.last().map(|reply| reply.frames.clone()).unwrap_or_default();
    let mut all = replies.into_iter().take(all.len()).enumerate().map(wrong);
    let wrong = all.find(|seen| seen.mixed_up || seen.ignored);
    let responds = observer.caller.responds().await;
    if !responds {
        observer.caller.renew().await;
    }
    Seen { wrong, responds, last }
}
