//! Faults in the use of contents, and in how long they are cached.

use serde_json::{Value, json};

use crate::simple::{contents, hear, outcome, params, read_in, reads, reject, said};
use conform_reference_client::{
    behaviour::{
        Behaviour, EVERYWHERE,
        decisions::{Heard, Moment},
        memory::Memory,
    },
    report::Outcome,
};

pub static READS: &[Behaviour] = &[
    params("uri-empty-path-filled", "an empty path of a URI becomes a slash", |_, _, method, params| {
        uri(method, params, |uri| {
            if uri.starts_with("http:") && uri.matches('/').count() == 2 { format!("{uri}/") } else { uri.to_owned() }
        });
    }),
    outcome("uri-needs-authority", "a URI without `://` is rejected", |_, action, outcome| {
        if reads(action).is_some_and(|uri| !uri.contains("://")) {
            reject(outcome, "not a URL");
        }
    }),
    outcome(
        "resources-kept-by-name",
        "of resources with the same name only the first is kept",
        |memory, action, outcome| {
            for item in listed(action, outcome) {
                let name = format!("name {}", item["name"]);
                if !memory.seen.insert(name) {
                    memory.seen.insert(format!("lost {}", item["uri"]));
                }
            }
            lost(memory, action, outcome, "no resource of that name");
        },
    ),
    outcome("duplicate-uri-rejected", "a resource that is listed twice is rejected", |memory, action, outcome| {
        for item in listed(action, outcome) {
            if !memory.seen.insert(format!("uri {}", item["uri"])) {
                memory.seen.insert(format!("lost {}", item["uri"]));
            }
        }
        lost(memory, action, outcome, "the resource was listed twice");
    }),
    Behaviour {
        ..outcome("templates-needed", "resources are given up if there are no templates", |memory, action, outcome| {
            if action["do"] == "list" && action["of"] == "templates" && outcome.is_err() {
                memory.count("none");
            }
            let near = reads(action).is_some_and(|uri| uri.starts_with("x:"));
            if near && memory.counts.contains_key("none") {
                reject(outcome, "the server has no resources");
            }
        })
    },
    outcome("read-looks-up-list", "only resources of the list are read", |memory, action, outcome| {
        if action.get("uri").is_none() || action["do"] != "list" {
            for item in listed(action, outcome) {
                memory.seen.insert(item["uri"].to_string());
            }
        }
        let known =
            reads(action).is_none_or(|_| memory.seen.is_empty() || memory.seen.contains(&action["uri"].to_string()));
        if !known {
            reject(outcome, "the resource is not listed");
        }
    }),
    outcome("first-content-only", "only the first content is kept", |_, action, outcome| {
        if let (Some(_), Some(contents)) = (reads(action), contents(outcome)) {
            contents.truncate(1);
        }
    }),
    outcome("contents-joined", "texts of several contents are joined", |_, action, outcome| {
        let Some(contents) = contents(outcome).filter(|contents| reads(action).is_some() && contents.len() > 1) else {
            return;
        };
        let texts: Vec<_> = contents.iter().filter_map(|content| content["text"].as_str()).collect();
        let text = texts.join("\n");
        contents.truncate(1);
        contents[0]["text"] = json!(text);
    }),
    outcome("foreign-contents-dropped", "contents of other URIs are dropped", |_, action, outcome| {
        if let (Some(uri), Some(contents)) = (reads(action), contents(outcome)) {
            contents.retain(|content| content["uri"] == uri);
        }
    }),
    outcome("contents-uri-replaced", "all contents get the URI that was requested", |_, action, outcome| {
        if let (Some(uri), Some(contents)) = (reads(action), contents(outcome)) {
            for content in contents.iter_mut() {
                content["uri"] = json!(uri);
            }
        }
    }),
    outcome("foreign-uri-fails-read", "a content of another URI is rejected", |_, action, outcome| {
        let foreign = |uri: &str, contents: &Vec<Value>| contents.iter().any(|content| content["uri"] != uri);
        if reads(action).is_some_and(|uri| contents(outcome).is_some_and(|contents| foreign(uri, contents))) {
            reject(outcome, "the content has another URI");
        }
    }),
    outcome("contents-kept-by-uri", "of contents with the same URI the last one is kept", |_, action, outcome| {
        let Some(contents) = contents(outcome).filter(|_| reads(action).is_some()) else { return };
        let mut kept: Vec<Value> = Vec::new();
        for content in contents.drain(..) {
            kept.retain(|other| other["uri"] != content["uri"]);
            kept.push(content);
        }
        *contents = kept;
    }),
    outcome("other-format-rejected", "a content of another type than listed is rejected", |memory, action, outcome| {
        for item in listed(action, outcome).into_iter().filter(|item| item["mimeType"].is_string()) {
            memory.seen.insert(format!("{} {}", item["uri"], item["mimeType"]));
            memory.seen.insert(format!("typed {}", item["uri"]));
        }
        let typed = memory.seen.contains(&format!("typed {}", action["uri"]));
        let mut all = contents(outcome).into_iter().flatten();
        if reads(action).is_some()
            && typed
            && all.any(|content| !memory.seen.contains(&format!("{} {}", action["uri"], content["mimeType"])))
        {
            reject(outcome, "the content has another type");
        }
    }),
    outcome("mime-type-needed", "a content without a type is rejected", |_, action, outcome| {
        let text = |content: &Value| content["text"].is_string() && content.get("mimeType").is_none();
        if reads(action).is_some_and(|uri| uri.starts_with("mime:"))
            && contents(outcome).is_some_and(|all| all.iter().any(text))
        {
            reject(outcome, "`mimeType` is missing");
        }
    }),
    outcome("empty-contents-rejected", "empty contents are rejected", |_, action, outcome| {
        if reads(action).is_some() && contents(outcome).is_some_and(|contents| contents.is_empty()) {
            reject(outcome, "there is no content");
        }
    }),
    outcome("unknown-fields-rejected", "contents with unknown fields are rejected", |_, action, outcome| {
        if reads(action).is_some()
            && contents(outcome).is_some_and(|all| all.iter().any(|one| one.get("x-vendor").is_some()))
        {
            reject(outcome, "unknown field `x-vendor`");
        }
    }),
    outcome(
        "size-mismatch-rejected",
        "a content of another size than listed is rejected",
        |memory, action, outcome| {
            for item in listed(action, outcome).into_iter().filter(|item| item["size"].is_number()) {
                memory.tallies.insert(item["uri"].to_string(), item["size"].as_u64().unwrap_or_default());
            }
            let size = memory.tallies.get(&action["uri"].to_string()).copied();
            let length = contents(outcome).and_then(|all| Some(all.first()?["text"].as_str()?.len() as u64));
            if reads(action).is_some_and(|uri| uri.starts_with("size:")) && size != length {
                reject(outcome, "the content has another size");
            }
        },
    ),
    outcome("odd-annotations-rejected", "resources with odd annotations are rejected", |memory, action, outcome| {
        for item in listed(action, outcome) {
            let annotations = &item["annotations"];
            let odd = annotations["audience"][0] == "robot"
                || annotations["priority"].as_f64().is_some_and(|priority| priority > 1.0)
                || annotations["lastModified"] == "yesterday";
            if odd {
                memory.seen.insert(format!("lost {}", item["uri"]));
            }
        }
        lost(memory, action, outcome, "the annotations are invalid");
    }),
    Behaviour {
        ..hear("odd-contents-disconnect", "a content with text and blob ends the connection", |memory, _, message| {
            let both = |content: &Value| content.get("text").is_some() && content.get("blob").is_some();
            if read_in(message).any(both) && memory.first("odd") { Heard::Deaf } else { Heard::Message }
        })
    },
    Behaviour {
        ..hear("bad-base64-disconnects", "a blob that is not base64 ends the connection", |_, _, message| {
            let bad = |content: &Value| content["blob"].as_str().is_some_and(|blob| blob.contains('!'));
            if read_in(message).any(bad) { Heard::Deaf } else { Heard::Message }
        })
    },
    outcome(
        "embedded-annotations-rejected",
        "annotations inside of an embedded resource are rejected",
        |_, action, outcome| {
            let inside =
                outcome.as_ref().is_ok_and(|result| result.pointer("/content/1/resource/annotations").is_some());
            if said(action) == "embedded" && inside {
                reject(outcome, "unknown field `annotations`");
            }
        },
    ),
    outcome("cache-key-is-method", "a cached read is used for every URI", |memory, action, outcome| {
        if reads(action).is_some_and(|uri| uri.starts_with("ttl://long")) {
            keep(memory, "every", outcome);
        }
    }),
    outcome("zero-ttl-is-forever", "a result with `ttlMs` 0 is kept forever", |memory, action, outcome| {
        kept(memory, action, outcome, "ttl://zero");
    }),
    outcome("ttl-in-seconds", "`ttlMs` is taken for seconds", |memory, action, outcome| {
        kept(memory, action, outcome, "ttl://short");
    }),
    outcome("absent-ttl-is-forever", "a result without `ttlMs` is kept forever", |memory, action, outcome| {
        kept(memory, action, outcome, "ttl://none");
    }),
    outcome(
        "negative-ttl-is-forever",
        "a result with a negative `ttlMs` is kept forever",
        |memory, action, outcome| {
            kept(memory, action, outcome, "ttl://negative");
        },
    ),
    outcome("negative-ttl-rejected", "a negative `ttlMs` is rejected", |_, action, outcome| {
        if reads(action).is_some() && outcome.as_ref().is_ok_and(|result| result["ttlMs"] == -1) {
            reject(outcome, "`ttlMs` is negative");
        }
    }),
    outcome("first-page-ttl-for-all", "all pages are kept as long as the first", |memory, action, outcome| {
        let ours =
            outcome.as_ref().is_ok_and(|items| items[0]["uri"].as_str().is_some_and(|uri| uri.starts_with("ttl:")));
        if action["do"] == "list" && ours {
            keep(memory, "pages", outcome);
        }
    }),
    Behaviour {
        hear: Some(|memory, _, message| {
            let huge = message.pointer("/result/ttlMs").and_then(Value::as_u64).is_some_and(|ttl| ttl > 1 << 40);
            memory.keep("huge", json!(huge || memory.kept("huge") == true));
            Heard::Message
        }),
        unasked: Some(|memory, _, moment| {
            let due = moment == Moment::Tick && memory.kept("huge") == true && memory.count("reads") < 20;
            if due {
                vec![json!({ "do": "read", "uri": "ttl://huge" }), json!({ "do": "read", "uri": "ttl://huge" })]
            } else {
                Vec::new()
            }
        }),
        ..Behaviour::modern("huge-ttl-refetches", "a very long `ttlMs` is over at once", EVERYWHERE)
    },
    Behaviour {
        outcome: Some(|memory, action, _| {
            if reads(action) == Some("ttl://short") {
                memory.count("short");
            }
        }),
        unasked: Some(|memory, _, moment| {
            let due = moment == Moment::Tick && memory.counts.contains_key("short") && memory.count("polls") < 7;
            if due { vec![json!({ "do": "read", "uri": "ttl://short" })] } else { Vec::new() }
        }),
        ..Behaviour::modern("polls-at-ttl", "results are fetched again as soon as they are stale", EVERYWHERE)
    },
];

fn uri(method: &str, params: &mut Value, change: fn(&str) -> String) {
    if let (true, Some(changed)) = (method == "resources/read", params["uri"].as_str().map(change)) {
        params["uri"] = json!(changed);
    }
}

/// The resources of a list, if the action was a list.
fn listed(action: &Value, outcome: &Outcome) -> Vec<Value> {
    let items = outcome
        .as_ref()
        .ok()
        .and_then(Value::as_array)
        .filter(|_| action["do"] == "list" && action["of"] == "resources");
    items.cloned().unwrap_or_default()
}

fn lost(memory: &Memory, action: &Value, outcome: &mut Outcome, why: &str) {
    if reads(action).is_some() && memory.seen.contains(&format!("lost {}", action["uri"])) {
        reject(outcome, why);
    }
}

/// Replaces all later outcomes with the first one.
fn keep(memory: &mut Memory, name: &'static str, outcome: &mut Outcome) {
    if memory.kept(name).is_null() {
        memory.keep(name, json!(outcome.clone().ok()));
    } else {
        *outcome = Ok(memory.kept(name));
    }
}

fn kept(memory: &mut Memory, action: &Value, outcome: &mut Outcome, uri: &str) {
    if reads(action) == Some(uri) {
        keep(memory, "kept", outcome);
    }
}
