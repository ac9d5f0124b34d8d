//! Faults that depend on earlier messages of the connection.

use serde_json::{Value, json};

use crate::{
    faults::{
        Heard, Scene,
        behaviour::{Behaviour, EVERYWHERE, Memory, STDIO},
        cursors::list_result,
    },
    options::Transport,
};
use conform_model::revision::Revision;

const LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Longer than any value that a person types.
const LONG: usize = 60_000;
/// Over HTTP all connections share the state of a fault.
const NOT_HTTP: &[Transport] = &[Transport::Stdio, Transport::Sse];

pub static SEQUELS: &[Behaviour] = &[
    Behaviour {
        hear: Some(|memory, message| {
            let cursor = message.pointer("/params/cursor").and_then(Value::as_str);
            let stale = cursor.is_some_and(|cursor| !memory.places.values().any(|place| place == cursor));
            if stale && is_list(message) { refused(message, -32602, "Invalid cursor") } else { Heard::Message }
        }),
        say: Some(|memory, scene, message| {
            let next = list_result(scene, message)
                .map(|result| result.get("nextCursor").and_then(Value::as_str).unwrap_or_default().to_owned());
            if let Some((method, next)) = scene.method().zip(next) {
                memory.places.insert(method.to_owned(), next);
            }
            true
        }),
        also: &[
            "pagination-cursor-not-connection-bound",
            "prefix-empty-prefix-matches-all",
            "prefix-pagination-works",
            "prefix-templates-empty-prefix-matches-all",
        ],
        ..Behaviour::new("cursor-dropped-by-next-list", "a new list request invalidates earlier cursors", STDIO)
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        hear: Some(|memory, message| {
            match message["method"].as_str() {
                Some("resources/subscribe") => memory.unlocked = false,
                Some("resources/unsubscribe") => memory.unlocked = true,
                _ => {}
            }
            Heard::Message
        }),
        say: Some(|memory, _, message| !memory.unlocked || message["method"] != "notifications/resources/updated"),
        ..Behaviour::new("unsubscribe-ends-all", "unsubscribing from one resource ends all subscriptions", NOT_HTTP)
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        hear: Some(|_, message| {
            let uri = message.pointer("/params/uri").and_then(Value::as_str).unwrap_or_default();
            let missing = message["method"] == "resources/subscribe" && uri.contains("no-such-thing");
            if missing { Heard::Crash } else { Heard::Message }
        }),
        ..Behaviour::new("subscribe-missing-kills", "a subscription to a missing resource ends the process", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        say: Some(|memory, scene, message| {
            if lists_all(scene) {
                memory.reads += 1;
                let name = |list| format!("list-{list}");
                let more = (1..=memory.reads).map(|list| (format!("file:///{}", name(list)), name(list)));
                add_resources(scene, message, more);
            }
            true
        }),
        also: &["resources-list-readable", "sep2093-metadata-for-every-listed-resource"],
        ..Behaviour::new(
            "list-grows-each-time",
            "each list request adds a resource to the list of its connection",
            STDIO,
        )
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        say: Some(|memory, scene, message| {
            let mime = message.pointer("/result/contents/0/mimeType").and_then(Value::as_str);
            memory.unlocked |= mime == Some("inode/directory");
            if lists_all(scene) && memory.unlocked {
                add_resources(scene, message, std::iter::once(("file:///docs/found".to_owned(), "found".to_owned())));
            }
            true
        }),
        also: &["sep2093-metadata-for-every-listed-resource"],
        ..Behaviour::new(
            "directory-read-lists-files",
            "the read of a directory adds a file of it to the list of its connection",
            STDIO,
        )
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        say: Some(|memory, _, message| {
            memory.requests += 1;
            let resources = message.pointer_mut("/result/resources").and_then(Value::as_array_mut);
            for resource in resources.into_iter().flatten() {
                if let Some(modified) = resource.pointer_mut("/annotations/lastModified") {
                    *modified = json!(format!("2026-01-15T{:02}:00:00Z", memory.requests % 24));
                }
            }
            true
        }),
        ..Behaviour::new("last-modified-now", "lastModified is the time of the request", EVERYWHERE)
    },
    Behaviour {
        say: Some(show_late),
        ..Behaviour::new("list-change-shown-late", "list_changed is sent before the list shows the change", NOT_HTTP)
    },
    Behaviour {
        since: Some(Revision::V2025_03_26),
        hear: Some(|_, message| {
            let typed = message.pointer("/params/argument/value").and_then(Value::as_str).unwrap_or_default();
            if typed.len() > LONG { Heard::Nothing } else { Heard::Message }
        }),
        ..Behaviour::new(
            "completion-of-long-value-hangs",
            "the server never responds to a completion of a very long value",
            EVERYWHERE,
        )
    },
    Behaviour {
        since: Some(Revision::V2025_03_26),
        hear: Some(|_, message| {
            let lacks = message["method"] == "completion/complete" && message.pointer("/params/argument").is_none();
            if lacks { Heard::Crash } else { Heard::Message }
        }),
        also: &["jsonrpc-survives-requests"],
        ..Behaviour::new(
            "completion-without-argument-kills",
            "a completion without an argument ends the process",
            STDIO,
        )
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        prepare: Some(|content| content.slips.levels_inverted = true),
        ..Behaviour::new("set-level-inverted", "only messages below the level are sent", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| {
            if let Some(meta) = message.pointer_mut("/params/_meta").and_then(Value::as_object_mut) {
                match meta.get(LEVEL) {
                    Some(level) => drop(memory.said.insert(LEVEL, level.clone())),
                    None => meta.extend(memory.said.get(LEVEL).map(|level| (LEVEL.to_owned(), level.clone()))),
                }
            }
            Heard::Message
        }),
        ..Behaviour::new(
            "request-level-remembered",
            "the log level of one request stays in effect for later ones",
            STDIO,
        )
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        proposal: Some("dialect-versioned"),
        say: Some(|_, _, message| {
            for place in ["/result/resource/version", "/params/resource/version"] {
                let Some(version) = message.pointer_mut(place) else { continue };
                let edits = version.as_str().and_then(|version| version.trim_start_matches('v').parse::<u64>().ok());
                *version = json!(format!("v{}", edits.unwrap_or_default() / 8));
            }
            true
        }),
        also: &["dialect-version-as-listed"],
        ..Behaviour::new("dialect-version-coarse", "two changes in quick succession have the same version", EVERYWHERE)
    },
];

fn is_list(message: &Value) -> bool {
    message["method"].as_str().is_some_and(|method| method.ends_with("/list"))
}

fn refused(message: &Value, code: i64, why: &str) -> Heard {
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": code, "message": why } }))
}

/// Whether the request is for the default list.
fn lists_all(scene: &Scene) -> bool {
    let scoped = scene.sent.is_some_and(|sent| sent.pointer("/params/uri").is_some());
    scene.method() == Some("resources/list") && !scoped
}

/// Adds resources to the last page of a list, if its prefix allows them.
fn add_resources(scene: &Scene, message: &mut Value, more: impl Iterator<Item = (String, String)>) {
    let prefix = scene.sent.and_then(|sent| sent.pointer("/params/prefix")).and_then(Value::as_str).unwrap_or_default();
    let more = more.filter(|(uri, _)| uri.starts_with(prefix));
    let result = message.get_mut("result").and_then(Value::as_object_mut);
    if let Some(result) = result.filter(|result| !result.contains_key("nextCursor"))
        && let Some(resources) = result.get_mut("resources").and_then(Value::as_array_mut)
    {
        resources.extend(more.map(|(uri, name)| json!({ "uri": uri, "name": name, "capabilities": {} })));
    }
}

/// The first list after a `list_changed` notification, with all its pages, is the old one.
fn show_late(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    if message["method"] == "notifications/resources/list_changed" {
        memory.unlocked = true;
    } else if scene.method() == Some("resources/list") && message.get("result").is_some() {
        let cursor = scene.sent.and_then(|sent| sent.pointer("/params/cursor"));
        let page = cursor.map(Value::to_string).unwrap_or_default();
        let stale = memory.places.get(&page).and_then(|text| serde_json::from_str::<Value>(text).ok());
        match stale.filter(|_| memory.unlocked) {
            Some(stale) => {
                memory.unlocked = stale.get("nextCursor").is_some();
                message["result"] = stale;
            }
            None => drop(memory.places.insert(page, message["result"].to_string())),
        }
    }
    true
}
