//! Elicitations with different URLs have different ids. An open one may be repeated with its id.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "elicitation-ids", given: &["requests"], run };

fn run(given: &Given) -> Report {
    let requests = given.list("requests");
    let faults = requests.iter().enumerate().filter_map(|(at, params)| {
        let id = &params["elicitationId"];
        let fault = |message: String| Fault {
            given: "requests",
            pointer: format!("/{at}"),
            message,
            received: Some(id.clone()),
            ..Fault::default()
        };
        if !id.is_string() {
            return Some(fault("`elicitationId` is missing or is not a string".into()));
        }
        let same = |other: &&Value| other["elicitationId"] == *id && other["url"] != params["url"];
        requests[..at]
            .iter()
            .find(same)
            .map(|other| fault(format!("`elicitationId` {id} was already used for {}", other["url"])))
    });
    Report { checked: requests.len(), faults: faults.collect(), broken: None }
}
