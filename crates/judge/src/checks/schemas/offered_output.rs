//! The structured results of tools that a model used are valid under the output schemas offered to it.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

use conform_suite::foreign::violations;

pub const CHECK: Check = Check { name: "offered-output", given: &["params"], run };

fn run(given: &Given) -> Report {
    let params = given.value("params");
    let blocks = |kind: &'static str| {
        let messages = params["messages"].as_array().into_iter().flatten().enumerate();
        let several = messages.filter_map(|(at, message)| Some((at, message["content"].as_array()?)));
        let blocks =
            several.flat_map(|(at, content)| content.iter().enumerate().map(move |(of, block)| (at, of, block)));
        blocks.filter(move |(_, _, block)| block["type"] == kind)
    };
    let mut report = Report::default();
    for (at, of, result) in blocks("tool_result") {
        let name =
            blocks("tool_use").find(|(.., wish)| wish["id"] == result["toolUseId"]).map(|(.., wish)| &wish["name"]);
        let tool = params["tools"].as_array().into_iter().flatten().find(|tool| Some(&tool["name"]) == name);
        let schema = tool.and_then(|tool| tool.get("outputSchema"));
        let (Some(schema), Some(content)) = (schema, result.get("structuredContent")) else { continue };
        // The validity of the schema itself is judged elsewhere.
        let Some(told) = violations(schema, content) else { continue };
        report.checked += 1;
        report.faults.extend(told.into_iter().map(|violation| Fault {
            given: "params",
            pointer: format!("/messages/{at}/content/{of}/structuredContent{}", violation.pointer),
            message: format!("{} by the output schema of {}", violation.message, name.unwrap_or(&Value::Null)),
            ..Fault::default()
        }));
    }
    report
}
