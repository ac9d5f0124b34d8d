//! The schemas of a tool are valid in the dialect that they declare, or in the default one.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

use conform_suite::foreign::{flaws, flaws_in_all};

/// With `any`, a schema that declares no dialect may be valid in any.
pub const CHECK: Check = Check { name: "schema-dialect", given: &["tool", "any?"], run };

fn run(given: &Given) -> Report {
    let mut report = Report::default();
    let any = given.value("any") == &Value::Bool(true);
    let flaws = if any { flaws_in_all } else { flaws };
    for member in ["inputSchema", "outputSchema"] {
        let schema = &given.value("tool")[member];
        let Some(flaws) = schema.is_object().then(|| flaws(schema)).flatten() else { continue };
        report.checked += 1;
        let default = if any { "JSON Schema" } else { "JSON Schema 2020-12" };
        let dialect = schema["$schema"].as_str().unwrap_or(default);
        report.faults.extend(flaws.into_iter().map(|flaw| Fault {
            given: "tool",
            pointer: format!("/{member}{}", flaw.pointer),
            message: format!("`{member}{}` {} ({dialect})", flaw.pointer.replace('/', "."), flaw.message),
            subject: given.value("tool")["name"].as_str().map(str::to_owned),
            received: schema.pointer(&flaw.pointer).filter(|value| !value.is_null()).cloned(),
            ..Fault::default()
        }));
    }
    report
}
