//! A gateway passed a message on without changing these parts, or any parts but these.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report, texts};

pub const CHECK: Check = Check { name: "passed-unchanged", given: &["passed", "parts?", "except?", "what?"], run };

/// Identifiers that differ between the two sides. They are compared with their counterpart.
const NAMES: [&str; 3] = ["cursor", "progressToken", "requestId"];

/// At most this many differences of one message are reported.
const SHOWN: usize = 5;

fn run(given: &Given) -> Report {
    let passed = given.value("passed");
    let responds = passed["kind"] == "result" || passed["kind"] == "error";
    let became_other = responds && passed["kind"] != passed["received_kind"];
    if passed["received"].is_null() || passed["same_revision"] != true || became_other {
        return Report::default();
    }
    let (parts, except, what) = (texts(given.value("parts")), texts(given.value("except")), given.text("what"));
    let is_there = |part: &str| is_there(passed, part);
    // Parts that the message lacks cannot be lost.
    if what.is_empty() && !parts.is_empty() && !parts.iter().any(|part| is_there(part)) {
        return Report::default();
    }
    let counts = |difference: &&Value| {
        let part = difference["part"].as_str().unwrap_or_default();
        let kind = difference["what"].as_str().unwrap_or_default();
        let is_what = if what.is_empty() { kind == "lost" || kind == "changed" } else { kind == what };
        is_what && (parts.is_empty() || parts.contains(&part)) && !except.contains(&part)
    };
    let differences = passed["differences"].as_array().map(Vec::as_slice).unwrap_or_default();
    Report::of(differences.iter().filter(counts).take(SHOWN).map(fault).collect())
}

/// Whether the message that was sent has such a part.
fn is_there(passed: &Value, part: &str) -> bool {
    let message = &passed["message"];
    let body = ["params", "result", "error"].iter().find_map(|body| message.get(*body));
    match (body, part) {
        (Some(body), "inner _meta") => body.as_object().is_some_and(|body| {
            body.iter().any(|(name, value)| name != "_meta" && value.to_string().contains("\"_meta\""))
        }),
        (Some(body), part) => body.get(part).is_some(),
        (None, _) => false,
    }
}

fn fault(difference: &Value) -> Fault {
    let path = difference["path"].as_str().unwrap_or_default();
    let (sent, received) = (difference.get("sent").cloned(), difference.get("received").cloned());
    let words = |value: &Option<Value>| value.as_ref().map(Value::to_string).unwrap_or_default();
    let names = difference["part"].as_str().is_some_and(|part| NAMES.contains(&part));
    let message = match difference["what"].as_str() {
        Some("changed") if names => {
            format!("`{path}` is {}, expected {} on this side", words(&received), words(&sent))
        }
        Some("lost") => format!("`{path}` did not pass: sent {}", words(&sent)),
        Some("added") => format!("`{path}` was added: received {}", words(&received)),
        _ => format!("`{path}` was changed: sent {}, received {}", words(&sent), words(&received)),
    };
    let pointer = difference["pointer"].as_str().unwrap_or_default();
    let pointer = if received.is_some() { format!("/message{pointer}") } else { "/message".to_owned() };
    Fault { given: "passed", pointer, message, expected: sent, received, ..Fault::default() }
}
