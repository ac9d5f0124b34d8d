//! A world for rules about output schemas: structured content that fits its schema or does not.

use serde_json::{Value, json};

use crate::{
    faults::{Behaviour, EVERYWHERE, Heard, Memory},
    worlds::{
        made::{error, is_modern, method, page, result},
        rounds::required,
    },
};
use conform_model::revision::Revision;

pub static OUTPUTS: &[Behaviour] = &[Behaviour {
    since: Some(Revision::V2025_06_18),
    hear: Some(hear),
    ..Behaviour::new("output-schemas", "tools have output schemas of all kinds, which results violate", EVERYWHERE)
}];

/// A tool with its output schema, and the structured content of its result.
type Tool = (&'static str, Option<Value>, Option<Value>);

fn hear(_: &mut Memory, message: &mut Value) -> Heard {
    match method(message) {
        "tools/list" => {
            let listed =
                |tools: Vec<Tool>| tools.into_iter().map(|(name, output, _)| described(name, output)).collect();
            page(message, "tools", &pages().map(|(cursor, tools)| (cursor, listed(tools))))
        }
        "tools/call" => {
            let (called, has_input) = (&message["params"]["name"], message["params"].get("inputResponses").is_some());
            let tool = pages().into_iter().flat_map(|(_, tools)| tools).find(|(name, ..)| called == name);
            let Some((name, _, content)) = tool else { return error(message, -32602, "Unknown tool") };
            if name.starts_with("asks-") && !has_input && is_modern(message) {
                return required(message, true, None);
            }
            let text = content.as_ref().map_or_else(|| name.to_owned(), Value::to_string);
            let mut called = json!({ "content": [{ "type": "text", "text": text }] });
            if let Some(content) = content {
                called["structuredContent"] = content;
            }
            result(message, called)
        }
        _ => Heard::Message,
    }
}

fn described(name: &str, output: Option<Value>) -> Value {
    let mut tool = json!({ "name": name, "inputSchema": { "type": "object", "properties": {} } });
    if let Some(output) = output {
        tool["outputSchema"] = output;
    }
    tool
}

/// A client that cannot read the schemas of a page may still have the tools of those before.
fn pages() -> [(&'static str, Vec<Tool>); 4] {
    [("", plain()), ("2020-12", default_dialect()), ("dialects", dialects()), ("unresolved", unresolved())]
}

fn plain() -> Vec<Tool> {
    let number = || Some(json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] }));
    vec![
        ("valid", number(), Some(json!({ "n": 1 }))),
        ("wrong-type", number(), Some(json!({ "n": "one" }))),
        ("lacks-field", number(), Some(json!({ "m": 1 }))),
        ("text-only", number(), None),
        ("asks-plain", None, None),
        ("asks-structured", number(), Some(json!({ "n": 1 }))),
    ]
}

/// Schemas with keywords of 2020-12.
fn default_dialect() -> Vec<Tool> {
    let pair = json!({ "type": "array", "prefixItems": [{ "type": "integer" }, { "type": "string" }], "items": false });
    let tuple = || Some(json!({ "type": "object", "properties": { "pair": pair } }));
    let dependent = || Some(json!({ "type": "object", "dependentRequired": { "card": ["address"] } }));
    let known = json!({ "properties": { "known": { "type": "integer" } } });
    let unevaluated = || Some(json!({ "type": "object", "allOf": [known], "unevaluatedProperties": false }));
    let node = json!({ "type": "object", "properties": {
        "value": { "type": "integer" },
        "next": { "$ref": "#/$defs/node" },
    } });
    let tree = || {
        Some(
            json!({ "type": "object", "$defs": { "node": node }, "properties": { "root": { "$ref": "#/$defs/node" } } }),
        )
    };
    let nested =
        |last: Value| Some(json!({ "root": { "value": 1, "next": { "value": 2, "next": { "value": last } } } }));
    vec![
        ("tuple-valid", tuple(), Some(json!({ "pair": [1, "one"] }))),
        ("tuple-invalid", tuple(), Some(json!({ "pair": ["one", 1] }))),
        ("dependent-valid", dependent(), Some(json!({ "card": "1", "address": "2" }))),
        ("dependent-invalid", dependent(), Some(json!({ "card": "1" }))),
        ("unevaluated-valid", unevaluated(), Some(json!({ "known": 1 }))),
        ("unevaluated-invalid", unevaluated(), Some(json!({ "known": 1, "other": 2 }))),
        ("tree-valid", tree(), nested(json!(3))),
        ("tree-invalid", tree(), nested(json!("three"))),
    ]
}

fn dialects() -> Vec<Tool> {
    let draft_7 = || {
        Some(json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "definitions": { "text": { "type": "string" } },
            "properties": { "pair": {
                "type": "array",
                "items": [{ "type": "integer" }, { "$ref": "#/definitions/text" }],
                "additionalItems": false,
            } },
        }))
    };
    let unknown = json!({ "$schema": "https://example.com/no-dialect", "type": "object" });
    vec![
        ("draft-7-valid", draft_7(), Some(json!({ "pair": [1, "one"] }))),
        ("draft-7-invalid", draft_7(), Some(json!({ "pair": ["one", 1] }))),
        ("unknown-dialect", Some(unknown), Some(json!({ "n": 1 }))),
    ]
}

/// Nothing is at this address.
fn unresolved() -> Vec<Tool> {
    let remote = json!({ "type": "object", "properties": { "n": { "$ref": "https://schemas.invalid/number.json" } } });
    vec![("remote-reference", Some(remote), Some(json!({ "n": 1 }))), ("last", None, None)]
}
