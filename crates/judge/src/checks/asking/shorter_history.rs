//! The history sent to a model does not grow from one request to an unrelated one.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "shorter-history", given: &["earlier", "later"], run };

fn run(given: &Given) -> Report {
    // The first conversation in each list is the start of the request.
    let first = |name: &str| given.value(name).get(0).and_then(Value::as_array).map(Vec::len);
    let (Some(earlier), Some(later)) = (first("earlier"), first("later")) else { return Report::default() };
    let fault = || Fault {
        given: "later",
        pointer: "/0".into(),
        message: format!("the same request starts with {later} messages, before with {earlier}"),
        ..Fault::default()
    };
    Report::of((later > earlier).then(fault).into_iter().collect())
}
