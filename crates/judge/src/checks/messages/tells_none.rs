//! Nothing in a message contains a secret of the server.

use serde_json::Value;

use super::leaves::each_leaf;
use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "tells-none", given: &["message", "of"], run };

fn run(given: &Given) -> Report {
    let mut faults = Vec::new();
    let secrets: Vec<&str> = given.list("of").iter().filter_map(Value::as_str).collect();
    if secrets.is_empty() {
        return Report::default();
    }
    for secret in secrets {
        each_leaf(given.value("message"), &mut |pointer, leaf| {
            if repeats(leaf, secret) {
                faults.push(Fault {
                    given: "message",
                    pointer: pointer.to_owned(),
                    message: format!("it repeats `{secret}`, which was sent as an argument"),
                    ..Fault::default()
                });
            }
        });
    }
    Report::of(faults)
}

/// Whether a value contains the secret, as part of a text or as a number.
fn repeats(leaf: &Value, secret: &str) -> bool {
    match leaf {
        Value::String(text) => text.contains(secret),
        Value::Number(number) => number.to_string() == secret,
        _ => false,
    }
}
