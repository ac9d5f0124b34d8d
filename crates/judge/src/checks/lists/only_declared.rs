//! Requests and notifications of a server need a capability that the server, or the client, declared.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "only-declared", given: &["message", "server?", "client?"], run };

/// Each request and notification, with the side whose capability it needs, and the capability.
const NEEDS: [(&str, &str, &str); 8] = [
    ("notifications/message", "server", "/logging"),
    ("notifications/tools/list_changed", "server", "/tools/listChanged"),
    ("notifications/prompts/list_changed", "server", "/prompts/listChanged"),
    ("notifications/resources/list_changed", "server", "/resources/listChanged"),
    ("notifications/resources/updated", "server", "/resources/subscribe"),
    ("sampling/createMessage", "client", "/sampling"),
    ("roots/list", "client", "/roots"),
    ("elicitation/create", "client", "/elicitation"),
];

fn run(given: &Given) -> Report {
    let method = given.value("message")["method"].as_str();
    let Some(needs) = NEEDS.iter().find(|(known, ..)| Some(*known) == method) else { return Report::default() };
    let undeclared = Some(needs).filter(|(_, side, pointer)| {
        let declared = given.value(side).pointer(pointer);
        matches!(declared, None | Some(Value::Null | Value::Bool(false)))
    });
    let fault = |(method, side, pointer): &(&str, &str, &str)| Fault {
        given: "message",
        pointer: "/method".into(),
        message: format!("sends {method}, but the {side} did not declare `{}`", pointer[1..].replace('/', ".")),
        ..Fault::default()
    };
    Report::of(undeclared.map(fault).into_iter().collect())
}
