//! The default in a schema is valid under the schema.

use crate::checks::{Check, Fault, Given, Report};

use conform_suite::foreign::violations;

pub const CHECK: Check = Check { name: "default-fits", given: &["schema"], run };

fn run(given: &Given) -> Report {
    let schema = given.value("schema");
    let Some(default) = schema.get("default") else { return Report::default() };
    let Some(told) = violations(schema, default) else { return Report::default() };
    let faults = told.into_iter().map(|violation| Fault {
        given: "schema",
        pointer: format!("/default{}", violation.pointer),
        message: format!("`default{}` {}", violation.pointer.replace('/', "."), violation.message),
        ..Fault::default()
    });
    Report::of(faults.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::CHECK;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    #[test]
    fn only_defaults_that_the_schema_forbids_are_told() {
        let told = |schema| {
            let report = tried(&CHECK, Revision::V2025_11_25, [("schema", schema)]);
            (report.checked, report.faults.into_iter().map(|fault| fault.pointer).collect::<Vec<_>>())
        };
        assert_eq!(told(json!({ "type": "string" })), (0, vec![]));
        assert_eq!(told(json!({ "type": "string", "enum": ["a"], "default": "a" })), (1, vec![]));
        assert_eq!(told(json!({ "type": "string", "enum": ["a"], "default": "b" })), (1, vec!["/default".into()]));
        let choices = json!({ "type": "array", "items": { "enum": ["a"] }, "default": ["a", "b"] });
        assert_eq!(told(choices), (1, vec!["/default/1".into()]));
    }
}
