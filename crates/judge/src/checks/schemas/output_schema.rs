//! The structured content of a tool is valid under the tool's output schema.
//!
//! Failed results, input-required results and task handles have none.

use crate::checks::{Check, Fault, Given, Report};

use conform_suite::foreign::violations;

pub const CHECK: Check = Check { name: "output-schema", given: &["params", "result", "tools"], run };

fn run(given: &Given) -> Report {
    let (result, name) = (given.value("result"), &given.value("params")["name"]);
    let mut tools = given.value("tools").as_array().into_iter().flatten();
    let tool = tools.find(|tool| name.is_string() && tool["name"] == *name);
    let schema = tool.and_then(|tool| tool.get("outputSchema")).filter(|schema| schema.is_object());
    let other = result.get("task").is_some() || !matches!(result["resultType"].as_str(), None | Some("complete"));
    let (Some(schema), false, false) = (schema, other, result["isError"] == true) else { return Report::default() };
    let fault = |pointer: String, message: String| Fault {
        given: "result",
        pointer,
        message,
        subject: name.as_str().map(str::to_owned),
        ..Fault::default()
    };
    let Some(content) = result.get("structuredContent") else {
        return Report::of(vec![fault(String::new(), "`structuredContent` is missing".into())]);
    };
    let Some(told) = violations(schema, content) else { return Report::default() };
    let faults = told.into_iter().map(|violation| {
        let place = format!("structuredContent{}", violation.pointer);
        fault(format!("/{place}"), format!("`{}` {}", place.replace('/', "."), violation.message))
    });
    Report::of(faults.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::CHECK;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    fn told(result: &Value) -> (usize, Vec<String>) {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        let given = [
            ("params", json!({ "name": "add" })),
            ("result", result.clone()),
            ("tools", json!([{ "name": "add", "outputSchema": schema }])),
        ];
        let report = tried(&CHECK, Revision::V2025_06_18, given);
        (report.checked, report.faults.into_iter().map(|fault| fault.message).collect())
    }

    #[test]
    fn only_results_that_succeeded_are_held_against_the_schema() {
        assert_eq!(told(&json!({ "content": [], "isError": true })).0, 0);
        assert_eq!(told(&json!({ "resultType": "input_required" })).0, 0);
        assert_eq!(told(&json!({ "task": {} })).0, 0);
        assert_eq!(told(&json!({ "structuredContent": { "n": 1 } })), (1, vec![]));
        assert_eq!(told(&json!({ "content": [] })).1, ["`structuredContent` is missing"]);
        let wrong = told(&json!({ "structuredContent": { "n": "1" } })).1;
        assert_eq!(wrong, ["`structuredContent.n` is the string \"1\", expected an integer"]);
    }
}
