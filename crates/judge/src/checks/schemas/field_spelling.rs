//! No field is a known one in another spelling, such as `mime_type`: clients ignore it.

use crate::checks::{Check, Fault, Given, Report};

use conform_suite::shape;

/// A message that the server initiates has `params`; a response has a `result`.
pub const CHECK: Check = Check { name: "field-spelling", given: &["method", "result?", "params?"], run };

fn run(given: &Given) -> Report {
    let method = given.text("method");
    let (name, shape) = match given.value("result") {
        serde_json::Value::Null => ("params", shape::params_shape(method, given.revision)),
        _ => ("result", shape::result_shape(method, given.revision)),
    };
    let Some(shape) = shape.filter(|_| given.value(name).is_object()) else { return Report::default() };
    let twin = |twin: shape::Misspelling| Fault {
        given: name,
        pointer: twin.pointer,
        message: format!("`{}` is not in the schema, which has `{}`", twin.field, twin.known),
        ..Fault::default()
    };
    Report::of(shape::twins(shape, given.revision, given.value(name)).into_iter().map(twin).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    #[test]
    fn only_another_spelling_of_a_known_field_is_found() {
        let found = |method: &str, result: serde_json::Value| -> Vec<String> {
            let report = tried(&CHECK, Revision::V2025_11_25, [("method", json!(method)), ("result", result)]);
            report.faults.into_iter().map(|fault| fault.pointer).collect()
        };
        let resource = json!({ "uri": "a:b", "name": "n", "mimeType": "text/plain", "mime_type": "text/plain",
            "annotations": { "LastModified": "x", "weight": 1 }, "owner": "me", "_meta": { "MimeType": 1 } });
        assert_eq!(
            found("resources/list", json!({ "resources": [resource], "next_cursor": "1" })),
            ["/resources/0/mime_type", "/resources/0/annotations/LastModified", "/next_cursor"]
        );
        // These fields hold data of the server's own.
        let own = json!({ "content": [], "structuredContent": { "is_error": true }, "isError": false });
        assert!(found("tools/call", own).is_empty());
        let nested =
            json!({ "messages": [{ "role": "user", "content": { "type": "image", "data": "", "mimetype": "a" } }] });
        assert_eq!(found("prompts/get", nested), ["/messages/0/content/mimetype"]);
    }
}
