//! What the schemas of a tool refer to inside of themselves is there.

use serde_json::Value;

use super::{Check, Fault, Given, Report};
use crate::suite::push_token;

pub const CHECK: Check = Check { name: "schema-references", given: &["tool"], run };

/// What stands under these is no schema.
pub const VALUES: [&str; 5] = ["const", "enum", "default", "examples", "example"];

fn run(given: &Given) -> Report {
    let mut report = Report::default();
    for member in ["inputSchema", "outputSchema"] {
        let schema = &given.value("tool")[member];
        let mut faults = Vec::new();
        let mut seen = 0;
        look(schema, schema, &format!("/{member}"), &mut seen, &mut |pointer, reference| {
            faults.push(Fault {
                given: "tool",
                pointer: pointer.to_owned(),
                message: format!("`{}` refers to `{reference}`, which is not there", pointer[1..].replace('/', ".")),
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

/// Tells the references that lead nowhere. Only JSON Pointers are followed, and none where a part has a name of its own.
fn look(part: &Value, root: &Value, pointer: &str, seen: &mut usize, tell: &mut impl FnMut(&str, &str)) {
    let mut deeper = |name: &str, part: &Value| {
        let mut below = pointer.to_owned();
        push_token(&mut below, name);
        look(part, root, &below, seen, tell);
    };
    match part {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| deeper(&index.to_string(), item));
        }
        Value::Object(members) if std::ptr::eq(part, root) || !members.contains_key("$id") => {
            let schemas = members.iter().filter(|(name, _)| !VALUES.contains(&name.as_str()));
            schemas.for_each(|(name, part)| deeper(name, part));
            let reference = members.get("$ref").and_then(Value::as_str).filter(|reference| !reference.contains('%'));
            if let Some(within) = reference.and_then(|reference| reference.strip_prefix("#/")) {
                *seen += 1;
                if root.pointer(&format!("/{within}")).is_none() {
                    tell(&format!("{pointer}/$ref"), &format!("#/{within}"));
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lost(schema: &Value) -> Vec<String> {
        let mut lost = Vec::new();
        look(schema, schema, "", &mut 0, &mut |pointer, _| lost.push(pointer.to_owned()));
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
