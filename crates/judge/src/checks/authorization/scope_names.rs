//! The scopes of a challenge include what an operation needs: all of it or, with `any`, at least one.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report, texts};

pub const CHECK: Check = Check { name: "scope-names", given: &["scope", "needed", "any"], run };

fn run(given: &Given) -> Report {
    let needed = texts(given.value("needed"));
    let named: Vec<&str> = given.text("scope").split(' ').collect();
    let missing: Vec<&str> = needed.iter().copied().filter(|scope| !named.contains(scope)).collect();
    let enough =
        if given.value("any") == &Value::Bool(true) { missing.len() < needed.len() } else { missing.is_empty() };
    if needed.is_empty() {
        return Report::default();
    }
    let fault = (!enough).then(|| Fault {
        given: "scope",
        message: format!("has the scopes \"{}\", but {} is required", given.text("scope"), missing.join(" ")),
        ..Fault::default()
    });
    Report::of(fault.into_iter().collect())
}
