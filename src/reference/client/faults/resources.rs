//! Faults in lists, reads and subscriptions.

use serde_json::{Value, json};

use crate::reference::client::{
    faults::{
        behaviour::{Behaviour, EVERYWHERE},
        decisions::{Heard, Moment},
        simple::{hear, outcome, params, reads, reject, say},
    },
    message::method,
};

pub static RESOURCES: &[Behaviour] = &[
    params(
        "cursor-null-on-first-page",
        "the first page of resources is requested with a null cursor",
        |_, _, method, params| {
            if method == "resources/list" && params.get("cursor").is_none() {
                params["cursor"] = Value::Null;
            }
        },
    ),
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| method(message) == Some("resources/templates/list")) {
                if message["params"].get("cursor").is_none() {
                    message["params"] = Value::Null;
                }
            }
        }),
        ..Behaviour::legacy("list-params-null", "params that would be empty are null", EVERYWHERE)
    },
    params("read-sends-resource-object", "the whole resource is sent as its URI", |_, _, method, params| {
        if method == "resources/read" {
            params["uri"] = json!({ "uri": params["uri"], "name": "a resource" });
        }
    }),
    params("read-sends-uris", "a read names several URIs", |_, _, method, params| {
        if method == "resources/read" {
            *params = json!({ "uris": [params["uri"]] });
        }
    }),
    params("subscribe-sends-uris", "a subscription names several URIs", |_, _, method, params| {
        if method == "resources/subscribe" {
            *params = json!({ "uris": [params["uri"]] });
        }
    }),
    params("unsubscribe-without-uri", "the end of a subscription names no URI", |_, _, method, params| {
        if method == "resources/unsubscribe" {
            *params = json!({});
        }
    }),
    say("listen-uris-single-string", "one URI is not put into an array", |_, _, messages| {
        listened(messages, |uris| *uris = uris[0].clone());
    }),
    say("listen-uris-true", "a subscription to all resources is requested by true", |_, _, messages| {
        listened(messages, |uris| *uris = json!(true));
    }),
    say("listen-uris-objects", "the URIs of a subscription are objects", |_, _, messages| {
        listened(messages, |uris| *uris = json!([{ "uri": uris[0] }]));
    }),
    Behaviour {
        say: Some(|_, _, messages| {
            let twice = messages.iter().find(|message| method(message) == Some("resources/unsubscribe")).cloned();
            if let Some(mut twice) = twice {
                twice["id"] = json!("once more");
                messages.push(twice);
            }
        }),
        ..Behaviour::legacy("unsubscribes-twice", "each subscription is ended twice", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| {
            let all = ["file:///docs/readme.md", "memo://status"];
            let end = |uri: &&str| json!({ "do": "unsubscribe", "uri": uri, "timeout": 2000 });
            if moment == Moment::BeforeClose { all.iter().map(end).collect() } else { Vec::new() }
        }),
        ..Behaviour::legacy(
            "unsubscribes-from-all",
            "at the end all listed resources are unsubscribed from",
            EVERYWHERE,
        )
    },
    outcome("read-from-memory", "a resource that was read once is not read again", |memory, action, outcome| {
        let Some(uri) = reads(action).filter(|uri| uri.starts_with("memo://")) else { return };
        if memory.tally(uri) == 1 {
            memory.keep("read", json!(outcome.clone().ok()));
        } else {
            *outcome = Ok(memory.kept("read"));
        }
    }),
    outcome("list-from-memory", "a list that was read once is not read again", |memory, action, outcome| {
        let plain = action["do"] == "list" && action["of"] == "resources";
        if !plain || action.get("uri").is_some() || action.get("prefix").is_some() {
            return;
        }
        if memory.first("lists") {
            memory.keep("list", json!(outcome.clone().ok()));
        } else {
            *outcome = Ok(memory.kept("list"));
        }
    }),
    hear("update-of-unknown-uri-disconnects", "an update of a sub-resource ends the connection", |_, _, message| {
        let part = message["params"]["uri"].as_str().is_some_and(|uri| uri.ends_with("/part"));
        if updated(message) && part { Heard::Disconnect } else { Heard::Message }
    }),
    Behaviour {
        say: Some(|memory, _, messages| {
            if messages.iter().any(|message| method(message) == Some("resources/unsubscribe")) {
                memory.count("unsubscribed");
            }
        }),
        hear: Some(|memory, _, message| {
            let late = updated(message) && memory.counts.contains_key("unsubscribed");
            if late { Heard::Disconnect } else { Heard::Message }
        }),
        ..Behaviour::legacy(
            "update-after-unsubscribe-disconnects",
            "an update after the end of a subscription ends the connection",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(|_, scene, message| {
            let declared = scene.server.pointer("/resources/listChanged") == Some(&json!(true));
            if changed(message) && !declared { Heard::Disconnect } else { Heard::Message }
        }),
        ..Behaviour::legacy(
            "undeclared-list-changed-disconnects",
            "a change of a list that was not declared ends the connection",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(|memory, _, message| {
            if !changed(message) {
                return Heard::Message;
            }
            let id = format!("again {}", memory.count("changes"));
            Heard::And(vec![json!({ "jsonrpc": "2.0", "id": id, "method": "resources/list" })])
        }),
        ..Behaviour::legacy("lists-at-every-notification", "each change leads to a list of its own", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|memory, _, message| {
            if changed(message) {
                memory.count("changes");
            }
            Heard::Message
        }),
        outcome: Some(|memory, action, outcome| {
            let changes = memory.counts.remove("changes").unwrap_or_default();
            if changes > 0 && action["do"] == "list" && action["of"] == "resources" {
                reject(outcome, "the list changed while it was read");
            }
        }),
        ..Behaviour::legacy("change-stops-walk", "a list that changes is given up", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, _, messages| {
            if let Some(listen) = messages.iter().find(|message| method(message) == Some("subscriptions/listen")) {
                memory.keep("listen", listen.clone());
            }
        }),
        hear: Some(|memory, _, message| {
            if method(message) != Some("notifications/subscriptions/acknowledged") {
                return Heard::Message;
            }
            let mut again = memory.kept("listen");
            let fits = message["params"]["notifications"] == again["params"]["notifications"];
            let times = memory.count("acknowledged");
            if fits || times > 20 {
                return Heard::Message;
            }
            again["id"] = json!(format!("again {times}"));
            Heard::And(vec![again])
        }),
        ..Behaviour::modern(
            "listens-until-filter-fits",
            "a subscription is repeated until all of it is acknowledged",
            crate::reference::client::faults::behaviour::STDIO,
        )
    },
    Behaviour {
        permit: Some(|_, _, method, _, permitted| *permitted |= method == "resources/subscribe"),
        ..Behaviour::legacy("subscribes-whatever-declared", "subscriptions are requested of every server", EVERYWHERE)
    },
    Behaviour {
        permit: Some(|_, scene, method, _, permitted| {
            let there = scene.server.pointer("/resources/subscribe").is_some();
            *permitted |= method == "resources/subscribe" && there;
        }),
        ..Behaviour::legacy("subscribe-false-taken-for-true", "`subscribe` counts even if it is false", EVERYWHERE)
    },
];

fn updated(message: &Value) -> bool {
    method(message) == Some("notifications/resources/updated")
}

fn changed(message: &Value) -> bool {
    method(message) == Some("notifications/resources/list_changed")
}

fn listened(messages: &mut [Value], change: fn(&mut Value)) {
    for message in messages.iter_mut().filter(|message| method(message) == Some("subscriptions/listen")) {
        if let Some(uris) = message.pointer_mut("/params/notifications/resourceSubscriptions") {
            change(uris);
        }
    }
}
