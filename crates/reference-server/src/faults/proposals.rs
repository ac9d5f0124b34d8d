//! Faults of proposals and dialects that cannot be written as a patch of a response.

use serde_json::{Map, Value, json};

use crate::faults::{
    Heard, Scene,
    behaviour::{Behaviour, EVERYWHERE, Memory},
    cursors::list_result,
};
use conform_model::revision::Revision;

/// The cursor of a page that does not exist.
const REST: &str = "rest";

pub static PROPOSED: &[Behaviour] = &[
    Behaviour {
        hear: Some(|memory, message| {
            if let Some((_, params, scope)) = default_after_scope(memory, message) {
                params.insert("uri".to_owned(), scope);
            }
            Heard::Message
        }),
        also: &["resources-list-no-side-effects", "resources-list-not-per-connection"],
        ..of("sep-2093", "scope-remembered", "after a list by URI the default list uses its URI")
    },
    Behaviour {
        hear: Some(|memory, message| {
            let Some((id, ..)) = default_after_scope(memory, message) else { return Heard::Message };
            let error = json!({ "code": -32602, "message": "`uri` is required." });
            Heard::Answered(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
        }),
        also: &["sep2093-list-scope-not-remembered"],
        ..of("sep-2093", "scope-needed-after-scope", "after a list by URI the default list is rejected")
    },
    Behaviour {
        // Earlier revisions have no `lastModified`, the only metadata that a change affects.
        since: Some(Revision::V2025_06_18),
        say: Some(|memory, scene, message| {
            let uri = scene.sent.and_then(|sent| sent.pointer("/params/uri")).map(Value::to_string);
            let described = message.pointer_mut("/result/resource");
            if let Some((uri, described)) = uri.zip(described).filter(|_| scene.method() == Some("resources/metadata"))
            {
                *described = memory.results.entry(uri).or_insert_with(|| described.clone()).clone();
            }
            true
        }),
        ..of("sep-2093", "metadata-cached", "resources/metadata always returns its first result for a URI")
    },
    Behaviour {
        say: Some(|_, scene, message| undeclared(scene, message, Vec::clear)),
        also: &[
            "sep2093-capabilities-on-all-resources",
            "sep2093-list-uri-not-listable-error",
            "sep2093-read-multi-uri-deprecated",
        ],
        ..of(
            "sep-2093",
            "undeclared-read-gives-nothing",
            "the read of a resource without capabilities returns no contents",
        )
    },
    Behaviour {
        say: Some(|_, scene, message| {
            let other = |contents: &mut Vec<Value>| {
                contents.push(json!({ "uri": "file:///style.css", "name": "style.css", "text": "" }));
            };
            undeclared(scene, message, other)
        }),
        also: &["sep2093-capabilities-on-all-resources", "sep2093-list-uri-not-listable-error"],
        ..of(
            "sep-2093",
            "undeclared-read-bundles",
            "the read of a resource without capabilities also returns other resources",
        )
    },
    Behaviour {
        say: Some(|_, scene, message| {
            let other = |contents: &mut Vec<Value>| *contents = vec![json!({ "uri": "memo://status", "text": "" })];
            undeclared(scene, message, other)
        }),
        also: &[
            "sep2093-capabilities-on-all-resources",
            "sep2093-contents-name-required",
            "sep2093-list-uri-not-listable-error",
            "sep2093-read-multi-uri-deprecated",
        ],
        ..of("sep-2093", "read-contents-elsewhere", "the read of a resource returns only contents of another one")
    },
    Behaviour {
        say: Some(|_, scene, message| {
            let scope = scene.sent.and_then(|sent| sent.pointer("/params/uri"));
            if let Some((result, uri)) = list_result(scene, message).zip(scope)
                && let Some(children) = result.get_mut("resources").and_then(Value::as_array_mut)
            {
                children.insert(0, json!({ "uri": uri, "name": "itself", "capabilities": { "list": true } }));
            }
            true
        }),
        also: &["sep2093-list-uri-child-once", "sep2093-metadata-equals-child-entry"],
        ..of("sep-2093", "scope-holds-itself", "a list by URI starts with the container itself")
    },
    Behaviour {
        hear: Some(|memory, message| remember_prefix(memory, message, "resources/list")),
        also: &["prefix-prefix-must-be-string", "resources-list-no-side-effects"],
        ..of("sep-prefix", "prefix-remembered", "later lists of resources use the previous prefix")
    },
    Behaviour {
        hear: Some(|memory, message| remember_prefix(memory, message, "resources/templates/list")),
        also: &["prefix-templates-must-be-string"],
        ..of("sep-prefix", "templates-prefix-remembered", "later lists of templates use the previous prefix")
    },
    Behaviour {
        hear: Some(hear_rest),
        say: Some(|_, scene, message| say_rest(scene, message, "prefix")),
        also: &["prefix-no-match-is-empty", "prefix-templates-no-match-is-empty", "resources-templates-array"],
        ..of("sep-prefix", "prefix-sparse-pages", "a filtered list has empty pages for the omitted resources")
    },
    Behaviour {
        hear: Some(hear_rest),
        say: Some(|_, scene, message| say_rest(scene, message, "cursor")),
        also: &[
            "caching-same-scope-on-all-pages",
            "prompts-list-result-has-prompts-array",
            "resources-cache-scope-same-on-all-pages",
            "resources-templates-array",
            "tools-list-result-has-tools-array",
        ],
        ..of("dialect-versioned", "dialect-empty-last-page", "the last page with resources is followed by an empty one")
    },
    Behaviour {
        say: Some(|memory, _, message| {
            memory.requests += 1;
            if let Some(version) = message.pointer_mut("/result/resource/version") {
                *version = json!(format!("r{}", memory.requests));
            }
            true
        }),
        also: &["dialect-version-as-listed"],
        ..of("dialect-versioned", "dialect-version-of-request", "the version of a resource differs in each response")
    },
];

const fn of(proposal: &'static str, name: &'static str, about: &'static str) -> Behaviour {
    Behaviour { proposal: Some(proposal), ..Behaviour::new(name, about, EVERYWHERE) }
}

/// Remembers the scope of a list. Returns the id and params of a default list that follows one, and that scope.
fn default_after_scope<'a>(
    memory: &mut Memory,
    message: &'a mut Value,
) -> Option<(Value, &'a mut Map<String, Value>, Value)> {
    let id = message.get("id")?.clone();
    (message["method"] == "resources/list").then_some(())?;
    let params = message.get_mut("params")?.as_object_mut()?;
    if let Some(uri) = params.get("uri").filter(|uri| uri.is_string()) {
        memory.scope = Some(uri.clone());
        return None;
    }
    let scope = memory.scope.clone().filter(|_| !params.contains_key("cursor"))?;
    Some((id, params, scope))
}

/// Removes the capabilities of resources, and spoils the contents of one of them.
fn undeclared(scene: &Scene, message: &mut Value, spoil: fn(&mut Vec<Value>)) -> bool {
    for resource in message.pointer_mut("/result/resources").and_then(Value::as_array_mut).into_iter().flatten() {
        resource.as_object_mut().map(|members| members.shift_remove("capabilities"));
    }
    let asked = scene.sent.and_then(|sent| sent.pointer("/params/uri"));
    if asked == Some(&json!("file:///docs/empty.txt"))
        && let Some(contents) = message.pointer_mut("/result/contents").and_then(Value::as_array_mut)
    {
        spoil(contents);
    }
    true
}

fn remember_prefix(memory: &mut Memory, message: &mut Value, method: &str) -> Heard {
    if message["method"] == method
        && let Some(message) = message.as_object_mut()
        && let Some(params) = message.entry("params").or_insert_with(|| json!({})).as_object_mut()
    {
        match params.get("prefix").filter(|prefix| prefix.is_string()) {
            Some(prefix) => drop(memory.prefixes.insert(method.to_owned(), prefix.clone())),
            None => drop(memory.prefixes.get(method).map(|last| params.insert("prefix".to_owned(), last.clone()))),
        }
    }
    Heard::Message
}

/// Adds an empty page after the last page of lists whose request has `member`.
fn say_rest(scene: &Scene, message: &mut Value, member: &str) -> bool {
    let asked = scene.sent.map_or(&Value::Null, |sent| &sent["params"]);
    if let Some(result) = list_result(scene, message).filter(|_| asked.get(member).is_some() && asked["cursor"] != REST)
    {
        result.entry("nextCursor").or_insert_with(|| json!(REST));
    }
    true
}

fn hear_rest(_: &mut Memory, message: &mut Value) -> Heard {
    match message.get("id").filter(|_| message["params"]["cursor"] == REST) {
        Some(id) => {
            let result = json!({ "resources": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
            Heard::Answered(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
        }
        None => Heard::Message,
    }
}
