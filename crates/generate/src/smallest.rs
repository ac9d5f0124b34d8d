//! The smallest call that reproduces a finding, and how often it must be repeated.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{
    calls::{Call, Source},
    findings::{Failing, Findings, is_compared},
    item::Item,
    observe::Observer,
    values::shrink::simpler,
};
use conform_model::evidence::End;

/// Maximum number of calls and time for shrinking one finding. Calls without a response take the longest.
const CALLS: usize = 150;
/// Both are guesses.
const TIME: Duration = Duration::from_secs(20);

/// The time for a finding after the end of the run.
const LEAST: Duration = Duration::from_millis(300);

/// Rules that may fail because many calls exhaust a resource of the server.
const EXHAUSTING: [&str; 3] = ["generated-answered", "generated-responds-after", "generated-survived"];
/// Maximum number of repetitions for those.
const REPEATED: usize = 100;

impl Findings<'_> {
    /// How many times in a row the call must be made after a restart until it fails; `None` if it does not fail.
    pub async fn times(&self, observer: &mut Observer<'_>, source: &Source, rule: &str, call: &Call) -> Option<usize> {
        if !EXHAUSTING.contains(&rule) {
            return Some(1);
        }
        observer.caller.renew().await;
        let limit = observer.caller.limit;
        observer.caller.limit = observer.soon(&source.subject.name).min(limit);
        let began = Instant::now();
        let mut found = None;
        for times in 1..=REPEATED {
            let item = observer.observe(source, call).await;
            if item.is_some_and(|item| self.fails(rule, &item)) {
                found = Some(times);
            }
            if found.is_some() || began.elapsed() >= TIME || observer.caller.gone.is_some() {
                break;
            }
        }
        observer.caller.limit = limit;
        found
    }

    /// The smallest call that fails in the same way. The call itself is repeated first; `None` if it passes then.
    pub async fn smallest(
        &self,
        observer: &mut Observer<'_>,
        source: &Source,
        failing: &Failing,
        end: Instant,
    ) -> Option<(Call, Item)> {
        // Those calls were already made twice.
        if is_compared(&failing.rule) {
            return Some((failing.call.clone(), failing.item.clone()));
        }
        let began = Instant::now();
        let limit = observer.caller.limit;
        let hangs = failing.item.end == End::Timeout;
        if hangs {
            // The result is confirmed with the full timeout.
            observer.caller.limit = observer.soon(&source.subject.name).min(limit);
        }
        // A finding that is left at the end of the run is confirmed, and made a little smaller.
        let until = (began + if hangs { TIME / 2 } else { TIME }).min(end.max(began + LEAST));
        let smallest = self.smaller(observer, source, failing, until).await;
        observer.caller.limit = limit;
        let (call, item) = smallest?;
        if !hangs {
            return Some((call, item));
        }
        for call in [&call, &failing.call] {
            let seen = observer.observe(source, call).await;
            if let Some(seen) = seen.filter(|seen| self.fails(&failing.rule, seen)) {
                return Some((call.clone(), seen));
            }
        }
        None
    }

    /// The smallest call that is found before `until`.
    async fn smaller(
        &self,
        observer: &mut Observer<'_>,
        source: &Source,
        failing: &Failing,
        until: Instant,
    ) -> Option<(Call, Item)> {
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
        'smaller: while observer.made < most && Instant::now() < until {
            for arguments in simpler(&call.arguments) {
                if observer.made >= most || Instant::now() >= until {
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
}

/// The call with these arguments, if it has the same kind. A value at a bound stays there.
fn alike(source: &Source, call: &Call, arguments: Value) -> Option<Call> {
    if !source.is_like(call, &arguments) {
        return None;
    }
    if let Some(beside) = &call.beside {
        let own = call.arguments.pointer(&call.at);
        if arguments.pointer(&call.at) != own {
            return None;
        }
        return Some(Call { beside: Some(beside.clone()), ..source.like(call, arguments) });
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
