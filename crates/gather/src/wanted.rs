//! Classifies what a step sends or waits for: a server that does not respond to one request of a kind responds to none.

use std::{collections::BTreeSet, time::Duration};

use serde_json::Value;

use super::{
    call::{filled, patience},
    step::Stage,
};
use conform_session::{Kind, Wanted};
use conform_suite::{Await, Call, HttpCall, List, Scope, Step, Verb};

/// The params that distinguish requests with the same method.
const NAMED_BY: [&str; 7] = ["/name", "/uri", "/prefix", "/cursor", "/ref/name", "/ref/uri", "/argument/name"];

/// Whether to skip a step, because two of its kind in this suite got no reply.
pub fn is_given_up(stage: &Stage<'_>, step: &Step, scope: &Scope<'_>) -> bool {
    let wanted = match &step.verb {
        Verb::Call(call) => of_call(stage, call, scope),
        Verb::List(list) => of_list(stage, list, scope),
        Verb::Http(http) => of_http(stage, http, scope),
        Verb::Await(wait) if !wait.none_within => Some(of_await(stage, wait)),
        _ => None,
    };
    wanted.is_some_and(|wanted| stage.known().unanswered.gives_up(&wanted))
}

pub fn of_call(stage: &Stage<'_>, call: &Call, scope: &Scope<'_>) -> Option<Wanted> {
    let method = call.method.resolve(scope).ok()?;
    let mut kind = kind(method.as_str()?, &filled(call.with.as_ref(), scope)?.unwrap_or_default());
    // A new connection may itself be the reason for no response.
    if call.alone {
        kind.text.push_str(" on a new connection");
    }
    Some(wanted(stage, kind, patience(call, stage)))
}

pub fn of_list(stage: &Stage<'_>, list: &List, scope: &Scope<'_>) -> Option<Wanted> {
    let params = filled(list.with.as_ref(), scope)?.unwrap_or_default();
    Some(wanted(stage, kind(&list.method, &params), None))
}

pub fn of_http(stage: &Stage<'_>, http: &HttpCall, scope: &Scope<'_>) -> Option<Wanted> {
    let body = filled(http.body.as_ref(), scope)?.unwrap_or_default();
    let inner = kind(body["method"].as_str().unwrap_or_default(), &body["params"]);
    let parts = [&http.method, &inner.text].map(String::as_str);
    let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    Some(wanted(stage, Kind { text, ..inner }, http.seconds.map(Duration::from_secs_f64)))
}

pub fn of_await(stage: &Stage<'_>, wait: &Await) -> Wanted {
    let kind = Kind { text: wait.method.clone(), types: String::new(), awaited: true };
    wanted(stage, kind, Some(Duration::from_secs_f64(wait.seconds.max(0.0))))
}

fn wanted(stage: &Stage<'_>, kind: Kind, within: Option<Duration>) -> Wanted {
    let most = stage.limits.request;
    Wanted { kind, suite: stage.suite.id.clone(), within: within.map_or(most, |within| within.min(most)) }
}

/// The method, its subject, and the types of the other params.
fn kind(method: &str, params: &Value) -> Kind {
    let named = NAMED_BY.iter().filter_map(|path| params.pointer(path)?.as_str());
    let text = [method].into_iter().chain(named).collect::<Vec<_>>().join(" ");
    let mut types = BTreeSet::new();
    note_types(params, &mut types);
    Kind { text, types: types.into_iter().collect::<Vec<_>>().join(" "), awaited: false }
}

/// Collects the types of scalars. Booleans, and the presence of fields, are ignored.
fn note_types(value: &Value, types: &mut BTreeSet<&'static str>) {
    match value {
        Value::Object(members) => {
            members.iter().filter(|(name, _)| *name != "_meta").for_each(|(_, member)| note_types(member, types));
        }
        Value::Array(_) | Value::Bool(_) => {}
        Value::Null => _ = types.insert("null"),
        Value::Number(_) => _ = types.insert("number"),
        Value::String(_) => _ = types.insert("string"),
    }
}
