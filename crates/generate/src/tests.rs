//! Tests many schemas: valid arguments conform, and invalid arguments violate exactly one keyword.

use serde_json::{Value, json};

use super::{
    calls::{Call, Kind, Source},
    pool::Pool,
    subject::{Subject, What},
    values::{invalid::violates, shrink::simpler},
};
use conform_suite::foreign::Checker;

/// Calls of each schema.
const CALLS: usize = 120;

fn properties() -> Vec<Value> {
    vec![
        json!({ "type": "string" }),
        json!({ "type": "string", "minLength": 3, "maxLength": 5 }),
        json!({ "type": "string", "enum": ["a", "b"] }),
        json!({ "type": "string", "pattern": "^[a-z]{2,4}-\\d+$" }),
        json!({ "type": "string", "pattern": "^(?:foo|bar)?[A-F]*$", "maxLength": 8 }),
        json!({ "type": "string", "format": "date-time" }),
        json!({ "type": "string", "format": "uri", "default": "https://example.com/" }),
        json!({ "const": "only" }),
        json!({ "type": "integer" }),
        json!({ "type": "integer", "minimum": 1, "maximum": 100 }),
        json!({ "type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10, "multipleOf": 3 }),
        json!({ "type": "integer", "minimum": -9_007_199_254_740_991_i64, "maximum": 9_007_199_254_740_991_i64 }),
        json!({ "type": "number", "minimum": 0.5, "maximum": 2.5 }),
        json!({ "type": "number", "exclusiveMinimum": 0 }),
        json!({ "type": "number", "multipleOf": 0.25 }),
        json!({ "type": "boolean" }),
        json!({ "type": ["string", "null"] }),
        json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "null" }], "default": null }),
        json!({ "oneOf": [{ "type": "string", "maxLength": 4 }, { "type": "integer" }] }),
        json!({ "type": "array", "items": { "type": "string", "minLength": 1 }, "minItems": 1, "maxItems": 3 }),
        json!({ "type": "array", "items": { "enum": [1, 2, 3, 4] }, "uniqueItems": true, "minItems": 2 }),
        json!({ "type": "array", "prefixItems": [{ "type": "number" }, { "type": "boolean" }], "items": false, "minItems": 2 }),
        json!({ "type": "array", "contains": { "const": 7 } }),
        json!({ "type": "object", "properties": { "x": { "type": "integer", "minimum": 1 } }, "required": ["x"], "additionalProperties": false }),
        json!({ "type": "object", "additionalProperties": { "type": "integer" }, "minProperties": 2 }),
        json!({ "type": "object", "propertyNames": { "pattern": "^k[0-9]$" }, "minProperties": 1 }),
        json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "string" } }, "dependentRequired": { "a": ["b"] } }),
        json!({ "allOf": [{ "type": "object", "properties": { "a": { "type": "string" } } }, { "required": ["a"] }] }),
        json!({ "if": { "properties": { "k": { "const": "x" } }, "required": ["k"] }, "then": { "required": ["v"] }, "type": "object", "properties": { "k": { "enum": ["x", "y"] }, "v": { "type": "integer" } } }),
        json!({ "oneOf": [
            { "type": "object", "properties": { "kind": { "const": "circle" }, "radius": { "type": "number", "minimum": 0 } }, "required": ["kind", "radius"] },
            { "type": "object", "properties": { "kind": { "const": "square" }, "side": { "type": "number", "minimum": 0 } }, "required": ["kind", "side"] },
        ] }),
        json!({ "$ref": "#/$defs/tree" }),
        json!({ "$ref": "#/$defs/word", "maxLength": 3 }),
        json!({ "not": { "type": "string" }, "type": ["string", "integer"] }),
        json!({}),
        json!(true),
    ]
}

fn schema(property: &Value, required: bool) -> Value {
    let required = if required { vec!["value"] } else { Vec::new() };
    json!({
        "type": "object",
        "properties": { "value": property, "other": { "type": "integer", "minimum": 0 } },
        "required": required,
        "$defs": {
            "tree": { "type": "object", "properties": { "name": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#/$defs/tree" } } }, "required": ["name"] },
            "word": { "type": "string", "minLength": 1 },
        },
    })
}

fn source(schema: &Value, seed: u64) -> Source {
    let subject = Subject { what: What::Tool, name: "tool".into(), schema: schema.clone(), listed: json!({}) };
    Source::new(subject, seed, &Pool::new())
}

fn calls(schema: &Value, seed: u64) -> Vec<Call> {
    let mut source = source(schema, seed);
    let pool = Pool::new();
    std::iter::from_fn(|| source.next(&pool)).take(CALLS).collect()
}

/// Whether the call is of the kind that it claims.
fn holds(checker: &Checker, call: &Call) -> bool {
    let Some(broken) = checker.broken(&call.arguments) else { return false };
    let inside = call.inside.as_ref().is_none_or(|inside| checker.holds(inside) == Some(true));
    inside
        && match call.kind {
            Kind::Valid | Kind::Hostile => broken.is_empty(),
            Kind::Invalid => violates(&broken, &call.keyword).is_some(),
        }
}

#[test]
fn each_call_is_what_it_is_called() {
    for property in properties() {
        for required in [false, true] {
            let schema = schema(&property, required);
            let checker = Checker::new(&schema).expect("a schema that can be used");
            for seed in 0..2 {
                let calls = calls(&schema, seed);
                assert!(calls.iter().any(|call| call.kind == Kind::Valid), "nothing valid for {property}");
                for call in &calls {
                    assert!(holds(&checker, call), "{call:?} is not {} by {schema}", call.kind.word());
                }
            }
        }
    }
}

#[test]
fn each_bound_and_each_keyword_is_tried() {
    let tried = |property: Value, kind: Kind| -> Vec<(String, Value)> {
        let calls = calls(&schema(&property, true), 1).into_iter().filter(|call| call.kind == kind);
        calls.map(|call| (call.keyword, call.arguments["value"].clone())).collect()
    };
    let has = |calls: &[(String, Value)], keyword: &str, value: Value| calls.contains(&(keyword.to_owned(), value));
    let number = json!({ "type": "integer", "minimum": 1, "maximum": 100 });
    let valid = tried(number.clone(), Kind::Valid);
    assert!(has(&valid, "minimum", json!(1)) && has(&valid, "maximum", json!(100)), "{valid:?}");
    let invalid = tried(number, Kind::Invalid);
    assert!(has(&invalid, "minimum", json!(0)) && has(&invalid, "maximum", json!(101)), "{invalid:?}");
    assert!(
        has(&invalid, "required", Value::Null) && invalid.iter().any(|(keyword, _)| keyword == "type"),
        "{invalid:?}"
    );
    let text = json!({ "type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]*$" });
    let invalid = tried(text, Kind::Invalid);
    for keyword in ["minLength", "maxLength", "pattern"] {
        assert!(invalid.iter().any(|(known, _)| known == keyword), "no {keyword} in {invalid:?}");
    }
    let options = tried(json!({ "enum": ["a", "b", "c"] }), Kind::Valid);
    assert!(["a", "b", "c"].iter().all(|option| options.iter().any(|(_, value)| value == option)), "{options:?}");
}

#[test]
fn the_same_seed_makes_the_same_calls() {
    let schema = schema(&json!({ "type": "array", "items": { "type": "string" } }), true);
    assert_eq!(calls(&schema, 7), calls(&schema, 7));
    assert_ne!(calls(&schema, 7), calls(&schema, 8));
}

#[test]
fn what_cannot_be_made_is_noted_with_its_place() {
    let notes = |property: &Value| source(&schema(property, true), 1).notes;
    let of = |property: Value, said: &str| {
        let notes = notes(&property);
        assert!(notes.len() == 1 && notes[0].contains(said), "{property}: {notes:?}");
    };
    of(json!({ "allOf": [{ "type": "string" }, { "type": "integer" }] }), "no valid arguments");
    of(json!({ "type": "integer", "minimum": 5, "maximum": 4 }), "no valid arguments");
    of(json!({ "$ref": "#/$defs/none" }), "its schema cannot be used");
    of(json!({ "$ref": "https://example.com/schema" }), "its schema cannot be used");
    of(json!({ "type": "int" }), "properties.value.type");
    of(
        json!({ "type": "object", "properties": { "x": { "$ref": "#/properties/value" } }, "required": ["x"] }),
        "no valid arguments",
    );
    of(json!(false), "no valid arguments");
}

#[test]
fn smaller_values_come_to_an_end() {
    let mut value = json!({ "a": [1, 2, { "b": "längerer Text \0" }], "c": -17.25, "d": true, "e": "x".repeat(1_000) });
    let mut steps = 0;
    // As if each smaller value failed too.
    while let Some(next) = simpler(&value).into_iter().next() {
        value = next;
        steps += 1;
        assert!(steps < 100, "{value}");
    }
    assert_eq!(value, json!({}));
    // As if only values with this character failed.
    let mut value = json!({ "text": "some text with [[ in it", "n": 7 });
    while let Some(next) =
        simpler(&value).into_iter().find(|value| value["text"].as_str().is_some_and(|text| text.contains('[')))
    {
        value = next;
    }
    assert_eq!(value, json!({ "text": "[" }));
}
