//! A server's message has `jsonrpc: "2.0"` and is a request, a notification or a response.

use serde_json::{Value, json};

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "message-form", given: &["message"], run };

/// An object without any of these fields is not a message.
const TELLING: [&str; 4] = ["method", "result", "error", "id"];

fn run(given: &Given) -> Report {
    let message = given.value("message");
    let version = message.get("jsonrpc");
    if version != Some(&json!("2.0")) {
        let received = version.map_or_else(|| "missing".to_owned(), Value::to_string);
        return fault("/jsonrpc", format!("`jsonrpc` is {received}, expected \"2.0\""));
    }
    if TELLING.iter().all(|name| message.get(name).is_none()) {
        return fault(
            "",
            "is not a request, notification or response: it has no `method`, `result`, `error` or `id`".into(),
        );
    }
    Report::of(Vec::new())
}

fn fault(pointer: &str, message: String) -> Report {
    Report::of(vec![Fault { given: "message", pointer: pointer.into(), message, ..Fault::default() }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    #[test]
    fn an_object_without_any_telling_field_is_no_message() {
        for (message, faults) in [
            (json!({ "jsonrpc": "2.0", "method": "ping", "id": 1 }), 0),
            (json!({ "jsonrpc": "2.0", "id": 1 }), 0),
            (json!({ "jsonrpc": "2.0" }), 1),
            (json!({ "jsonrpc": "2.0", "params": {} }), 1),
            (json!({ "jsonrpc": "1.0", "id": 1 }), 1),
            (json!({}), 1),
            (json!(7), 1),
        ] {
            let report = tried(&CHECK, Revision::NEWEST, [("message", message.clone())]);
            assert_eq!((report.checked, report.faults.len()), (1, faults), "{message}");
        }
    }
}
