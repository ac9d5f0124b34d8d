//! Faults in lists, reads and subscriptions.

use serde_json::{Value, json};

use crate::simple::{outcome, reads, reject};
use conform_reference_client::{
    behaviour::{
        Behaviour, EVERYWHERE,
        decisions::{Heard, Moment},
        memory::Memory,
    },
    message::method,
    report::Outcome,
};

pub static RESOURCES: &[Behaviour] = &[
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
        if action.get("uri").is_none() && action.get("prefix").is_none() {
            remember(memory, action, outcome, "resources");
        }
    }),
    outcome("tools-from-memory", "tools that were listed once are not listed again", |memory, action, outcome| {
        remember(memory, action, outcome, "tools");
    }),
    outcome("prompts-from-memory", "prompts that were listed once are not listed again", |memory, action, outcome| {
        remember(memory, action, outcome, "prompts");
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
            conform_reference_client::behaviour::STDIO,
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

/// The first list is that of all later actions.
fn remember(memory: &mut Memory, action: &Value, outcome: &mut Outcome, of: &str) {
    if action["do"] == "list" && action["of"] == of {
        if memory.first("lists") {
            memory.keep("list", json!(outcome.clone().ok()));
        } else {
            *outcome = Ok(memory.kept("list"));
        }
    }
}
