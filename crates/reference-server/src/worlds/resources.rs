//! Worlds for rules about clients: resources and the results of reading them.

use serde_json::{Value, json};

use crate::{
    faults::{Behaviour, EVERYWHERE, Heard, Memory, Scene},
    message::notification,
    session::SUBSCRIPTION_ID,
    worlds::made::{error, method, page, resource, result, said, uri},
};
use conform_model::revision::Revision;

/// Length in bytes of a text whose declared size is 3.
const LARGE: usize = 1 << 20;
/// Notifications that are sent at once.
const BURST: usize = 200;
/// Number of notifications during lists, in total.
const CHANGES: u64 = 10;

pub static RESOURCES: &[Behaviour] = &[
    Behaviour {
        hear: Some(odd),
        ..Behaviour::new("odd-resources", "resources have unusual URIs, and contents of any form", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(cached),
        ..Behaviour::new("cache-hints", "each result has another ttlMs", EVERYWHERE)
    },
    Behaviour {
        hear: Some(acknowledge),
        around: Some(restless),
        say: Some(|_, _, message| {
            if let Some(Value::Object(resources)) = message.pointer_mut("/result/capabilities/resources") {
                resources.remove("listChanged");
            }
            if message["method"] == "notifications/subscriptions/acknowledged"
                && let Some(Value::Array(uris)) = message.pointer_mut("/params/notifications/resourceSubscriptions")
            {
                uris.truncate(1);
            }
            true
        }),
        ..Behaviour::new("restless", "there are more notifications than a client needs", EVERYWHERE)
    },
];

const ODD: [&str; 33] = [
    "x://h/a%2Fb",
    "x://h/b/../c",
    "x://h/dir",
    "x://h/dir/",
    "x://h?q=a+b",
    "urn:x:1",
    "x:opaque#f",
    "about:blank",
    "git:repository",
    "X-Y.z+1://Host/%7Euser",
    "http://HOST.example:80",
    "same://1",
    "same://2",
    "same://3",
    "same://4",
    "multi://three",
    "dir://files",
    "empty://contents",
    "mime://other",
    "mime://none",
    "blob://bad",
    "blob://unpadded",
    "error://-32002",
    "error://-32602",
    "error://-32603",
    "error://-1",
    "unknown://fields",
    "size://small",
    "size://huge",
    "both://text-and-blob",
    "neither://text-nor-blob",
    "odd://audience",
    "odd://priority",
];

fn odd(_: &mut Memory, message: &mut Value) -> Heard {
    match method(message) {
        "resources/list" if uri(message).is_empty() => {
            let listed = |uri: &&str| odd_resource(uri);
            let (first, second) = ODD.split_at(16);
            let first = first.iter().chain(&["twice://listed"]).map(listed).collect();
            let second = second.iter().chain(&["twice://listed", "odd://modified", "formats://report"]).map(listed);
            page(message, "resources", &[("", first), ("page 2", second.collect())])
        }
        "resources/templates/list" | "resources/metadata" => error(message, -32601, "Method not found"),
        "resources/read" => read_odd(message),
        "tools/call" if said(message) == "link" => {
            let link = json!({ "type": "resource_link", "uri": "link://unlisted", "name": "unlisted" });
            result(message, json!({ "content": [link] }))
        }
        "tools/call" if said(message) == "embedded" => {
            let annotations = json!({ "audience": ["user"], "priority": 0.5 });
            let block = |outside: bool, inside: bool| {
                let mut block = json!({ "type": "resource", "resource": { "uri": "memo://embedded", "text": "here" } });
                if outside {
                    block["annotations"] = annotations.clone();
                }
                if inside {
                    block["resource"]["annotations"] = annotations.clone();
                }
                block
            };
            result(message, json!({ "content": [block(true, false), block(false, true), block(true, true)] }))
        }
        _ => Heard::Message,
    }
}

fn odd_resource(uri: &str) -> Value {
    let mut resource = resource(uri);
    match uri {
        _ if uri.starts_with("same://") => resource["name"] = json!("the same name"),
        "mime://other" | "formats://report" => resource["mimeType"] = json!("application/pdf"),
        "unknown://fields" => {
            resource["kind"] = json!("file");
            resource["x-vendor"] = json!({ "trace": [1, null] });
        }
        "size://small" => resource["size"] = json!(3),
        "size://huge" => resource["size"] = json!(1_000_000_000_000_000_u64),
        "odd://audience" => resource["annotations"] = json!({ "audience": ["robot"] }),
        "odd://priority" => resource["annotations"] = json!({ "priority": 7 }),
        "odd://modified" => resource["annotations"] = json!({ "lastModified": "yesterday" }),
        _ => {}
    }
    resource
}

fn read_odd(message: &Value) -> Heard {
    let uri = uri(message);
    let text = |text: &str| json!([{ "uri": uri, "mimeType": "text/plain", "text": text }]);
    let contents = match uri {
        "multi://three" => json!([
            { "uri": uri, "mimeType": "text/plain", "text": "first" },
            { "uri": "multi://three/b", "mimeType": "application/octet-stream", "blob": "AAEC" },
            { "uri": "multi://three/c", "mimeType": "text/plain", "text": "third" },
        ]),
        "dir://files" => json!([
            { "uri": uri, "mimeType": "inode/directory", "text": "a\nb" },
            { "uri": "dir://files/a", "mimeType": "text/plain", "text": "a" },
            { "uri": "dir://files/b", "mimeType": "text/plain", "text": "b" },
        ]),
        "formats://report" => json!([
            { "uri": uri, "mimeType": "text/plain", "text": "plain" },
            { "uri": uri, "mimeType": "application/pdf", "blob": "JVBERi0=" },
            { "uri": uri, "mimeType": "text/markdown", "text": "*marked*" },
        ]),
        "empty://contents" => json!([]),
        "mime://other" => json!([{ "uri": uri, "mimeType": "application/json", "text": "{}" }]),
        "mime://none" => json!([{ "uri": uri, "text": "no type" }]),
        "blob://bad" => json!([{ "uri": uri, "blob": "!!!! not base64 !!!!" }]),
        "blob://unpadded" => json!([{ "uri": uri, "blob": "aGVsbG8" }]),
        "unknown://fields" => {
            json!([{ "uri": uri, "name": "n", "title": "t", "kind": 1, "x-vendor": {}, "mimeType": "text/plain", "text": "known" }])
        }
        "size://small" => text(&"x".repeat(LARGE)),
        "both://text-and-blob" => json!([{ "uri": uri, "text": "text", "blob": "dGV4dA==" }]),
        "neither://text-nor-blob" => json!([{ "uri": uri, "mimeType": "text/plain" }]),
        _ => match uri.strip_prefix("error://").and_then(|code| code.parse().ok()) {
            Some(code) => return error(message, code, "Resource not found"),
            None => text(uri),
        },
    };
    result(message, json!({ "contents": contents }))
}

/// Each read and each page contains the number of its requests.
fn cached(memory: &mut Memory, message: &mut Value) -> Heard {
    let cursor = message["params"]["cursor"].as_str().unwrap_or_default().to_owned();
    let key = format!("{} {} {cursor}", method(message), uri(message));
    let known = ["resources/list", "resources/read"].contains(&method(message));
    let ours = known && (method(message) == "resources/list" || uri(message).starts_with("ttl://"));
    if !ours {
        return Heard::Message;
    }
    let version = memory.counts.entry(key).or_insert(0_u64);
    *version += 1;
    let version = *version;
    if method(message) == "resources/read" {
        let uri = uri(message);
        let mut read = json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": format!("version {version} of {uri}") }] });
        match uri {
            "ttl://short" => read["ttlMs"] = json!(500),
            "ttl://negative" => read["ttlMs"] = json!(-1),
            "ttl://huge" => read["ttlMs"] = json!(9_007_199_254_740_991_u64),
            "ttl://zero" => read["ttlMs"] = json!(0),
            "ttl://none" => {
                let Heard::Answered(mut response) = result(message, read) else { return Heard::Message };
                if let Some(Value::Object(result)) = response.get_mut("result") {
                    result.shift_remove("ttlMs");
                }
                return Heard::Answered(response);
            }
            _ => read["ttlMs"] = json!(600_000),
        }
        return result(message, read);
    }
    let (number, ttl) = if cursor.is_empty() { (1, 60_000) } else { (2, 300) };
    let item = json!({ "uri": format!("ttl://page/{number}"), "name": format!("version {version} of page {number}") });
    let mut listed = json!({ "resources": [item], "ttlMs": ttl });
    if number == 1 {
        listed["nextCursor"] = json!("page 2");
    }
    result(message, listed)
}

/// Remembers the subscribed resource.
fn acknowledge(memory: &mut Memory, message: &mut Value) -> Heard {
    if method(message) == "resources/subscribe" {
        memory.said.insert("subscribed", message["params"]["uri"].clone());
    }
    Heard::Message
}

fn restless(memory: &mut Memory, scene: &Scene, message: &Value) -> (Vec<Value>, Vec<Value>) {
    let changed = || notification("notifications/resources/list_changed", &json!({}));
    let updated = |uri: &str| notification("notifications/resources/updated", &json!({ "uri": uri }));
    if message["method"] == "notifications/subscriptions/acknowledged" {
        let id = &message["params"]["_meta"][SUBSCRIPTION_ID];
        let params = json!({ "uri": "memo://status/part", "_meta": { SUBSCRIPTION_ID: id } });
        return (Vec::new(), vec![notification("notifications/resources/updated", &params)]);
    }
    if scene.revision.is_modern() || message.get("result").is_none() {
        return (Vec::new(), Vec::new());
    }
    match scene.method() {
        Some("resources/list") if memory.reads < CHANGES => {
            memory.reads += 1;
            (vec![changed()], Vec::new())
        }
        Some("resources/subscribe") => (Vec::new(), vec![updated("memo://status/part")]),
        Some("resources/unsubscribe") => (Vec::new(), vec![updated("memo://status")]),
        Some("tools/call") if scene.sent.is_some_and(|sent| said(sent) == "burst") => {
            (vec![changed(); BURST], Vec::new())
        }
        _ => (Vec::new(), Vec::new()),
    }
}
