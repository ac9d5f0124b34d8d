//! Faults in messages, lifecycle, metadata, ping, cancellation, progress, logging and timeouts.

use serde_json::{Value, json};

use crate::act::{
    faults::{
        behaviour::{Behaviour, EVERYWHERE},
        decisions::{Heard, Initialized, Settlement},
    },
    message,
};

pub static BASE: &[Behaviour] = &[
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| message.get("id").is_none()) {
                remove(message, "jsonrpc");
            }
        }),
        ..Behaviour::legacy("notifications-without-jsonrpc", "notifications lack `jsonrpc`", EVERYWHERE)
    },
    Behaviour {
        id: Some(|_, _, _| json!(1)),
        ..Behaviour::new("id-always-one", "every request has the id 1", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if message::method(request) == Some("ping") {
                responses.push(responses[0].clone());
            }
        }),
        ..Behaviour::legacy("ping-answered-twice", "a ping of the server gets two responses", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, message| {
            let known = ["notifications/message", "notifications/progress", "notifications/cancelled"];
            let unknown = message::method(message).is_some_and(|method| {
                message.get("id").is_none() && !known.contains(&method) && !method.contains("changed")
            });
            if unknown { Heard::Disconnect } else { Heard::Message }
        }),
        ..Behaviour::new("unknown-notification-disconnects", "an unknown notification ends the connection", EVERYWHERE)
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.initialized = Initialized::Never),
        ..Behaviour::legacy("initialized-never-sent", "`notifications/initialized` is not sent", EVERYWHERE)
    },
    Behaviour {
        settle: Some(|_, _, outcome, settlement| {
            if outcome.is_ok() && matches!(settlement, Settlement::Disconnect(_)) {
                *settlement = Settlement::GoOn(crate::revision::Revision::NEWEST_LEGACY);
            }
        }),
        ..Behaviour::legacy(
            "unsupported-version-accepted",
            "any version in the result of `initialize` will do",
            EVERYWHERE,
        )
    },
];

fn remove(message: &mut Value, name: &str) {
    if let Some(message) = message.as_object_mut() {
        message.shift_remove(name);
    }
}
