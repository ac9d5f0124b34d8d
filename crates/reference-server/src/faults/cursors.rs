//! Faults in the cursors of lists.

use serde_json::{Map, Value, json};

use super::{Behaviour, EVERYWHERE, Heard, Memory, STDIO, Scene};
use conform_model::revision::Revision;

pub static CURSORS: &[Behaviour] = &[
    Behaviour {
        hear: Some(hear_endless),
        say: Some(say_endless),
        also: &[
            "prefix-no-match-is-empty",
            "prefix-pagination-works",
            "prefix-templates-empty-prefix-matches-all",
            "prefix-templates-no-match-is-empty",
            "prompts-name-unique",
            "sep2093-list-uri-paginated",
            "tools-name-unique",
        ],
        ..Behaviour::new("cursor-never-ends", "after the last page the list restarts with new cursors", EVERYWHERE)
    },
    Behaviour {
        hear: Some(drop_long),
        also: &["jsonrpc-exactly-one-response"],
        ..Behaviour::new(
            "long-cursor-unanswered",
            "the server never responds to a request with a very long cursor",
            EVERYWHERE,
        )
    },
    Behaviour {
        say: Some(repeat),
        also: &["prefix-pagination-works"],
        ..Behaviour::new("cursor-repeats", "the last page has its own cursor as the next one", EVERYWHERE)
    },
    Behaviour {
        hear: Some(ignore),
        also: &[
            "pagination-cursor-type-checked",
            "pagination-invalid-cursor-code",
            "pagination-templates-list",
            "pagination-terminates",
            "prefix-pagination-works",
            "prompts-name-unique",
            "resources-list-item-uri-unique",
            "tools-name-unique",
        ],
        ..Behaviour::new("cursor-ignored", "the first page is returned for any cursor", EVERYWHERE)
    },
    Behaviour {
        hear: Some(recall),
        say: Some(remember),
        also: &[
            "lifecycle-client-info-not-behavioural-prompts",
            "prefix-optional-on-list",
            "resources-list-no-side-effects",
            "sep2093-list-true-is-listable",
        ],
        ..Behaviour::new(
            "place-remembered",
            "a list request without a cursor continues after the last page",
            EVERYWHERE,
        )
    },
    Behaviour {
        say: Some(spend),
        also: &[
            "prefix-no-new-access",
            "prefix-templates-no-new-access",
            "prompts-list-not-connection-dependent",
            "resources-list-no-side-effects",
            "sep2093-list-uri-children-complete",
            "tools-list-not-connection-dependent",
        ],
        ..Behaviour::new("cursor-works-once", "a cursor that is used twice gets an empty page", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(refuse_foreign),
        say: Some(issue),
        ..Behaviour::new("cursor-bound-to-connection", "cursors of another connection are rejected", STDIO)
    },
];

const BUFFER: usize = 64 * 1024;

/// `cursor-never-ends`: each cursor is a new number followed by the healthy cursor, which is empty on the last page.
pub fn say_endless(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    memory.requests += 1;
    if let Some(result) = list_result(scene, message) {
        let healthy = result.get("nextCursor").and_then(Value::as_str).unwrap_or_default();
        result.insert("nextCursor".to_owned(), json!(format!("{}:{healthy}", memory.requests)));
    }
    true
}

pub fn hear_endless(_: &mut Memory, message: &mut Value) -> Heard {
    if let Some(params) = message.pointer_mut("/params").and_then(Value::as_object_mut) {
        let cursor = params.get("cursor").and_then(Value::as_str).and_then(|cursor| cursor.split_once(':'));
        match cursor.map(|(_, healthy)| healthy.to_owned()) {
            Some(healthy) if healthy.is_empty() => drop(params.shift_remove("cursor")),
            Some(healthy) => drop(params.insert("cursor".to_owned(), json!(healthy))),
            None => {}
        }
    }
    Heard::Message
}

/// `cursor-ignored`.
pub fn ignore(_: &mut Memory, message: &mut Value) -> Heard {
    if let Some(params) = message.pointer_mut("/params").and_then(Value::as_object_mut) {
        params.shift_remove("cursor");
    }
    Heard::Message
}

/// `long-cursor-unanswered`: the cursor does not fit into the buffer for a line.
pub fn drop_long(_: &mut Memory, message: &mut Value) -> Heard {
    let length = cursor(Some(message)).map_or(0, |cursor| cursor.len());
    if length < BUFFER { Heard::Message } else { Heard::Nothing }
}

/// `cursor-repeats`: the cursor of the last page leads to the last page again.
pub fn repeat(_: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    let asked = scene.sent.and_then(|sent| sent.pointer("/params/cursor"));
    if let Some((result, cursor)) = list_result(scene, message).zip(asked) {
        result.entry("nextCursor").or_insert_with(|| cursor.clone());
    }
    true
}

pub fn list_result<'a>(scene: &Scene, message: &'a mut Value) -> Option<&'a mut Map<String, Value>> {
    scene.method().filter(|method| method.ends_with("/list"))?;
    message.get_mut("result")?.as_object_mut()
}

/// `place-remembered`: a list without a cursor continues where the last page ended.
pub fn recall(memory: &mut Memory, message: &mut Value) -> Heard {
    let place = message.get("method").and_then(Value::as_str).and_then(|method| memory.places.get(method));
    let params = message.get("params").is_none_or(|params| params.is_object() && params.get("cursor").is_none());
    if let Some(place) = place.filter(|_| params) {
        message["params"]["cursor"] = json!(place);
    }
    Heard::Message
}

pub fn remember(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    if let Some((method, result)) = scene.method().zip(list_result(scene, message)) {
        match result.get("nextCursor").and_then(Value::as_str) {
            Some(next) => memory.places.insert(method.to_owned(), next.to_owned()),
            None => memory.places.remove(method),
        };
    }
    true
}

/// `cursor-works-once`: a cursor that is used again leads to an empty page.
pub fn spend(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    if let (Some(cursor), Some(result)) = (cursor(scene.sent), list_result(scene, message))
        && !memory.cursors.insert(cursor)
    {
        result.shift_remove("nextCursor");
        result.values_mut().filter_map(Value::as_array_mut).for_each(Vec::clear);
    }
    true
}

/// `cursor-bound-to-connection`: only cursors that this process has returned are known.
pub fn refuse_foreign(memory: &mut Memory, message: &mut Value) -> Heard {
    if cursor(Some(message)).is_some_and(|cursor| !memory.cursors.contains(&cursor)) {
        message["params"]["cursor"] = json!("foreign");
    }
    Heard::Message
}

pub fn issue(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    if let Some((method, result)) = scene.method().zip(list_result(scene, message)) {
        let next = result.get("nextCursor").and_then(Value::as_str);
        memory.cursors.extend(next.map(|next| format!("{method} {next}")));
    }
    true
}

/// The cursor of a request, distinct from those of other methods.
fn cursor(request: Option<&Value>) -> Option<String> {
    let method = request?.get("method")?.as_str()?;
    Some(format!("{method} {}", request?.pointer("/params/cursor")?.as_str()?))
}
