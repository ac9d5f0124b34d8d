//! Executes the steps of a suite: whether each applies, for which items, and where the result is saved.

use std::{cell::Cell, collections::HashSet, future::Future, pin::Pin, ptr, sync::Arc, time::Duration};

use futures_util::{StreamExt, stream};
use serde_json::{Map, Value, json};
use tokio::{
    sync::{Mutex, MutexGuard},
    time::sleep,
};

use super::{
    await_, beforehand::pause_before_change, call, change, list, overlap, probe, send, walk, wanted::is_given_up,
};
use conform_model::{
    evidence::{End, Recorder, RunContext, weight},
    revision::Revision,
};
use conform_session::{Conversation, Known, OneShot, Session};
use conform_suite::{
    Each, Pause, Scope, Step, Suite, Template, Verb, ground,
    plan::{lacking, left_out},
};
use conform_wire::target::Limits;

/// The context of every verb.
pub struct Stage<'a> {
    pub suite: &'a Suite,
    pub beside: &'a OneShot,
    /// `None` in a suite where every call has its own connection.
    pub conversation: Option<&'a Conversation>,
    pub recorder: &'a Recorder,
    pub limits: &'a Limits,
    pub context: &'a RunContext,
    pub controls: probe::Controls,
    /// Suites that make the same change hold this while they use the server.
    pub turn: Option<&'a Mutex<()>>,
}

impl Stage<'_> {
    /// What the connections of the run have shown about the server.
    pub fn known(&self) -> &Known {
        &self.beside.opener.known
    }

    /// The params of a request of this suite. A suite about an extension declares it in each request, where clients do so.
    pub fn declaring(&self, params: Option<Value>) -> Option<Value> {
        const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
        let Some(extension) = self.suite.applies.extension.as_ref().filter(|_| self.context.revision.is_modern())
        else {
            return params;
        };
        let mut params = params.unwrap_or_else(|| json!({}));
        let meta = params.as_object_mut().map(|params| params.entry("_meta").or_insert_with(|| json!({})));
        if let Some(Value::Object(meta)) = meta {
            let profile = &self.beside.opener.profile;
            let declared = || profile.with_extension(extension, self.context.revision);
            meta.entry(CAPABILITIES).or_insert_with(declared);
        }
        Some(params)
    }

    /// The connection of the suite.
    pub async fn session(&self) -> Option<Arc<Session>> {
        Some(self.conversation?.session().await)
    }
}

/// The steps of a suite that apply to this server.
pub fn steps<'a>(suite: &'a Suite, context: &RunContext) -> impl Iterator<Item = &'a Step> {
    let counts = |step: &&Step| left_out(&step.applies, context).is_none() && lacking(&step.applies, context).is_none();
    suite.gather.iter().filter(counts)
}

/// Executes the steps of a suite. Returns an object with a field for each save.
pub async fn gather(stage: &Stage<'_>) -> Value {
    let ground = ground(stage.context, stage.suite);
    let mut saves = Map::new();
    let mut began = Map::new();
    let between = pause_before_change(stage.suite, stage.context);
    let mut turn = taken(stage).await;
    for step in steps(stage.suite, stage.context) {
        // The pause is for the clock of the server, and changes by others do not matter until it is over.
        if between.is_some_and(|pause| ptr::eq(pause, step)) {
            drop(turn.take());
        } else if turn.is_none() {
            turn = taken(stage).await;
        }
        if step.verb.spec().needs_second && stage.beside.opener.is_single() {
            continue;
        }
        let before = json!(stage.recorder.frames_so_far());
        let saved = {
            let mut scope = Scope::over(&ground);
            for (name, value) in &saves {
                scope.bind(name.as_str(), value);
            }
            take(stage, step, &scope, &began).await
        };
        if let (Some(name), Some(value)) = (&step.save, saved) {
            saves.insert(name.clone(), value);
            began.insert(name.clone(), before);
        }
    }
    Value::Object(saves)
}

async fn taken<'a>(stage: &Stage<'a>) -> Option<MutexGuard<'a, ()>> {
    match stage.turn {
        Some(turn) => Some(turn.lock().await),
        None => None,
    }
}

/// The result of one step, or of one step for each item; `None` if its `where` fails.
async fn take(stage: &Stage<'_>, step: &Step, scope: &Scope<'_>, began: &Map<String, Value>) -> Option<Value> {
    let revision = stage.context.revision;
    let Some(each) = &step.each else {
        return if holds(step, scope, revision) && !shows_nothing(stage, step, scope) {
            act(stage, step, scope, began).await
        } else {
            None
        };
    };
    let mut seen = HashSet::new();
    let items: Vec<Value> = items(each, scope)
        .into_iter()
        .filter(|item| !each.distinct || seen.insert(item.to_string()))
        .filter(|item| {
            let mut inner = Scope::over(scope);
            inner.bind(each.var.as_str(), item);
            holds(step, &inner, revision) && !shows_nothing(stage, step, &inner)
        })
        .collect();
    let items = sample(items, each);
    let received = Cell::new(0);
    let is_enough = || each.at_most_bytes.is_some_and(|most| received.get() > most);
    let limited = stage.known().put_off.any();
    let at_once = if each.in_order || limited { 1 } else { stage.limits.in_flight };
    let (is_enough, received) = (&is_enough, &received);
    let one = |item: Value| async move {
        let mut inner = Scope::over(scope);
        inner.bind(each.var.as_str(), &item);
        if is_enough() || shows_nothing(stage, step, &inner) {
            return None;
        }
        let reply = act(stage, step, &inner, began).await;
        received.set(received.get() + reply.as_ref().map_or(0, weight));
        let mut entry = json!({});
        entry[&each.var] = item;
        entry["reply"] = reply.unwrap_or_default();
        Some(entry)
    };
    let entries: Vec<_> = stream::iter(items).map(one).buffered(at_once.max(1)).collect().await;
    let mut entries: Vec<Value> = entries.into_iter().flatten().collect();
    if at_once > 1 {
        // Only one of the concurrent requests can have made the server exit, so all of them are repeated.
        for entry in entries.iter_mut().filter(|entry| End::of(&entry["reply"]) == Some(End::Closed)) {
            let item = entry[&each.var].take();
            *entry = one(item.clone()).await.unwrap_or_else(|| json!({ &each.var: item, "reply": null }));
        }
    }
    Some(Value::Array(entries))
}

/// Whether the step counts. The filter of a walk is for its nodes.
fn holds(step: &Step, scope: &Scope<'_>, revision: Revision) -> bool {
    matches!(step.verb, Verb::Walk(_)) || step.filter.iter().all(|clause| clause.holds(scope, revision))
}

/// Whether the step would show nothing new.
fn shows_nothing(stage: &Stage<'_>, step: &Step, scope: &Scope<'_>) -> bool {
    call::causes_no_client_request(stage, step, scope) || is_given_up(stage, step, scope)
}

/// At most `at_most` items, spread over the list, since later items can be of another kind. If the order matters, the
/// first ones.
fn sample(mut items: Vec<Value>, each: &Each) -> Vec<Value> {
    let most = each.at_most.unwrap_or(usize::MAX);
    if most < items.len() {
        let last = items.len() - 1;
        for place in (1..most).filter(|_| !each.in_order) {
            items.swap(place, place * last / (most - 1));
        }
        items.truncate(most);
    }
    items
}

pub(super) fn items(each: &Each, scope: &Scope) -> Vec<Value> {
    if let Template::Array(parts) = &each.over {
        return joined(parts, scope).unwrap_or_default();
    }
    match each.over.resolve(scope) {
        Ok(Value::Array(items)) => items,
        // The list was not gathered, or is not a list: there is nothing to iterate over.
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// Literal items. A list that is referenced among them is replaced by its items.
fn joined(parts: &[Template], scope: &Scope) -> Option<Vec<Value>> {
    let mut items = Vec::with_capacity(parts.len());
    for part in parts {
        match (part, part.resolve(scope).ok()?) {
            (Template::Reference(_), Value::Array(list)) => items.extend(list),
            (_, item) => items.push(item),
        }
    }
    Some(items)
}

/// Boxed, because verbs call each other through it.
fn act<'a>(
    stage: &'a Stage<'a>,
    step: &'a Step,
    scope: &'a Scope<'a>,
    began: &'a Map<String, Value>,
) -> Pin<Box<dyn Future<Output = Option<Value>> + 'a>> {
    Box::pin(async move {
        let deviation = probe::deviation(step.deviates.as_ref(), scope)?;
        let control = probe::control(stage, step, scope).await;
        // The name of a raw message is its text, which shows how it deviates.
        let is_raw = matches!(step.verb, Verb::Send(_));
        let unlike = if is_raw { String::new() } else { deviation.in_words(stage.context.transport) };
        let mut saved = match &step.verb {
            Verb::Call(call) => call::call(stage, call, scope, deviation).await,
            Verb::List(list) => list::list(stage, list, scope).await,
            Verb::Walk(walk) => {
                let save = step.save.as_deref().filter(|_| step.each.is_none());
                walk::walk(stage, walk, save, &step.filter, scope).await
            }
            Verb::Overlap(overlap) => overlap::overlap(stage, overlap, scope).await,
            Verb::Notify(notify) => call::notify(stage, notify, scope, &deviation).await,
            Verb::Await(wait) => await_::wait(stage, wait, scope, began).await,
            Verb::Send(send) => send::send(stage, send, scope, &deviation).await,
            Verb::Http(http) => send::http(stage, http, scope, deviation).await,
            Verb::Change(cause) => change::change(stage, cause, scope).await,
            Verb::Cancel(id) => call::cancel(stage, id, scope).await,
            Verb::Pause(wait) => {
                pause(stage, wait).await;
                None
            }
        };
        if let (Some(saved), Some(control)) = (&mut saved, control) {
            saved["control"] = control;
        }
        if let Some(asked) = saved.as_mut().and_then(|saved| saved.get_mut("asked")).filter(|asked| asked.is_string()) {
            *asked = json!(format!("{}{unlike}", asked.as_str().unwrap_or_default()));
        }
        let undeclared = saved.as_ref().and_then(|saved| step.verb.spec().saves.undeclared(saved));
        debug_assert_eq!(undeclared, None, "a field that crates/suite/src/views lacks");
        saved
    })
}

async fn pause(stage: &Stage<'_>, Pause { seconds, or_request }: &Pause) {
    let pause = Duration::from_secs_f64(*seconds);
    match stage.session().await.filter(|_| *or_request) {
        Some(session) => {
            let is_request = |message: &Value| message.get("id").is_some() && message["method"] != "ping";
            session.arrival(0, pause, is_request).await;
        }
        None => sleep(pause).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_over_the_list_unless_the_order_counts() {
        let taken = |at_most: usize, in_order: bool| {
            let items = (0..10).map(Value::from).collect();
            let each = Each {
                var: "item".into(),
                over: Template::Array(Vec::new()),
                at_most: Some(at_most),
                at_most_bytes: None,
                in_order,
                distinct: false,
            };
            Value::Array(sample(items, &each)).to_string()
        };
        assert_eq!(taken(4, false), "[0,3,6,9]");
        assert_eq!(taken(4, true), "[0,1,2,3]");
        assert_eq!(taken(1, false), "[0]");
        assert_eq!(taken(20, false), "[0,1,2,3,4,5,6,7,8,9]");
    }
}
