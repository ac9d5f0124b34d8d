//! A call that a server should reject is not executed.
//!
//! Other rules judge how the server rejects it. Here an error, a failed result, or a normal result with the words of a
//! rejection all count.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "carried-out", given: &["reply", "although"], run };

/// Words of a rejection, in lower case.
const REFUSALS: [&str; 32] = [
    "error",
    "invalid",
    "missing",
    "required",
    "must ",
    "expected",
    "unknown",
    "not found",
    "not a ",
    "cannot",
    "can't",
    "fail",
    "exception",
    "unsupported",
    "please",
    "provide",
    "no such",
    "not exist",
    "n't exist",
    "should ",
    "not valid",
    "not supported",
    "not allowed",
    "unrecogni",
    "bad ",
    "out of range",
    "unable",
    "incorrect",
    "wrong",
    "reject",
    "\"ok\":false",
    "\"success\":false",
];

fn run(given: &Given) -> Report {
    let reply = given.value("reply");
    let result = &reply["result"];
    // A server may request the missing input, or start a task, whose end is not awaited.
    let other = result.get("task").is_some() || !matches!(result["resultType"].as_str(), None | Some("complete"));
    match reply["end"].as_str() {
        Some("error") => return Report::of(Vec::new()),
        Some("result") if !other => {}
        _ => return Report::default(),
    }
    let texts = result["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    let refuses = |text: &str| REFUSALS.iter().any(|word| text.to_lowercase().contains(word));
    if result["isError"] == true || texts.into_iter().any(refuses) {
        return Report::of(Vec::new());
    }
    Report::of(vec![Fault {
        given: "reply",
        pointer: "/result".into(),
        message: format!("the tool ran although {}", given.text("although")),
        received: Some(Value::clone(result)),
        ..Fault::default()
    }])
}
