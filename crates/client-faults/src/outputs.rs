//! Faults in the validation of structured content.

use serde_json::{Value, json};

use crate::simple::{outcome, reject, tools};
use conform_model::revision::Revision;
use conform_reference_client::behaviour::{Behaviour, EVERYWHERE, decisions::Heard};

const DIALECT: &str = "$schema";
const UNKNOWN: &str = "https://example.com/no-dialect";
const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";

pub static OUTPUTS: &[Behaviour] = &[
    schema("output-never-validated", "structured content is not validated", |tool| tool[OUTPUT] = json!(true)),
    schema("output-validated-by-input-schema", "structured content is validated by the input schema", |tool| {
        tool[OUTPUT] = tool["inputSchema"].clone();
    }),
    schema("output-required-ignored", "structured content may lack required fields", |tool| {
        remove(tool, WHOLE, "required");
    }),
    Behaviour {
        since: Some(Revision::V2025_06_18),
        hear: Some(|_, scene, message| {
            let calls = |(id, method): &(Value, String)| method == "tools/call" && *id == message["id"];
            if scene.open.iter().any(calls)
                && let Some(result) = message.get_mut("result").and_then(Value::as_object_mut)
            {
                result.entry("structuredContent").or_insert_with(|| json!({ "n": 1 }));
            }
            Heard::Message
        }),
        ..Behaviour::new("missing-output-accepted", "a result needs no structured content", EVERYWHERE)
    },
    Behaviour {
        outcome: Some(|_, action, outcome| {
            if action["name"] == "asks-structured" {
                reject(outcome, "`structuredContent` is missing");
            }
        }),
        ..Behaviour::modern("required-input-validated", "`input_required` needs structured content", EVERYWHERE)
    },
    schema("schemas-read-as-draft-7", "schemas without a dialect are read as draft 7", |tool| {
        if tool[OUTPUT].get(DIALECT).is_none() {
            tool[OUTPUT][DIALECT] = json!(DRAFT_7);
        }
    }),
    schema("unevaluated-properties-ignored", "`unevaluatedProperties` is ignored", |tool| {
        remove(tool, WHOLE, "unevaluatedProperties");
    }),
    schema("items-read-as-draft-7", "`items` is for all elements, also after `prefixItems`", |tool| {
        remove(tool, "/outputSchema/properties/pair", "prefixItems");
    }),
    schema("unevaluated-properties-of-root", "`unevaluatedProperties` knows only `properties` next to it", |tool| {
        if let Some(other) = remove(tool, WHOLE, "unevaluatedProperties") {
            tool[OUTPUT]["additionalProperties"] = other;
        }
    }),
    schema("definitions-lost", "references into `$defs` lead nowhere", |tool| drop(remove(tool, WHOLE, "$defs"))),
    schema("dialects-ignored", "a schema in another dialect permits everything", |tool| {
        if tool[OUTPUT].get(DIALECT).is_some() {
            tool[OUTPUT] = json!(true);
        }
    }),
    schema("unknown-dialect-accepted", "a schema in an unknown dialect is read as 2020-12", |tool| {
        if tool[OUTPUT][DIALECT] == UNKNOWN {
            remove(tool, WHOLE, DIALECT);
        }
    }),
    schema("draft-7-rejected", "schemas of draft 7 are misread", |tool| {
        if tool[OUTPUT][DIALECT] == DRAFT_7 {
            tool[OUTPUT] = json!({ "maxProperties": 0 });
        }
    }),
    schema("remote-reference-accepted", "a reference that leads nowhere permits everything", |tool| {
        remove(tool, "/outputSchema/properties/n", "$ref");
    }),
    outcome("unknown-dialect-fails-list", "a schema in an unknown dialect fails the list", |_, action, outcome| {
        if tools(action, outcome).is_some_and(|tools| tools.iter().any(|tool| tool[OUTPUT][DIALECT] == UNKNOWN)) {
            reject(outcome, "no schema with this key");
        }
    }),
    outcome("remote-reference-fails-list", "a reference that leads nowhere fails the list", |_, action, outcome| {
        let leads_nowhere = |tool: &Value| tool.pointer("/outputSchema/properties/n/$ref").is_some();
        if tools(action, outcome).is_some_and(|tools| tools.iter().any(leads_nowhere)) {
            reject(outcome, "cannot resolve a reference");
        }
    }),
];

const OUTPUT: &str = "outputSchema";
const WHOLE: &str = "/outputSchema";

const fn schema(name: &'static str, about: &'static str, output: fn(&mut Value)) -> Behaviour {
    Behaviour { output: Some(output), since: Some(Revision::V2025_06_18), ..Behaviour::new(name, about, EVERYWHERE) }
}

fn remove(tool: &mut Value, schema: &str, keyword: &str) -> Option<Value> {
    tool.pointer_mut(schema)?.as_object_mut()?.shift_remove(keyword)
}
