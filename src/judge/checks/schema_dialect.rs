//! The schemas of a tool are schemas by the dialect that they name, or by the default one.

use super::{Check, Fault, Given, Report};
use crate::suite::foreign::flaws;

pub const CHECK: Check = Check { name: "schema-dialect", given: &["tool"], run };

fn run(given: &Given) -> Report {
    let mut report = Report::default();
    for member in ["inputSchema", "outputSchema"] {
        let schema = &given.value("tool")[member];
        let Some(flaws) = schema.is_object().then(|| flaws(schema)).flatten() else { continue };
        report.checked += 1;
        let dialect = schema["$schema"].as_str().unwrap_or("JSON Schema 2020-12");
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
