//! Structured content is validated by the output schema of its tool.

use serde_json::Value;

use crate::{
    report::{Failure, Outcome},
    state::Client,
};

impl Client {
    /// The result of a call has to fit the output schema of its tool; an error needs none.
    pub fn check_output(&self, params: &Value, outcome: Outcome) -> Outcome {
        let result = outcome?;
        let tool = self.state.borrow().outputs.get(params["name"].as_str().unwrap_or_default()).cloned();
        let Some(mut tool) = tool.filter(|_| result["isError"] != true && self.revision().features().structured_output)
        else {
            return Ok(result);
        };
        if let Some(hook) = self.ways.output {
            hook(&mut tool);
        }
        check(&tool["outputSchema"], &result).map_err(Failure::invalid)?;
        Ok(result)
    }
}

/// Why a result does not fit the schema, or why the schema cannot be used.
fn check(schema: &Value, result: &Value) -> Result<(), String> {
    let Some(content) = result.get("structuredContent") else {
        return Err("the result has no `structuredContent`, and the tool has an output schema".to_owned());
    };
    // References to other documents are not followed.
    let validator = jsonschema::options().offline().build(schema);
    let validator = validator.map_err(|why| format!("the output schema cannot be used: {why}"))?;
    validator.validate(content).map_err(|why| format!("`structuredContent` does not fit the output schema: {why}"))
}
