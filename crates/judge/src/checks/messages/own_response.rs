//! The result of one of two overlapping requests is its own, not that of the other client's request.
//!
//! Only what is evident counts: the result has the field of the other method and lacks that of its own. A result that is
//! wrong in another way is judged by other rules.

use crate::checks::{Check, Fault, Given, Report};

use conform_model::evidence::LISTS;

pub const CHECK: Check = Check { name: "own-response", given: &["exchange"], run };

/// The field that a result of each method has, besides the lists, and results of the others lack.
const FIELDS: [(&str, &str); 2] = [("tools/call", "content"), ("server/discover", "supportedVersions")];
/// Its result has no field.
const PING: &str = "ping";

fn run(given: &Given) -> Report {
    let exchange = given.value("exchange");
    let result = &exchange["reply"]["result"];
    let method = |name: &str| exchange[name].as_str().unwrap_or_default();
    let (own, other) = (method("method"), method("beside"));
    let Some(other_field) = field(other) else { return Report::default() };
    if !result.is_object() || (field(own).is_none() && own != PING) {
        return Report::default();
    }
    let has = |field: &str| result.get(field).is_some();
    if !has(other_field) || field(own).is_some_and(has) {
        return Report::of(Vec::new());
    }
    let fault = Fault {
        given: "exchange",
        pointer: "/reply/result".into(),
        message: format!(
            "the response to {own} has the result of {other}, which another client requested with the same id"
        ),
        received: Some(result.clone()),
        ..Fault::default()
    };
    Report::of(vec![fault])
}

fn field(method: &str) -> Option<&'static str> {
    let of_lists = LISTS.iter().map(|list| (list.method, list.field));
    FIELDS.into_iter().chain(of_lists).find(|(known, _)| *known == method).map(|(_, field)| field)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    fn faults(method: &str, beside: &str, result: &Value) -> Option<usize> {
        let exchange = json!({ "method": method, "beside": beside, "reply": { "end": "result", "result": result } });
        let report = tried(&CHECK, Revision::NEWEST, [("exchange", exchange)]);
        (report.checked > 0).then_some(report.faults.len())
    }

    #[test]
    fn only_a_result_with_the_field_of_the_other_request_and_without_its_own_counts() {
        assert_eq!(faults("tools/list", "tools/call", &json!({ "content": [] })), Some(1));
        assert_eq!(faults("ping", "tools/list", &json!({ "tools": [] })), Some(1));
        assert_eq!(faults("tools/list", "tools/call", &json!({ "tools": [], "content": [] })), Some(0));
        assert_eq!(faults("tools/list", "tools/call", &json!({ "something": 1 })), Some(0));
        assert_eq!(faults("tools/list", "ping", &json!({})), None);
        assert_eq!(faults("tools/list", "tools/call", &Value::Null), None);
    }
}
