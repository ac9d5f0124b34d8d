//! A schema is valid under the metaschema of one draft, `7` or `2020-12`, whatever it declares.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};
use conform_suite::foreign::flaws_in_draft;

pub const CHECK: Check = Check { name: "valid-in-draft", given: &["schema", "draft"], run };

fn run(given: &Given) -> Report {
    let (schema, draft) = (given.value("schema"), plain(given.value("draft")));
    let Some(flaws) = flaws_in_draft(&draft, schema).filter(|_| schema.is_object()) else {
        return Report::default();
    };
    let fault = |flaw: conform_suite::shape::Violation| Fault {
        given: "schema",
        message: format!("`inputSchema{}` {} (draft {draft})", flaw.pointer.replace('/', "."), flaw.message),
        received: schema.pointer(&flaw.pointer).filter(|value| !value.is_null()).cloned(),
        pointer: flaw.pointer,
        ..Fault::default()
    };
    Report::of(flaws.into_iter().map(fault).collect())
}

/// A draft is written as a number or as text.
fn plain(draft: &Value) -> String {
    draft.as_str().map_or_else(|| draft.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    #[test]
    fn a_keyword_of_draft_4_is_a_flaw() {
        let faults = |schema: Value| {
            [json!(7), json!("2020-12")].map(|draft| {
                tried(&CHECK, Revision::NEWEST, [("schema", schema.clone()), ("draft", draft)]).faults.len()
            })
        };
        let declared = json!({ "$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": true });
        assert_eq!((faults(declared), faults(json!({ "exclusiveMinimum": 1 }))), ([1, 1], [0, 0]));
        // Tuples are written in another way since 2020-12.
        assert_eq!(faults(json!({ "items": [{ "type": "string" }] })), [0, 1]);
    }
}
