//! Updates and deletions change what they should, and nothing else.

use serde_json::{Map, Value, json};

use super::{
    Outcome,
    bench::{Bench, Thing, is_valid, named, salted},
    reads::differs,
    record,
};
use crate::{calls::Source, item::is_failed};
use conform_model::evidence::{End, Reply};

/// Added to the number of a thing for its new values.
const NEW: usize = 500;

/// Arguments of an update with these fields; what else is required is repeated.
fn arguments(
    update: &Source,
    key: &Map<String, Value>,
    known: &Map<String, Value>,
    new: &Map<String, Value>,
) -> Option<Value> {
    let mut arguments = Map::new();
    for name in super::group::required(update) {
        let value = new.get(&name).or_else(|| known.get(&name)).cloned();
        let of_key = named_in(key, &name);
        arguments.insert(name, of_key.or(value)?);
    }
    for (name, value) in key {
        if update.subject.schema["properties"].get(name).is_some() {
            arguments.insert(name.clone(), value.clone());
        }
    }
    arguments.extend(new.clone());
    let arguments = Value::from(arguments);
    is_valid(update, &arguments).then_some(arguments)
}

fn named_in(key: &Map<String, Value>, name: &str) -> Option<Value> {
    let own = key.iter().find(|(known, _)| record::plain(known) == record::plain(name));
    let only = key.iter().next().filter(|_| key.len() == 1 && record::plain(name).ends_with("id"));
    own.or(only).map(|(_, value)| value.clone())
}

/// Two things, of which one is updated: it has the new values and keeps the others, and so does the other thing.
pub async fn updated(bench: &mut Bench<'_, '_, '_>, fields: &[String]) -> Outcome {
    let thing = bench.create().await?;
    let other = bench.create().await?;
    let (before, beside) = (bench.read(&thing).await?.ok()?, bench.read(&other).await?.ok()?);
    let number = bench.made.number + NEW;
    let mut new = Map::new();
    for name in fields {
        let old = before.get(name).filter(|old| thing.sent.get(name) == Some(*old))?;
        let salted = salted(old, number);
        // Booleans have only one other value.
        new.insert(name.clone(), old.as_bool().map_or(salted, |old| json!(!old)));
    }
    change(bench, (&thing, &before), (&other, &beside), new).await
}

async fn change(
    bench: &mut Bench<'_, '_, '_>,
    (thing, before): (&Thing, &Map<String, Value>),
    (other, beside): (&Thing, &Map<String, Value>),
    new: Map<String, Value>,
) -> Outcome {
    let update = bench.group.update?;
    let listed = bench.list().await.filter(|list| !record::with_key(list, &thing.key).is_empty());
    let reply = bench.call(update, &arguments(update, &thing.key, before, &new)?).await?;
    if is_failed(&reply) || reply.end != End::Result {
        return None;
    }
    let mut expected = before.clone();
    expected.extend(new.clone());
    let Ok(shown) = bench.read(thing).await? else {
        return Some(Err(format!("{} cannot be read after its update", thing.id())));
    };
    if let Some(told) = differs(&expected, &shown) {
        let names: Vec<&str> = new.keys().map(String::as_str).collect();
        return Some(Err(
            told.replace("was confirmed as", &format!("should, after the update of {}, be", names.join(", ")))
        ));
    }
    if bench.read(other).await?.ok().as_ref() != Some(beside) {
        return Some(Err(format!("the update of {} changes {} too", thing.id(), other.id())));
    }
    // What the result of the update shows of a changed field is its new value.
    let says = record::about(&reply, &new).unwrap_or_default();
    let is_old = |(name, value): &(&String, &Value)| {
        says.get(*name).is_some_and(|own| own != *value && before.get(*name) == Some(own))
    };
    if let Some((name, value)) = new.iter().find(is_old) {
        return Some(Err(format!("the update confirms the old value of `{name}`, and {value} is read")));
    }
    if let Some(list) = listed
        && let Some(after) = bench.list().await
        && let (Some(old), Some(own)) = (first(&list, thing), first(&after, thing))
        && let Some((name, _)) = new.iter().find(|(name, value)| {
            old.get(*name) == before.get(*name) && old.contains_key(*name) && own.get(*name) != Some(*value)
        })
    {
        return Some(Err(format!("the list shows the old value of `{name}` after the update")));
    }
    Some(Ok(()))
}

fn first(list: &Reply, thing: &Thing) -> Option<Map<String, Value>> {
    record::with_key(list, &thing.key).into_iter().next()
}

/// A field can be updated to the value that is empty, zero or false.
pub async fn to_nothing(bench: &mut Bench<'_, '_, '_>, field: &str) -> Outcome {
    let thing = bench.create().await?;
    let other = bench.create().await?;
    let (before, beside) = (bench.read(&thing).await?.ok()?, bench.read(&other).await?.ok()?);
    let nothing = match before.get(field).filter(|old| thing.sent.get(field) == Some(*old))? {
        Value::String(_) => json!(""),
        Value::Number(_) => json!(0),
        Value::Array(_) => json!([]),
        Value::Bool(_) => json!(false),
        _ => return None,
    };
    change(bench, (&thing, &before), (&other, &beside), Map::from_iter([(field.to_owned(), nothing)])).await
}

/// The same update again succeeds, if the tool says that it has no further effect.
pub async fn twice(bench: &mut Bench<'_, '_, '_>) -> Outcome {
    let update = bench.group.update.filter(|update| update.subject.has_hint("idempotentHint"))?;
    let thing = bench.create().await?;
    let before = bench.read(&thing).await?.ok()?;
    let name = bench.updatable().into_iter().next()?;
    let new = Map::from_iter([(name.clone(), salted(before.get(&name)?, bench.made.number + NEW))]);
    let same = arguments(update, &thing.key, &before, &new)?;
    if is_failed(&bench.call(update, &same).await?) {
        return None;
    }
    let once = bench.read(&thing).await?.ok()?;
    if is_failed(&bench.call(update, &same).await?) {
        return Some(Err("the update has `idempotentHint`, and fails if it is made again".to_owned()));
    }
    let shown = bench.read(&thing).await?.ok()?;
    Some(match differs(&once, &shown) {
        Some(told) => Err(format!("the update has `idempotentHint`, and made again it has an effect: {told}")),
        None => Ok(()),
    })
}

/// A thing that does not exist cannot be updated.
pub async fn unknown(bench: &mut Bench<'_, '_, '_>) -> Outcome {
    let update = bench.group.update?;
    let thing = bench.create().await?;
    let before = bench.read(&thing).await?.ok()?;
    let key: Map<String, Value> =
        thing.key.iter().map(|(name, value)| (name.clone(), salted(value, 987_654))).collect();
    let none = Thing { key, ..thing.clone() };
    if bench.read(&none).await?.is_ok() {
        return None;
    }
    let name = bench.updatable().into_iter().next()?;
    let new = Map::from_iter([(name.clone(), salted(before.get(&name)?, bench.made.number + NEW))]);
    let reply = bench.call(update, &arguments(update, &none.key, &before, &new)?).await?;
    let exists = bench.read(&none).await?.is_ok();
    Some(if !is_failed(&reply) && exists {
        Err(format!("the update of {}, which did not exist, creates it", none.id()))
    } else {
        Ok(())
    })
}

/// Updates of two fields at the same time are both stored.
pub async fn at_once(bench: &mut Bench<'_, '_, '_>) -> Outcome {
    let update = bench.group.update?;
    let [one, other] = bench.updatable().into_iter().take(2).collect::<Vec<_>>().try_into().ok()?;
    let thing = bench.create().await?;
    let before = bench.read(&thing).await?.ok()?;
    let number = bench.made.number + NEW;
    let mut expected = before.clone();
    let mut all = Vec::new();
    for name in [one, other] {
        let old = before.get(&name)?;
        let new = old.as_bool().map_or_else(|| salted(old, number), |old| json!(!old));
        expected.insert(name.clone(), new.clone());
        all.push(arguments(update, &thing.key, &before, &Map::from_iter([(name, new)]))?);
    }
    let limit = bench.observer.caller.limit;
    let context = bench.observer.context;
    let replies = bench.observer.caller.at_once(context, &update.subject, &all, false, limit).await;
    for (reply, arguments) in replies.iter().zip(&all) {
        bench.note(update, arguments, reply);
    }
    if replies.iter().any(|reply| is_failed(reply) || reply.end != End::Result) {
        return None;
    }
    let shown = bench.read(&thing).await?.ok()?;
    Some(match differs(&expected, &shown) {
        Some(told) => Err(told.replace("was confirmed as", "should, after two updates at the same time, be")),
        None => Ok(()),
    })
}

/// A deletion removes the thing that it names, and no other one.
pub async fn deleted(bench: &mut Bench<'_, '_, '_>) -> Outcome {
    let delete = bench.group.delete?;
    let kept = bench.create().await?;
    let thing = bench.create().await?;
    let last = bench.create().await?;
    let list = bench.list().await;
    let mut before = Vec::new();
    for thing in [&kept, &last] {
        before.push(bench.read(thing).await.and_then(Result::ok));
    }
    let reply = bench.call(delete, &named(delete, &thing.key)?).await?;
    if is_failed(&reply) || reply.end != End::Result {
        return None;
    }
    let after = bench.list().await;
    for (other, before) in [&kept, &last].into_iter().zip(before) {
        if before.is_some() && bench.read(other).await.and_then(Result::ok) != before {
            return Some(Err(format!("the deletion of {} changes {} too", thing.id(), other.id())));
        }
    }
    // Where reading always succeeds, it says nothing.
    let none: Map<String, Value> =
        thing.key.iter().map(|(name, value)| (name.clone(), salted(value, 987_654))).collect();
    let none = Thing { key: none, ..thing.clone() };
    if let (Some(Ok(_)), Some(Err(()))) = (bench.read(&thing).await, bench.read(&none).await) {
        return Some(Err(format!("{} can still be read after its deletion", thing.id())));
    }
    let was_listed = list.is_some_and(|list| !record::with_key(&list, &thing.key).is_empty());
    if was_listed && after.is_some_and(|list| !record::with_key(&list, &thing.key).is_empty()) {
        return Some(Err(format!("{} is still listed after its deletion", thing.id())));
    }
    Some(Ok(()))
}
