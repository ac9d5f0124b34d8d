//! One step after another: what it is done for, whether it applies, and where the outcome is kept.

use std::{future::Future, pin::Pin, sync::Arc};

use futures_util::{StreamExt, stream};
use serde_json::{Map, Value, json};

use super::{await_, call, change, list, send, walk};
use crate::{
    evidence::{Recorder, Scene},
    plan::{lacking, left_out},
    session::{Beside, Conversation, Session},
    suite::{Each, Scope, Step, Suite, Template, Verb, ground},
    target::Limits,
};

/// What every verb works with.
pub struct Stage<'a> {
    pub suite: &'a Suite,
    pub beside: &'a Beside,
    /// Where every call is alone on a connection, there is no other.
    pub conversation: Option<&'a Conversation>,
    pub recorder: &'a Recorder,
    pub limits: &'a Limits,
    pub scene: &'a Scene,
}

impl Stage<'_> {
    /// The connection of the suite.
    pub async fn session(&self) -> Option<Arc<Session>> {
        Some(self.conversation?.session().await)
    }
}

/// The steps of a suite that count on this server.
pub fn steps<'a>(suite: &'a Suite, scene: &Scene) -> impl Iterator<Item = &'a Step> {
    let counts = |step: &&Step| left_out(&step.applies, scene).or_else(|| lacking(&step.applies, scene)).is_none();
    suite.gather.iter().filter(counts)
}

/// Whether it needs a connection beside that of its suite.
pub fn asks_beside(step: &Step) -> bool {
    match &step.verb {
        Verb::Call(call) => call.alone,
        Verb::List(list) => list.beside,
        _ => false,
    }
}

/// Runs the gather steps of a suite; the value is an object with a member for each save.
pub async fn gather(stage: &Stage<'_>) -> Value {
    let ground = ground(stage.scene, stage.suite);
    let mut saves = Map::new();
    let mut began = Map::new();
    for step in steps(stage.suite, stage.scene) {
        if asks_beside(step) && stage.beside.opener.is_single() {
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

/// The outcome of one step, or of one step for each item; `None` where its `where` does not hold.
async fn take(stage: &Stage<'_>, step: &Step, scope: &Scope<'_>, began: &Map<String, Value>) -> Option<Value> {
    let revision = stage.scene.revision;
    let Some(each) = &step.each else {
        let applies =
            matches!(step.verb, Verb::Walk(_)) || step.filter.iter().all(|clause| clause.holds(scope, revision));
        let asks = applies && !call::is_vain(stage, step, scope);
        return if asks { act(stage, step, scope, began).await } else { None };
    };
    let items: Vec<Value> = items(each, scope)
        .into_iter()
        .filter(|item| {
            let mut inner = Scope::over(scope);
            inner.bind(each.var.as_str(), item);
            step.filter.iter().all(|clause| clause.holds(&inner, revision)) && !call::is_vain(stage, step, &inner)
        })
        .take(each.at_most.unwrap_or(usize::MAX))
        .collect();
    let limited = stage.beside.opener.known.put_off.any();
    let at_once = if each.in_order || limited { 1 } else { stage.limits.in_flight };
    let one = |item: Value| async move {
        let mut inner = Scope::over(scope);
        inner.bind(each.var.as_str(), &item);
        let reply = act(stage, step, &inner, began).await;
        json!({ &each.var: item, "reply": reply })
    };
    let mut entries: Vec<Value> = stream::iter(items).map(one).buffered(at_once.max(1)).collect().await;
    if at_once > 1 {
        // Of the requests that were under way when the server died, only one can have killed it.
        for entry in entries.iter_mut().filter(|entry| entry["reply"]["end"] == "closed") {
            *entry = one(entry[&each.var].take()).await;
        }
    }
    Some(Value::Array(entries))
}

fn items(each: &Each, scope: &Scope) -> Vec<Value> {
    if let Template::Array(parts) = &each.over {
        return joined(parts, scope).unwrap_or_default();
    }
    match each.over.resolve(scope) {
        Ok(Value::Array(items)) => items,
        // The list was not gathered, or the server sent something else in its place: there is nothing to loop over.
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// Items that are written out. A list that is referred to among them stands for its own items.
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

/// Boxed, because the verbs call each other through it.
fn act<'a>(
    stage: &'a Stage<'a>,
    step: &'a Step,
    scope: &'a Scope<'a>,
    began: &'a Map<String, Value>,
) -> Pin<Box<dyn Future<Output = Option<Value>> + 'a>> {
    Box::pin(async move {
        match &step.verb {
            Verb::Call(call) => call::call(stage, call, scope).await,
            Verb::List(list) => list::list(stage, list, scope).await,
            Verb::Walk(walk) => {
                let save = step.save.as_deref().filter(|_| step.each.is_none());
                walk::walk(stage, walk, save, &step.filter, scope).await
            }
            Verb::Notify(notify) => call::notify(stage, notify, scope).await,
            Verb::Await(wait) => await_::wait(stage, wait, scope, began).await,
            Verb::Send(send) => send::send(stage, send, scope).await,
            Verb::Http(http) => send::http(stage, http, scope).await,
            Verb::Change(cause) => change::change(stage, cause, scope).await,
            Verb::Cancel(id) => call::cancel(stage, id, scope).await,
        }
    })
}
