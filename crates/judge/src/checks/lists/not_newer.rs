//! A message has nothing that a later revision introduced.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

use conform_model::revision::Revision;

pub const CHECK: Check = Check { name: "not-newer", given: &["message"], run };

/// Server requests and notifications, with the revision that introduced each.
const METHODS: [(&str, Revision); 4] = [
    ("elicitation/create", Revision::V2025_06_18),
    ("notifications/elicitation/complete", Revision::V2025_11_25),
    ("notifications/tasks/status", Revision::V2025_11_25),
    ("notifications/subscriptions/acknowledged", Revision::V2026_07_28),
];

/// Content types.
const BLOCKS: [(&str, Revision); 2] = [("audio", Revision::V2025_03_26), ("resource_link", Revision::V2025_06_18)];

/// Elicitation by URL, and input-required results.
const BY_URL: Revision = Revision::V2025_11_25;
const INPUT_REQUIRED: Revision = Revision::V2026_07_28;

fn run(given: &Given) -> Report {
    let message = given.value("message");
    // An error cannot contain any of these.
    if message.get("method").is_none() && message.get("result").is_none() {
        return Report::default();
    }
    let newer = |since: Revision| since > given.revision;
    let fault = |pointer: String, what: &str, since: Revision| Fault {
        given: "message",
        pointer,
        message: format!("{what} requires revision {since}"),
        ..Fault::default()
    };
    let mut faults = Vec::new();
    let method = message["method"].as_str().unwrap_or_default();
    if let Some((_, since)) = METHODS.iter().find(|(known, since)| *known == method && newer(*since)) {
        faults.push(fault("/method".into(), method, *since));
    }
    if message["params"]["mode"] == "url" && method == "elicitation/create" && newer(BY_URL) {
        faults.push(fault("/params/mode".into(), "elicitation by URL", BY_URL));
    }
    if message["result"]["resultType"] == "input_required" {
        faults.push(fault("/result/resultType".into(), "an input-required result", INPUT_REQUIRED));
    }
    let content = message["result"]["content"].as_array().map_or(&[] as &[Value], Vec::as_slice);
    for (index, block) in content.iter().enumerate() {
        if let Some((kind, since)) = BLOCKS.iter().find(|(kind, since)| block["type"] == *kind && newer(*since)) {
            faults.push(fault(format!("/result/content/{index}/type"), &format!("content of type {kind}"), *since));
        }
    }
    Report::of(faults)
}
