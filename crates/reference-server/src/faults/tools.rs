//! Faults of tools and prompts that cannot be written as a patch of a response.

use serde_json::{Value, json};

use crate::{
    faults::{
        Heard, Scene,
        behaviour::{Behaviour, EVERYWHERE, Memory, unlike_any_other},
    },
    options::Transport,
};
use conform_model::revision::Revision;

/// Over HTTP all connections share the state of a fault.
const STDIO: &[Transport] = &[Transport::Stdio];
const NOT_HTTP: &[Transport] = &[Transport::Stdio, Transport::Sse];

pub static TOOLS: &[Behaviour] = &[
    Behaviour {
        since: Some(Revision::V2025_11_25),
        hear: Some(|_, message| {
            if let Some(Value::String(name)) = message.pointer_mut("/params/name") {
                *name = name.to_lowercase();
            }
            Heard::Message
        }),
        ..Behaviour::new("tool-names-folded", "tools are looked up by their names in lower case", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        say: Some(shuffle),
        ..Behaviour::new("tools-in-any-order", "tools are listed in another order each time", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        say: Some(|memory, scene, message| list_more(memory, scene, message, "tools", true)),
        ..Behaviour::new("tools-per-connection", "each connection gets a tool of its own", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| note(memory, message, "tools/call")),
        say: Some(|memory, scene, message| list_unlocked(memory, scene, message, "tools")),
        ..Behaviour::new("tools-unlocked-by-call", "a call adds a tool to the list of its connection", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| note(memory, message, "tools/call")),
        say: Some(|memory, scene, message| list_unlocked(memory, scene, message, "resources")),
        also: &[
            "prefix-list-only-matching",
            "prefix-no-match-is-empty",
            "sep2093-capabilities-on-all-resources",
            "sep2093-list-uri-direct-children-only",
            "sep2093-metadata-for-every-child",
            "sep2093-metadata-for-every-listed-resource",
        ],
        ..Behaviour::new("resources-unlocked-by-call", "a call adds a resource to the list of its connection", STDIO)
    },
    Behaviour {
        until: Some(Revision::V2025_11_25),
        hear: Some(|memory, message| note(memory, message, "tools/call")),
        say: Some(|memory, scene, message| list_less(scene, message, memory.unlocked)),
        also: &["prefix-empty-prefix-matches-all", "prefix-no-new-access"],
        ..Behaviour::new(
            "resources-shrink-untold",
            "a call removes a resource from the list, and list_changed is not sent",
            NOT_HTTP,
        )
    },
    Behaviour {
        say: Some(repeat_another),
        also: &["resources-list-no-side-effects"],
        ..Behaviour::new("list-repeats-another-each-time", "pages repeat a resource, another one each time", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        say: Some(|memory, scene, message| list_more(memory, scene, message, "prompts", true)),
        also: &["prompts-get-required-suffice"],
        ..Behaviour::new("prompts-per-connection", "each connection gets a prompt of its own", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| note(memory, message, "prompts/get")),
        say: Some(|memory, scene, message| list_unlocked(memory, scene, message, "prompts")),
        also: &["pagination-cursor-stable"],
        ..Behaviour::new("prompts-unlocked-by-get", "prompts/get adds a prompt to the list of its connection", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| note_one(memory, message, "prompts/get", "point")),
        say: Some(|memory, scene, message| list_unlocked(memory, scene, message, "prompts")),
        ..Behaviour::new(
            "prompts-unlocked-by-one",
            "prompts/get of one prompt adds another one to the list of its connection",
            STDIO,
        )
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(note_listener),
        say: Some(|memory, _, message| tell_listener(memory, message, "notifications/message")),
        ..Behaviour::new("logs-told-to-listener", "log messages are sent to the open subscription, if any", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(note_listener),
        say: Some(|memory, _, message| tell_listener(memory, message, "notifications/progress")),
        ..Behaviour::new("progress-told-to-listener", "progress is sent to the open subscription, if any", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(note_listener),
        say: Some(|memory, _, message| {
            let other = |tag: &Value| memory.said.get("listener") != Some(tag);
            !tag(message).is_some_and(other)
        }),
        also: &[
            "prompts-list-changed-on-subscription",
            "resources-list-changed-on-stream",
            "resources-updated-on-stream",
        ],
        ..Behaviour::new("second-listen-replaces", "a second subscription replaces the first one", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| {
            if message["method"] == "subscriptions/listen" {
                memory.waiting.insert(message["id"].to_string());
            } else if message.pointer("/params/requestId").is_some_and(|id| memory.waiting.contains(&id.to_string())) {
                memory.keys.extend(memory.waiting.drain());
            }
            Heard::Message
        }),
        say: Some(|memory, _, message| !tag(message).is_some_and(|tag| memory.keys.contains(&tag.to_string()))),
        ..Behaviour::new("cancel-ends-every-listen", "the cancellation of a subscription ends all of them", STDIO)
    },
];

/// The subscription that a message belongs to.
fn tag(message: &Value) -> Option<&Value> {
    message.pointer("/params/_meta/io.modelcontextprotocol~1subscriptionId")
}

fn note(memory: &mut Memory, message: &Value, method: &str) -> Heard {
    memory.unlocked |= message["method"] == method;
    Heard::Message
}

fn note_one(memory: &mut Memory, message: &Value, method: &str, name: &str) -> Heard {
    memory.unlocked |= message["method"] == method && message["params"]["name"] == name;
    Heard::Message
}

/// Remembers the subscription that was opened last and not cancelled.
fn note_listener(memory: &mut Memory, message: &mut Value) -> Heard {
    if message["method"] == "subscriptions/listen" {
        memory.said.insert("listener", message["id"].clone());
    } else if memory.said.get("listener") == message.pointer("/params/requestId") {
        memory.said.remove("listener");
    }
    Heard::Message
}

fn tell_listener(memory: &mut Memory, message: &mut Value, method: &str) -> bool {
    if let Some(listener) = memory.said.get("listener").filter(|_| message["method"] == method) {
        message["params"]["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": listener });
    }
    true
}

/// Every other list is reversed, page by page.
fn shuffle(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    let Some(tools) = message.pointer_mut("/result/tools").and_then(Value::as_array_mut) else { return true };
    let first_page = scene.sent.is_some_and(|sent| sent.pointer("/params/cursor").is_none());
    memory.requests += u64::from(first_page);
    if memory.requests.is_multiple_of(2) {
        tools.reverse();
    }
    true
}

/// The last page of a list ends with an item that is unique to this process.
fn list_unlocked(memory: &mut Memory, scene: &Scene, message: &mut Value, list: &str) -> bool {
    let unlocked = memory.unlocked;
    list_more(memory, scene, message, list, unlocked)
}

fn list_more(memory: &mut Memory, scene: &Scene, message: &mut Value, list: &str, more: bool) -> bool {
    let last_page = message.pointer("/result/nextCursor").is_none() && scene.method().is_some();
    let items = message.get_mut("result").and_then(|result| result.get_mut(list)).and_then(Value::as_array_mut);
    if let Some(items) = items.filter(|_| last_page && more) {
        let name = format!("own-{}", memory.own.get_or_insert_with(unlike_any_other));
        items.push(match list {
            "resources" => json!({ "name": name, "uri": format!("file:///{name}") }),
            _ => json!({ "name": name, "inputSchema": { "type": "object" } }),
        });
    }
    true
}

/// Whether the request is for all resources, without a scope or prefix.
fn is_for_all(scene: &Scene) -> bool {
    scene.method() == Some("resources/list")
        && scene.sent.is_some_and(|sent| ["uri", "prefix"].iter().all(|name| sent["params"].get(name).is_none()))
}

/// Removes the last of all resources.
fn list_less(scene: &Scene, message: &mut Value, less: bool) -> bool {
    let last_page = message.pointer("/result/nextCursor").is_none();
    let items = message.pointer_mut("/result/resources").and_then(Value::as_array_mut);
    if let Some(items) = items.filter(|_| less && last_page && is_for_all(scene)) {
        items.pop();
    }
    true
}

/// The last page repeats an item of the first one, a different one each time.
fn repeat_another(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    let last_page = message.pointer("/result/nextCursor").is_none();
    let items = message.pointer_mut("/result/resources").and_then(Value::as_array_mut);
    let Some(items) = items.filter(|_| is_for_all(scene)) else { return true };
    match memory.said.get("first page").and_then(Value::as_array).cloned() {
        None if !last_page => drop(memory.said.insert("first page", json!(items))),
        Some(mut first) if last_page => {
            items.extend(first.first().cloned());
            first.rotate_left(1);
            memory.said.insert("first page", json!(first));
        }
        _ => {}
    }
    true
}
