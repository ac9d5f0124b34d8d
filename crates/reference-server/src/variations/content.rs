//! Variations of the content: more or less of it, and methods that the server does not have.

use serde_json::{Value, json};

use crate::faults::{Behaviour, EVERYWHERE, Heard};
use conform_model::revision::Revision;

/// The remaining methods of a server with tools only.
const FEW: [&str; 3] = ["tools/list", "tools/call", "ping"];

pub static CONTENT: &[Behaviour] = &[
    Behaviour {
        hear: Some(|_, message| {
            overlooks(message, &["resourcesListChanged", "resourceSubscriptions"]);
            lacks(message, &["resources/", "completion/"])
        }),
        // Its tools still embed resources.
        also: &["resources-embedded-capability", "tools-embedded-resources-need-capability"],
        say: Some(|_, _, message| denies(message, &["resources", "completions"])),
        without_facts: true,
        ..Behaviour::new("no-resources", "the server has no resources and no completions", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            overlooks(message, &["toolsListChanged"]);
            lacks(message, &["tools/", "tasks/"])
        }),
        say: Some(|_, _, message| denies(message, &["tools", "tasks", "extensions"])),
        without_facts: true,
        ..Behaviour::new("no-tools", "the server has no tools", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            overlooks(message, &["promptsListChanged"]);
            lacks(message, &["prompts/", "completion/"])
        }),
        say: Some(|_, _, message| denies(message, &["prompts", "completions"])),
        without_facts: true,
        ..Behaviour::new("no-prompts", "the server has no prompts and no completions", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let method = message["method"].as_str().unwrap_or_default();
            let known = FEW.contains(&method) || matches!(method, "initialize" | "server/discover");
            if !known {
                return unknown(message);
            }
            asks_nothing(message);
            Heard::Message
        }),
        say: Some(|_, _, message| {
            denies(message, &["resources", "prompts", "completions", "logging", "tasks", "extensions"]);
            without_execution(message);
            denies_changes(message)
        }),
        also: &["resources-embedded-capability", "tools-embedded-resources-need-capability"],
        without_facts: true,
        ..Behaviour::new("tools-alone", "the server has only the methods of tools and ping", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let method = message["method"].as_str().unwrap_or_default();
            if matches!(method, "initialize" | "server/discover" | "ping") { Heard::Message } else { unknown(message) }
        }),
        say: Some(|_, _, message| {
            let all = ["resources", "prompts", "tools", "completions", "logging", "tasks", "extensions"];
            denies(message, &all)
        }),
        without_facts: true,
        ..Behaviour::new("nothing-at-all", "the server has no capability", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, message| {
            if let Some(Value::Object(result)) = message.get_mut("result") {
                for (name, list) in result.iter_mut() {
                    if ["resources", "resourceTemplates", "tools", "prompts"].contains(&name.as_str())
                        && list.is_array()
                    {
                        *list = json!([]);
                    }
                }
                result.shift_remove("nextCursor");
            }
            true
        }),
        without_facts: true,
        ..Behaviour::new("lists-empty", "all lists are empty", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            overlooks(message, &CHANGES);
            overlooks(message, &["resourceSubscriptions"]);
            lacks(message, &["resources/subscribe", "resources/unsubscribe"])
        }),
        say: Some(|_, _, message| plain(message, &json!({}))),
        also: &["sep2093-subscribe-needs-server-flag"],
        ..Behaviour::new(
            "capabilities-plain",
            "capabilities are empty objects, and no change notifications are sent",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(|_, message| {
            overlooks(message, &CHANGES);
            overlooks(message, &["resourceSubscriptions"]);
            lacks(message, &["resources/subscribe", "resources/unsubscribe"])
        }),
        say: Some(|_, _, message| plain(message, &json!({ "listChanged": false, "subscribe": false }))),
        also: &["sep2093-subscribe-needs-server-flag"],
        ..Behaviour::new(
            "capabilities-denied",
            "capabilities declare explicitly that no change notifications are sent",
            EVERYWHERE,
        )
    },
    Behaviour {
        proposal: Some("dialect-versioned"),
        hear: Some(|_, message| lacks(message, &["resources/read"])),
        ..Behaviour::new(
            "dialect-without-read",
            "the versioned dialect has resources/get instead of resources/read",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(|_, message| lacks(message, &["resources/read"])),
        also: &["resources-list-readable"],
        ..Behaviour::new("no-read", "resources/read is an unknown method", EVERYWHERE)
    },
    Behaviour {
        prepare: Some(|content| content.page = Some(1)),
        ..Behaviour::new("pages-of-one", "each page of a list has one item", EVERYWHERE)
    },
    Behaviour {
        prepare: Some(|content| content.page = Some(usize::MAX)),
        ..Behaviour::new("one-page", "each list is one page", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let lists_all = message["method"] == "resources/list" && message["params"].get("uri").is_none();
            if let Some(Value::Object(params)) = message.get_mut("params") {
                params.retain(|name, _| name != "prefix" && !(lists_all && name == "cursor"));
            }
            Heard::Message
        }),
        say: Some(|_, scene, message| {
            let is_scoped = scene.sent.is_some_and(|sent| sent["params"].get("uri").is_some());
            if let Some(Value::Object(result)) = message.get_mut("result").filter(|_| !is_scoped)
                && let Some(Value::Array(listed)) = result.get_mut("resources")
            {
                listed.truncate(1);
                result.insert("nextCursor".to_owned(), json!("more"));
            }
            true
        }),
        also: &[
            "pagination-cursor-type-checked",
            "pagination-invalid-cursor-code",
            "pagination-resources-list",
            "pagination-terminates",
            "resources-list-item-uri-unique",
        ],
        without_facts: true,
        ..Behaviour::new(
            "page-again",
            "the cursor of the only page of resources leads to that page again, and `prefix` is ignored",
            EVERYWHERE,
        )
    },
    Behaviour {
        prepare: Some(|content| {
            content.page = Some(1000);
            (0..10_000).for_each(|number| content.insert(&format!("row://table/{number}"), "row"));
        }),
        suites: &["base.pagination", "resources.list"],
        // A list of this length takes time, so it is tested in one revision only.
        since: Some(Revision::NEWEST),
        ..Behaviour::new("ten-thousand", "there are ten thousand resources, in pages of a thousand", EVERYWHERE)
    },
    Behaviour {
        prepare: Some(|content| {
            content.page = Some(usize::MAX);
            (0..10_000).for_each(|number| content.insert(&format!("row://table/{number}"), "row"));
        }),
        suites: &["base.pagination", "resources.list"],
        since: Some(Revision::NEWEST_LEGACY),
        until: Some(Revision::NEWEST_LEGACY),
        ..Behaviour::new("ten-thousand-at-once", "there are ten thousand resources, on one page", EVERYWHERE)
    },
    Behaviour {
        prepare: Some(|content| {
            for uri in [
                "custom+x.1:opaque",
                "urn:isbn:0451450523",
                "file:///C:/Program%20Files/x.txt",
                "https://example.com/?q=a%2Fb&r=%C3%A9#top",
                "screen://localhost/display1",
                "HTTP://Example.COM/Upper",
                "data:text/plain,hello",
            ] {
                content.insert(uri, "the same name");
            }
        }),
        ..Behaviour::new("odd-uris", "resources have URIs of many schemes, and the same name", EVERYWHERE)
    },
    Behaviour {
        prepare: Some(|content| content.grows_by_calls = true),
        ..Behaviour::new("calls-change-lists", "each call of a tool without readOnlyHint adds a resource", EVERYWHERE)
    },
    Behaviour {
        prepare: Some(|content| content.grows_by_calls = true),
        say: Some(|_, _, message| denies_changes(message)),
        hear: Some(|_, message| {
            overlooks(message, &CHANGES);
            Heard::Message
        }),
        ..Behaviour::new(
            "calls-change-lists-untold",
            "each call of a tool without readOnlyHint adds a resource, and list_changed is not sent",
            EVERYWHERE,
        )
    },
    Behaviour {
        say: Some(|memory, _, message| {
            memory.requests += 1;
            for list in ["contents", "content"] {
                for block in
                    message.pointer_mut(&format!("/result/{list}")).and_then(Value::as_array_mut).into_iter().flatten()
                {
                    if block.get("size").is_none()
                        && let Some(Value::String(text)) = block.get_mut("text")
                        && !text.starts_with('{')
                    {
                        text.push_str(&format!("\n(response {})", memory.requests));
                    }
                }
            }
            true
        }),
        without_facts: true,
        ..Behaviour::new("texts-vary", "the text of a tool or a resource differs each time", EVERYWHERE)
    },
];

/// The kinds of changes in a subscription of the modern era.
const CHANGES: [&str; 3] = ["resourcesListChanged", "toolsListChanged", "promptsListChanged"];

/// Removes kinds from a subscription that the server does not support.
fn overlooks(message: &mut Value, kinds: &[&str]) {
    if let Some(Value::Object(filter)) = message.pointer_mut("/params/notifications") {
        filter.retain(|name, _| !kinds.contains(&name.as_str()));
    }
}

/// Sends no change notifications, and declares that.
fn plain(message: &mut Value, capability: &Value) -> bool {
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    if method.ends_with("/list_changed") || method == "notifications/resources/updated" {
        return false;
    }
    if let Some(Value::Object(declared)) = message.pointer_mut("/result/capabilities") {
        for name in ["resources", "tools", "prompts"] {
            declared.insert(name.to_owned(), capability.clone());
        }
    }
    true
}

/// Hides the client's capabilities and `task`, for a server that sends no requests of its own.
pub fn asks_nothing(message: &mut Value) {
    if message["method"] == "initialize"
        && let Some(Value::Object(declared)) = message.pointer_mut("/params/capabilities")
    {
        declared.clear();
    }
    if message["method"] == "tools/call"
        && let Some(Value::Object(params)) = message.get_mut("params")
    {
        params.remove("task");
    }
}

/// Removes from tools whether they can be called as tasks, and declares no tasks.
pub fn without_execution(message: &mut Value) {
    for tool in message.pointer_mut("/result/tools").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(tool) = tool.as_object_mut() {
            tool.shift_remove("execution");
        }
    }
    denies(message, &["tasks", "extensions"]);
}

/// Treats methods with one of these prefixes as unknown.
pub fn lacks(message: &Value, prefixes: &[&str]) -> Heard {
    let method = message["method"].as_str().unwrap_or_default();
    if prefixes.iter().any(|prefix| method.starts_with(prefix)) { unknown(message) } else { Heard::Message }
}

fn unknown(message: &Value) -> Heard {
    match message.get("id").filter(|_| message.get("method").is_some()) {
        Some(id) if message["method"].is_string() && message["jsonrpc"] == "2.0" && (id.is_string() || id.is_i64()) => {
            Heard::Answered(
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "Method not found" } }),
            )
        }
        _ => Heard::Message,
    }
}

fn denies(message: &mut Value, capabilities: &[&str]) -> bool {
    if let Some(Value::Object(declared)) = message.pointer_mut("/result/capabilities") {
        declared.retain(|name, _| !capabilities.contains(&name.as_str()));
    }
    true
}

fn denies_changes(message: &mut Value) -> bool {
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    if method.ends_with("/list_changed") || method == "notifications/message" {
        return false;
    }
    if let Some(Value::Object(declared)) = message.pointer_mut("/result/capabilities") {
        for capability in declared.values_mut().filter_map(Value::as_object_mut) {
            capability.shift_remove("listChanged");
        }
    }
    true
}
