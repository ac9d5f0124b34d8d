//! The operators: what can be wrong with any field and any message, whatever it means.

use serde_json::{Map, Value, json};

use super::sites::MessageKind;

/// One way to be wrong. `None` where it makes no sense.
pub struct Operator<Place: ?Sized> {
    pub name: &'static str,
    /// The keys of a fault.
    pub edit: fn(&Place) -> Option<Value>,
}

fn change(path: &str, change: &Value) -> Value {
    json!({ "change": { path: change } })
}

fn is_element(path: &str) -> bool {
    path.ends_with("/*")
}

/// Of a field, by its path.
pub const OF_FIELDS: &[Operator<str>] = &[
    Operator { name: "missing", edit: |path| (!is_element(path)).then(|| json!({ "remove": path })) },
    Operator { name: "null value", edit: |path| Some(json!({ "replace": { path: null } })) },
    Operator { name: "other type", edit: |path| Some(change(path, &json!("other-type"))) },
    Operator { name: "empty", edit: |path| Some(change(path, &json!("empty"))) },
    Operator { name: "upper case", edit: |path| Some(change(path, &json!("upper"))) },
    Operator { name: "space after", edit: |path| Some(change(path, &json!({ "suffix": " " }))) },
    Operator { name: "other text", edit: |path| Some(change(path, &json!({ "prefix": "x" }))) },
    Operator { name: "truncated", edit: |path| Some(change(path, &json!({ "truncate": 3 }))) },
    Operator { name: "encoded", edit: |path| Some(change(path, &json!("encoded"))) },
    Operator { name: "decoded", edit: |path| Some(change(path, &json!("decoded"))) },
    Operator { name: "inverted", edit: |path| Some(change(path, &json!("inverted"))) },
    Operator { name: "one more", edit: |path| Some(change(path, &json!({ "plus": 1 }))) },
    Operator { name: "fraction", edit: |path| Some(change(path, &json!({ "plus": 0.5 }))) },
    Operator { name: "beyond 2^53", edit: |path| Some(change(path, &json!({ "plus": 9_007_199_254_740_993_i64 }))) },
    Operator { name: "negative", edit: |path| Some(change(path, &json!({ "plus": -1_000_000_000_000_i64 }))) },
    Operator { name: "one lost", edit: |path| Some(change(path, &json!("without-last"))) },
    Operator { name: "first again", edit: |path| Some(change(path, &json!("first-again"))) },
    Operator { name: "reversed", edit: |path| Some(change(path, &json!("reversed"))) },
    Operator { name: "of the next one", edit: of_the_next },
    Operator { name: "of the first message", edit: |path| (!path.contains('*')).then(|| json!({ "keep": path })) },
];

/// A field of an element of an array, which gets the value that the next element has.
fn of_the_next(path: &str) -> Option<Value> {
    let (items, field) = path.rsplit_once("/*/")?;
    let field = field.replace("~1", "/").replace("~0", "~");
    (!field.contains('/')).then(|| json!({ "change": { items: { "shifted": field } } }))
}

/// Of a whole message.
pub const OF_MESSAGES: &[Operator<MessageKind>] = &[
    Operator { name: "not sent", edit: |_| Some(json!({ "drop": true })) },
    Operator { name: "sent twice", edit: |_| Some(json!({ "times": 2 })) },
    Operator { name: "id of other type", edit: |kind| changed_id(kind, &json!("other-type")) },
    Operator { name: "id of another", edit: |kind| changed_id(kind, &json!([{ "plus": 1 }, { "prefix": "x" }])) },
    Operator { name: "id null", edit: |kind| has_id(kind).then(|| json!({ "replace": { "/id": null } })) },
    Operator { name: "without id", edit: |kind| has_id(kind).then(|| json!({ "remove": "/id" })) },
    Operator { name: "with an id", edit: |kind| (!has_id(kind)).then(|| json!({ "add": { "/id": "extra" } })) },
    Operator { name: "in an array", edit: |_| Some(json!({ "raw": "[$message]" })) },
    Operator { name: "cut off", edit: |_| Some(json!({ "raw": "{\"jsonrpc\": \"2.0\", \"id\": $id" })) },
    Operator { name: "id twice", edit: |_| Some(json!({ "raw": "{\"id\": \"other\", $fields}" })) },
    Operator { name: "jsonrpc twice", edit: |_| Some(json!({ "raw": "{\"jsonrpc\": \"1.0\", $fields}" })) },
    Operator {
        name: "error in its place",
        edit: |kind| instead(kind, "result", ("error", json!({ "code": -32603, "message": "Internal error" }))),
    },
    Operator { name: "result in its place", edit: |kind| instead(kind, "error", ("result", json!({}))) },
];

fn has_id(kind: &MessageKind) -> bool {
    kind.part != "notification"
}

fn changed_id(kind: &MessageKind, by: &Value) -> Option<Value> {
    has_id(kind).then(|| change("/id", by))
}

fn instead(kind: &MessageKind, part: &str, (name, value): (&str, Value)) -> Option<Value> {
    let mut message = Map::from_iter([("jsonrpc".to_owned(), json!("2.0")), ("id".to_owned(), json!("$id"))]);
    message.insert(name.to_owned(), value);
    (kind.part == part).then(|| json!({ "instead": message }))
}
