//! What was created is read as it was confirmed, each time.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    Outcome,
    bench::{Bench, Thing},
    record,
};
use crate::item::is_failed;
use conform_model::evidence::End;

/// The number of things that are created in a row, and of reads.
const MANY: usize = 105;
const READS: usize = 24;
/// Fewer creations that succeeded say nothing about the next one.
const FEW: usize = 10;
/// Things that are created at the same time.
const AT_ONCE: usize = 6;
/// A creation that takes longer is not repeated so often.
const QUICK: u64 = 30;

/// The first field that differs from what was confirmed.
pub fn differs(expected: &Map<String, Value>, shown: &Map<String, Value>) -> Option<String> {
    expected.iter().find_map(|(name, value)| {
        let own = shown.get(name);
        (own != Some(value)).then(|| {
            let own = own.map_or("nothing".to_owned(), Value::to_string);
            format!("`{name}` was confirmed as {value}, and is read as {own}")
        })
    })
}

/// A created thing can be read.
pub async fn created(bench: &mut Bench<'_, '_, '_>) -> Outcome {
    let thing = bench.create().await?;
    match bench.read(&thing).await? {
        Ok(shown) if shown.is_empty() => None,
        Ok(_) => Some(Ok(())),
        Err(()) => {
            // The id may be another field of the result. What is not listed either was not stored.
            let listed = bench.list().await?;
            let is_listed = !record::with_key(&listed, &thing.key).is_empty();
            (!is_listed)
                .then(|| Err(format!("what was created as {} can neither be read nor is it listed", thing.id())))
        }
    }
}

/// Two things keep what was confirmed, whichever is read first.
pub async fn kept(bench: &mut Bench<'_, '_, '_>) -> Outcome {
    let first = bench.create().await?;
    let before = bench.read(&first).await?.ok()?;
    let second = bench.create().await?;
    if first.id() == second.id() {
        return None;
    }
    for thing in [&second, &first, &second, &first] {
        let Ok(shown) = bench.read(thing).await? else {
            return Some(Err(format!("{} cannot be read after another thing was created", thing.id())));
        };
        if let Some(told) = differs(&thing.confirmed, &shown) {
            // A tool may show less than what is stored, but not something else.
            let is_less = thing.confirmed.iter().all(|(name, value)| shown.get(name).is_none_or(|own| own == value));
            if !is_less || shows_elsewhere(bench, thing, &shown).await {
                return Some(Err(told));
            }
        }
    }
    let after = bench.read(&first).await?.ok()?;
    if after != before {
        return Some(Err(format!("{} is read in another way after another thing was created", first.id())));
    }
    Some(Ok(()))
}

/// Whether the list shows a confirmed field that the tool for one thing leaves out.
async fn shows_elsewhere(bench: &mut Bench<'_, '_, '_>, thing: &Thing, shown: &Map<String, Value>) -> bool {
    let Some(read) = bench.group.read else { return false };
    let declared = read.subject.listed["outputSchema"]["properties"].as_object().cloned().unwrap_or_default();
    let lacking: Vec<&String> = thing.confirmed.keys().filter(|name| !shown.contains_key(*name)).collect();
    if lacking.iter().any(|name| declared.contains_key(*name)) {
        return true;
    }
    let Some(list) = bench.list().await else { return false };
    let own = record::with_key(&list, &thing.key);
    own.iter().any(|members| lacking.iter().any(|name| members.get(*name) == thing.confirmed.get(*name)))
}

/// Reading changes nothing, also if it happens often.
pub async fn read_twice(bench: &mut Bench<'_, '_, '_>) -> Outcome {
    let thing = bench.create().await?;
    let before = bench.read(&thing).await?.ok().filter(|shown| !shown.is_empty())?;
    for time in 2..=READS {
        match bench.read(&thing).await? {
            Ok(shown) if shown == before => {}
            Ok(shown) => {
                let told = differs(&before, &shown).unwrap_or_else(|| "another field appears".to_owned());
                return Some(Err(format!("read for the {time}. time without a change, {told}")));
            }
            Err(()) => return Some(Err(format!("read for the {time}. time without a change, {} fails", thing.id()))),
        }
    }
    Some(Ok(()))
}

/// The hundredth creation succeeds as the first did, with an id of its own.
pub async fn many(bench: &mut Bench<'_, '_, '_>) -> Outcome {
    let mut ids = HashSet::new();
    let mut keys = Vec::new();
    let mut first = None;
    for nr in 1..=MANY {
        let sent = bench.arguments()?;
        let reply = bench.call(bench.group.create, &sent.clone().into()).await?;
        if nr == 1 && reply.ms > QUICK {
            return None;
        }
        if is_failed(&reply) || reply.end != End::Result {
            let before = if nr > 1 { nr - 1 } else { bench.made.created };
            return (before > FEW).then(|| Err(format!("the creation succeeded {before} times, and then failed")));
        }
        let thing = bench.thing(sent, &reply)?;
        if !ids.insert(thing.id().to_string()) {
            return Some(Err(format!("the {nr}. thing has the id of another one, {}", thing.id())));
        }
        keys.push(thing.key.clone());
        first.get_or_insert(thing);
    }
    let first = first?;
    if let Some(list) = bench.list().await
        && let Some(told) = cut(bench, &list, &keys)
    {
        return Some(Err(told));
    }
    match bench.read(&first).await {
        Some(Err(())) => Some(Err(format!("the first of {MANY} things cannot be read any more"))),
        _ => Some(Ok(())),
    }
}

/// Things that are created at the same time have ids of their own, and each can be read.
pub async fn created_at_once(bench: &mut Bench<'_, '_, '_>) -> Outcome {
    let alone = bench.create().await?;
    bench.read(&alone).await?.ok()?;
    let sent: Vec<Map<String, Value>> = (0..AT_ONCE).filter_map(|_| bench.arguments()).collect();
    let all: Vec<Value> = sent.iter().cloned().map(Value::from).collect();
    let limit = bench.observer.caller.limit;
    let (context, subject) = (bench.observer.context, &bench.group.create.subject);
    let replies = bench.observer.caller.at_once(context, subject, &all, false, limit).await;
    let mut things = Vec::new();
    for ((reply, arguments), sent) in replies.iter().zip(&all).zip(sent) {
        bench.note(bench.group.create, arguments, reply);
        things.extend(bench.thing(sent, reply));
    }
    let mut ids = HashSet::new();
    for thing in &things {
        if !ids.insert(thing.id().to_string()) {
            return Some(Err(format!("two things that were created at the same time have the id {}", thing.id())));
        }
    }
    for thing in &things {
        match bench.read(thing).await? {
            Err(()) => return Some(Err(format!("{}, created at the same time as others, cannot be read", thing.id()))),
            Ok(shown) => {
                let own = thing.confirmed.iter().filter(|(name, _)| shown.contains_key(*name));
                let own: Map<String, Value> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
                if let Some(told) = differs(&own, &shown) {
                    return Some(Err(format!("created at the same time as others, {told}")));
                }
            }
        }
    }
    Some(Ok(()))
}

/// Whether a list leaves out things without any sign that there are more.
fn cut(bench: &Bench, list: &conform_model::evidence::Reply, keys: &[Map<String, Value>]) -> Option<String> {
    let source = bench.group.list?;
    let takes_none = source.subject.schema["properties"].as_object().is_none_or(Map::is_empty);
    let outer = record::all(list).into_iter().next()?;
    // A field besides the list may say that it is one page.
    if !takes_none || outer.len() > 1 || !outer.values().all(Value::is_array) {
        return None;
    }
    let listed = keys.iter().filter(|key| record::times(list, key) > 0).count();
    (listed < keys.len()).then(|| {
        format!("{} things were created, and {listed} of them are listed, with no sign that there are more", keys.len())
    })
}

/// After a cancelled creation, creating and reading work as before.
pub async fn cancelled(bench: &mut Bench<'_, '_, '_>) -> Outcome {
    let before = bench.create().await?;
    bench.read(&before).await?.ok()?;
    let arguments = Value::from(bench.arguments()?);
    let limit = bench.observer.caller.limit;
    let (context, subject) = (bench.observer.context, &bench.group.create.subject);
    let replies = bench.observer.caller.at_once(context, subject, std::slice::from_ref(&arguments), true, limit).await;
    for reply in &replies {
        bench.note(bench.group.create, &arguments, reply);
    }
    if !bench.observer.caller.responds().await {
        // Another rule reports that.
        bench.observer.caller.renew().await;
        return None;
    }
    let sent = bench.arguments()?;
    let reply = bench.call(bench.group.create, &sent.clone().into()).await?;
    if is_failed(&reply) {
        return Some(Err("creating fails after another creation was cancelled".to_owned()));
    }
    let after = bench.thing(sent, &reply)?;
    match bench.read(&after).await? {
        Err(()) => Some(Err("what is created after a cancellation cannot be read".to_owned())),
        Ok(_) => Some(Ok(())),
    }
}
