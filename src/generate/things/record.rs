//! The objects that results contain: as `structuredContent`, or as JSON in a text.

use serde_json::{Map, Value};

use crate::evidence::Reply;

/// How deep objects are searched.
const DEEPEST: usize = 5;

/// A name without what differs between conventions: `order_id` is `orderid`.
pub fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// The JSON documents of a result.
fn documents(reply: &Reply) -> Vec<Value> {
    let result = reply.result.clone().unwrap_or_default();
    let structured = result.get("structuredContent").filter(|own| own.is_object()).cloned();
    if let Some(structured) = structured {
        return vec![structured];
    }
    let blocks = result["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    let parsed = blocks.filter_map(|text| serde_json::from_str::<Value>(text).ok());
    parsed.filter(|value| value.is_object() || value.is_array()).collect()
}

/// All objects, outer ones first.
fn objects(value: &Value, depth: usize, found: &mut Vec<Map<String, Value>>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Object(members) => {
            found.push(members.clone());
            members.values().for_each(|inner| objects(inner, depth, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| objects(inner, depth, found)),
        _ => {}
    }
}

pub fn all(reply: &Reply) -> Vec<Map<String, Value>> {
    let mut found = Vec::new();
    documents(reply).iter().for_each(|document| objects(document, DEEPEST, &mut found));
    found
}

/// The objects that have this id.
pub fn with_id(reply: &Reply, id: &Value) -> Vec<Map<String, Value>> {
    all(reply).into_iter().filter(|members| members.values().any(|value| value == id)).collect()
}

/// The object that is about these fields: the first one with most of them.
pub fn about(reply: &Reply, fields: &Map<String, Value>) -> Option<Map<String, Value>> {
    let count = |members: &Map<String, Value>| members.keys().filter(|name| fields.contains_key(*name)).count();
    let mut best: Option<Map<String, Value>> = None;
    for members in all(reply) {
        if best.as_ref().is_none_or(|known| count(&members) > count(known)) {
            best = Some(members);
        }
    }
    best
}

/// Whether the result has an object or an array at all.
pub fn is_structured(reply: &Reply) -> bool {
    !documents(reply).is_empty()
}

/// All texts of a result.
pub fn text(reply: &Reply) -> String {
    let result = reply.result.clone().unwrap_or_default();
    let blocks = result["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    let texts: Vec<&str> = blocks.collect();
    texts.join("\n") + &result["structuredContent"].to_string()
}
