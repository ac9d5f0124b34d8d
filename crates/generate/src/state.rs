//! Whether calls change the state of the server: its lists, its resources, and results of tools without arguments.
//!
//! Spontaneous changes do not count: the state is read twice before the call, and once more after a while without a
//! call. A change counts only if the same call causes one again.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    calls::{Call, Kind, Source, of_kind},
    item::Item,
    observe::{Observer, SLOW},
    subject::{Subject, What},
    together::Accepted,
};
use conform_model::evidence::End;

/// Maximum number of resources and tools that are read.
const RESOURCES: usize = 10;
const TOOLS: usize = 5;
/// Maximum number of tested tools.
const TRIED: usize = 12;
/// Maximum number of calls of an idempotent tool: one that adds zero changes nothing.
const CALLS: usize = 3;
/// A clock with a resolution of one second changes in this time.
const WHILE: Duration = Duration::from_millis(1_200);

type Shown = BTreeMap<String, Value>;

/// Reads the state of the server.
async fn shown(observer: &mut Observer<'_>, except: &str) -> Shown {
    let mut shown = Shown::new();
    let survey = observer.context.saves["survey"].clone();
    for (list, method, field, capability) in [
        ("the list of tools", "tools/list", "tools", "tools"),
        ("the list of prompts", "prompts/list", "prompts", "prompts"),
        ("the list of resources", "resources/list", "resources", "resources"),
    ] {
        if observer.context.offers(capability) {
            shown.insert(list.to_owned(), json!(observer.caller.list(method, field).await.unwrap_or_default()));
        }
    }
    for resource in survey["resources"]["items"].as_array().into_iter().flatten().take(RESOURCES) {
        let reply = observer.caller.request("resources/read", json!({ "uri": resource["uri"] }), Vec::new()).await;
        if reply.end == End::Result {
            shown.insert(format!("resource {}", resource["uri"]), reply.result.unwrap_or_default()["contents"].clone());
        }
    }
    let plain = |tool: &&Value| {
        let required = tool["inputSchema"]["required"].as_array().is_some_and(|required| !required.is_empty());
        tool["annotations"]["readOnlyHint"] == true && !required && tool["name"] != except
    };
    for tool in survey["tools"]["items"].as_array().into_iter().flatten().filter(plain).take(TOOLS) {
        let Some(subject) = Subject::tool(tool).filter(|subject| !observer.slow.contains(&subject.name)) else {
            continue;
        };
        let Some(reply) = observer.reply(&subject, &json!({})).await else { continue };
        if reply.ms >= SLOW {
            observer.slow.insert(subject.name);
        } else if reply.end == End::Result {
            shown.insert(format!("tool {}", tool["name"]), reply.result.unwrap_or_default()["content"].clone());
        }
    }
    shown
}

/// The names of values that are in both and differ.
fn differs(one: &Shown, other: &Shown) -> Vec<String> {
    one.iter()
        .filter(|(name, value)| other.get(*name).is_some_and(|other| other != *value))
        .map(|(name, _)| name.clone())
        .collect()
}

/// Calls tools that claim to be read-only or idempotent, and returns what they change.
pub async fn changes(
    observer: &mut Observer<'_>,
    sources: &[Source],
    accepted: &Accepted,
    over: impl Fn() -> bool,
) -> Vec<(Item, Call, usize)> {
    let mut found = Vec::new();
    let tools = of_kind(sources, What::Tool);
    let tried: Vec<(usize, &Source)> = tools
        .filter(|(_, source)| ["readOnlyHint", "idempotentHint"].iter().any(|hint| source.subject.has_hint(hint)))
        .take(TRIED)
        .collect();
    for (index, source) in tried {
        let read_only = source.subject.has_hint("readOnlyHint");
        let plain = source.plainest().and_then(|arguments| source.of(arguments, false));
        let calls = plain.into_iter().chain(accepted.of(index).iter().cloned()).filter(|call| call.kind == Kind::Valid);
        for call in calls.take(if read_only { 1 } else { CALLS }) {
            if over() || observer.caller.gone.is_some() {
                return found;
            }
            if !read_only {
                // An idempotent tool may change something at its first call.
                observer.observe(source, &call).await;
            }
            let Some((mut item, changed)) = twice(observer, source, &call).await else { continue };
            let changes = !changed.is_empty();
            *(if read_only { &mut item.seen.changed } else { &mut item.seen.changed_again }) = Some(changed);
            found.push((item, call, index));
            if changes {
                break;
            }
        }
    }
    found
}

/// What a call changes, twice in a row; empty if nothing; `None` if it fails.
async fn twice(observer: &mut Observer<'_>, source: &Source, call: &Call) -> Option<(Item, Vec<String>)> {
    let name = source.subject.name.clone();
    let (before, again) = (shown(observer, &name).await, shown(observer, &name).await);
    let item = observer.observe(source, call).await.filter(Item::succeeded)?;
    let after = shown(observer, &name).await;
    let unsteady = differs(&before, &again);
    let mut changed = differs(&again, &after);
    changed.retain(|name| !unsteady.contains(name));
    if changed.is_empty() {
        return Some((item, changed));
    }
    sleep(WHILE).await;
    let later = shown(observer, &name).await;
    let unsteady = differs(&after, &later);
    let item = observer.observe(source, call).await?;
    let after = shown(observer, &name).await;
    let changes_again = differs(&later, &after);
    sleep(WHILE).await;
    let last = shown(observer, &name).await;
    let moves = differs(&after, &last);
    changed.retain(|name| !unsteady.contains(name) && changes_again.contains(name) && !moves.contains(name));
    Some((item, changed))
}
