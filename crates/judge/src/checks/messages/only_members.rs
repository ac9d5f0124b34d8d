//! An object has only known fields.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "only-members", given: &["value", "known"], run };

fn run(given: &Given) -> Report {
    let Some(members) = given.value("value").as_object() else { return Report::default() };
    let known = given.list("known");
    let unknown = members.keys().filter(|name| !known.iter().any(|known| known == *name));
    let faults = unknown.map(|name| Fault {
        given: "value",
        message: format!("has `{name}`, which is not an allowed keyword"),
        expected: Some(Value::Array(known.to_vec())),
        ..Fault::default()
    });
    Report::of(faults.collect())
}
