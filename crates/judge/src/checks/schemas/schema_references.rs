//! References within the schemas of a tool resolve.

use serde_json::Value;

use super::schema_parts::each_part;
use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "schema-references", given: &["tool"], run };

fn run(given: &Given) -> Report {
    let mut report = Report::default();
    for member in ["inputSchema", "outputSchema"] {
        let schema = &given.value("tool")[member];
        let mut faults = Vec::new();
        let seen = look(schema, &format!("/{member}"), &mut |pointer, reference| {
            faults.push(Fault {
                given: "tool",
                pointer: pointer.to_owned(),
                message: format!("`{}` refers to `{reference}`, which does not exist", pointer[1..].replace('/', ".")),
                subject: given.value("tool")["name"].as_str().map(str::to_owned),
                received: Some(Value::from(reference)),
                ..Fault::default()
            });
        });
        report.checked += seen;
        report.faults.extend(faults);
    }
    report
}

/// Calls `tell` with each unresolved reference, and returns the number of references. Only JSON Pointers are resolved.
fn look(root: &Value, pointer: &str, tell: &mut impl FnMut(&str, &str)) -> usize {
    let mut seen = 0;
    each_part(root, pointer, &mut |part, pointer| {
        let reference = part.get("$ref").and_then(Value::as_str).filter(|reference| !reference.contains('%'));
        if let Some(within) = reference.and_then(|reference| reference.strip_prefix("#/")) {
            seen += 1;
            if root.pointer(&format!("/{within}")).is_none() {
                tell(&format!("{pointer}/$ref"), &format!("#/{within}"));
            }
        }
    });
    seen
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lost(schema: &Value) -> Vec<String> {
        let mut lost = Vec::new();
        look(schema, "", &mut |pointer, _| lost.push(pointer.to_owned()));
        lost
    }

    #[test]
    fn only_what_leads_nowhere_is_told() {
        let node = json!({ "$ref": "#/$defs/node" });
        assert!(lost(&json!({ "$defs": { "node": { "items": node } }, "properties": { "a": node } })).is_empty());
        assert_eq!(
            lost(&json!({ "properties": { "a": { "$defs": { "node": {} }, "items": node } } })),
            ["/properties/a/items/$ref"]
        );
    }

    #[test]
    fn values_names_and_other_documents_are_left_alone() {
        let schema = json!({
            "default": { "$ref": "#/x" },
            "properties": { "$ref": {}, "b": { "$ref": "other.json#/x" }, "c": { "$id": "c", "$ref": "#/x" } },
        });
        assert!(lost(&schema).is_empty());
    }
}
