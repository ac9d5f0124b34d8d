//! An input-required result only requests what the client declared in the request.

use serde_json::Value;

use super::{Check, Fault, Given, Report, leaves::pointer_below};

pub const CHECK: Check = Check { name: "input-declared", given: &["params", "requests"], run };

fn run(given: &Given) -> Report {
    let declared = &given.value("params")["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    let Some(requests) = given.value("requests").as_object() else { return Report::default() };
    if requests.is_empty() {
        return Report::default();
    }
    let undeclared = requests.iter().filter_map(|(key, request)| {
        let method = request["method"].as_str()?;
        let needed = match method {
            "elicitation/create" => "elicitation",
            "sampling/createMessage" => "sampling",
            "roots/list" => "roots",
            _ => return None,
        };
        matches!(declared[needed], Value::Null).then(|| Fault {
            given: "requests",
            pointer: pointer_below("", key),
            message: format!("requests {method}, but the client did not declare `{needed}` in this request"),
            ..Fault::default()
        })
    });
    Report::of(undeclared.collect())
}
