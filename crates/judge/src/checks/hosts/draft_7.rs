//! A schema is valid under the metaschema of draft 7, whatever it declares.

use crate::checks::{Check, Fault, Given, Report};
use conform_suite::foreign::flaws_in_draft_7;

pub const CHECK: Check = Check { name: "draft-7", given: &["schema"], run };

fn run(given: &Given) -> Report {
    let schema = given.value("schema");
    let Some(flaws) = Some(schema).filter(|schema| schema.is_object()).and_then(flaws_in_draft_7) else {
        return Report::default();
    };
    let fault = |flaw: conform_suite::shape::Violation| Fault {
        given: "schema",
        message: format!("`inputSchema{}` {} (draft 7)", flaw.pointer.replace('/', "."), flaw.message),
        received: schema.pointer(&flaw.pointer).filter(|value| !value.is_null()).cloned(),
        pointer: flaw.pointer,
        ..Fault::default()
    };
    Report::of(flaws.into_iter().map(fault).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    #[test]
    fn a_keyword_of_draft_4_is_a_flaw() {
        let faults = |schema| tried(&CHECK, Revision::NEWEST, [("schema", schema)]).faults.len();
        let declared = json!({ "$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": true });
        assert_eq!((faults(declared), faults(json!({ "exclusiveMinimum": 1 }))), (1, 0));
    }
}
