//! Faults of tools and prompts that no patch on an answer can do.

use serde_json::{Value, json};

use crate::{
    reference::{
        faults::{
            Heard, Scene,
            behaviour::{Behaviour, EVERYWHERE, Memory},
        },
        options::Transport,
    },
    revision::Revision,
};

/// Over HTTP all connections share what a fault remembers.
const STDIO: &[Transport] = &[Transport::Stdio];

pub static TOOLS: &[Behaviour] = &[
    Behaviour {
        since: Some(Revision::V2025_11_25),
        hear: Some(|_, message| {
            if let Some(Value::String(name)) = message.pointer_mut("/params/name") {
                *name = name.to_lowercase();
            }
            Heard::Message
        }),
        ..Behaviour::new("tool-names-folded", "tools are looked up by their names in small letters", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        say: Some(shuffle),
        ..Behaviour::new("tools-in-any-order", "tools come in another order each time", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        say: Some(|_, scene, message| list_more(scene, message, "tools", true)),
        ..Behaviour::new("tools-per-connection", "each connection is shown a tool of its own", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| note(memory, message, "tools/call")),
        say: Some(|memory, scene, message| list_more(scene, message, "tools", memory.unlocked)),
        ..Behaviour::new("tools-unlocked-by-call", "after a call its connection is shown one more tool", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        say: Some(|_, scene, message| list_more(scene, message, "prompts", true)),
        ..Behaviour::new("prompts-per-connection", "each connection is shown a prompt of its own", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| note(memory, message, "prompts/get")),
        say: Some(|memory, scene, message| list_more(scene, message, "prompts", memory.unlocked)),
        ..Behaviour::new("prompts-unlocked-by-get", "after a prompt its connection is shown one more", STDIO)
    },
];

fn note(memory: &mut Memory, message: &Value, method: &str) -> Heard {
    memory.unlocked |= message["method"] == method;
    Heard::Message
}

/// Every other list is turned around, page by page.
fn shuffle(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    let Some(tools) = message.pointer_mut("/result/tools").and_then(Value::as_array_mut) else { return true };
    let first_page = scene.sent.is_some_and(|sent| sent.pointer("/params/cursor").is_none());
    memory.requests += u64::from(first_page);
    if memory.requests.is_multiple_of(2) {
        tools.reverse();
    }
    true
}

/// The last page of a list ends with an entry that belongs to this process.
fn list_more(scene: &Scene, message: &mut Value, list: &str, more: bool) -> bool {
    let last_page = message.pointer("/result/nextCursor").is_none() && scene.method().is_some();
    let items = message.get_mut("result").and_then(|result| result.get_mut(list)).and_then(Value::as_array_mut);
    if let Some(items) = items.filter(|_| last_page && more) {
        let name = format!("own-{}", std::process::id());
        items.push(json!({ "name": name, "inputSchema": { "type": "object" } }));
    }
    true
}
