//! Lists before and after.

use serde_json::{Map, Value};

use super::{
    Outcome,
    bench::{Bench, Thing, is_valid},
    reads::differs,
    record,
};
use crate::{
    calls::Kind,
    item::is_failed,
    values::{invalid::at_spot, misses::is_tolerated, schema::Root, spots::spots},
};
use conform_model::evidence::Reply;
use conform_suite::foreign::Checker;

/// How often a list shows a thing that should be in it once.
fn once(list: &Reply, thing: &Thing, after: &str) -> Result<(), String> {
    match record::times(list, &thing.key) {
        1 => Ok(()),
        0 => Err(format!("{} is not listed after {after}", thing.id())),
        times => Err(format!("{} is listed {times} times after {after}", thing.id())),
    }
}

/// Each created thing is listed once, and none is lost.
pub async fn listed(bench: &mut Bench<'_, '_, '_>) -> Outcome {
    let before = bench.list().await?;
    let first = bench.create().await?;
    let list = bench.list().await?;
    let second = bench.create().await?;
    let last = bench.list().await?;
    let has_parameters =
        bench.group.list?.subject.schema["properties"].as_object().is_some_and(|parts| !parts.is_empty());
    let counts = [&before, &list, &last].map(|reply| record::all(reply).len());
    if has_parameters && counts[0] >= counts[2] {
        // It may be one page, and full.
        return None;
    }
    let told = once(&list, &first, "it was created")
        .and_then(|()| once(&last, &first, "another thing was created"))
        .and_then(|()| once(&last, &second, "it was created"));
    if told.is_err() {
        return Some(told);
    }
    // What a list shows of a thing is what was confirmed.
    let shown = record::with_key(&last, &second.key).into_iter().next()?;
    let own: Map<String, Value> = second
        .confirmed
        .iter()
        .filter(|(name, _)| shown.contains_key(*name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let is_cut = |name: &String| {
        shown.get(name).and_then(Value::as_str).is_some_and(|text| text.ends_with("...") || text.ends_with('…'))
    };
    if let Some(told) = differs(&own, &shown).filter(|_| !own.keys().any(is_cut)) {
        return Some(Err(format!("in the list, {told}")));
    }
    let items = &bench.group.list?.subject.listed["outputSchema"]["properties"];
    let declared =
        items.as_object().into_iter().flatten().find_map(|(_, part)| part["items"]["properties"].as_object());
    let lacking = second
        .confirmed
        .keys()
        .find(|name| !shown.contains_key(*name) && declared.is_some_and(|declared| declared.contains_key(*name)));
    Some(match lacking {
        Some(name) => {
            Err(format!("the list lacks `{name}`, which its `outputSchema` declares and the creation confirmed"))
        }
        None => Ok(()),
    })
}

/// Listing changes nothing.
pub async fn listed_then_read(bench: &mut Bench<'_, '_, '_>) -> Outcome {
    let first = bench.create().await?;
    let second = bench.create().await?;
    let before = bench.read(&first).await?.ok()?;
    bench.read(&second).await?.ok()?;
    bench.list().await?;
    match bench.read(&first).await? {
        Err(()) => Some(Err(format!("{} cannot be read after things were listed", first.id()))),
        Ok(shown) if shown != before => {
            Some(Err(format!("{} is read in another way after things were listed", first.id())))
        }
        Ok(_) => Some(Ok(())),
    }
}

/// A creation that fails leaves nothing behind.
pub async fn failed_creation(bench: &mut Bench<'_, '_, '_>) -> Outcome {
    let create = bench.group.create;
    bench.list().await?;
    let sent = bench.arguments()?;
    let text =
        sent.values().find_map(|value| value.as_str().filter(|text| text.ends_with(char::is_numeric)))?.to_owned();
    let reply = bench.call(create, &sent.clone().into()).await?;
    let list = bench.list().await?;
    let says = |list: &Reply| record::text(list).contains(&text);
    if is_failed(&reply) {
        return says(&list).then(|| Err("the creation failed, and the thing is listed".to_owned()));
    }
    // What an invalid creation would store has the text of its own.
    let known = bench.arguments()?;
    let own =
        known.values().find_map(|value| value.as_str().filter(|text| text.ends_with(char::is_numeric)))?.to_owned();
    let arguments = invalid(bench, &known.into(), &own)?;
    let reply = bench.call(create, &arguments).await?;
    if !is_failed(&reply) {
        return None;
    }
    let after = bench.list().await?;
    if record::text(&after).contains(&own) {
        return Some(Err("an invalid creation failed, and the thing is listed".to_owned()));
    }
    Some(Ok(()))
}

/// Invalid arguments that keep this text.
fn invalid(bench: &Bench, valid: &Value, text: &str) -> Option<Value> {
    let create = bench.group.create;
    let schema = &create.subject.schema;
    let checker = Checker::new(schema)?;
    let root = Root(schema);
    let all = spots(root, valid);
    let mut found = all.iter().flat_map(|spot| at_spot(root, spot, valid, &checker));
    found.find_map(|one| {
        let keeps = one.arguments.to_string().contains(text) && !is_tolerated(&one.keyword, one.kind);
        let call = create.of(one.arguments.clone(), false)?;
        (keeps && call.kind == Kind::Invalid && !is_valid(create, &one.arguments)).then_some(one.arguments)
    })
}
