//! Structured content is validated by the output schema of its tool.

use serde_json::Value;

/// Why a result does not fit the schema, or why the schema cannot be used.
pub fn check(schema: &Value, result: &Value) -> Result<(), String> {
    let Some(content) = result.get("structuredContent") else {
        return Err("the result has no `structuredContent`, and the tool has an output schema".to_owned());
    };
    // References to other documents are not followed.
    let validator = jsonschema::options().offline().build(schema);
    let validator = validator.map_err(|why| format!("the output schema cannot be used: {why}"))?;
    validator.validate(content).map_err(|why| format!("`structuredContent` does not fit the output schema: {why}"))
}
