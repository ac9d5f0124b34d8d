//! The objects that results contain: as `structuredContent`, or as JSON in a text.

use serde_json::{Map, Value};

use conform_model::evidence::Reply;

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
    for document in &documents(reply) {
        objects(document, DEEPEST, &mut found);
    }
    found
}

/// Whether the object is the thing with this key: another field may have the same value by chance.
fn is_thing(members: &Map<String, Value>, key: &Map<String, Value>, by_name: bool) -> bool {
    let Some((name, value)) = key.iter().next() else { return false };
    let wanted = if by_name { plain(name) } else { "id".to_owned() };
    members.iter().any(|(known, own)| own == value && plain(known) == wanted)
}

/// The objects of the thing with this key: by the name of the key, or else by `id`.
pub fn with_key(reply: &Reply, key: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let all = all(reply);
    let of = |by_name: bool| -> Vec<Map<String, Value>> {
        all.iter().filter(|members| is_thing(members, key, by_name)).cloned().collect()
    };
    let named = of(true);
    if named.is_empty() { of(false) } else { named }
}

/// How many elements of one array are the thing with this key.
pub fn times(reply: &Reply, key: &Map<String, Value>) -> usize {
    let mut arrays = Vec::new();
    for document in &documents(reply) {
        collect(document, DEEPEST, &mut arrays);
    }
    let count = |items: &Vec<Value>, by_name: bool| {
        items.iter().filter_map(Value::as_object).filter(|members| is_thing(members, key, by_name)).count()
    };
    let most = |by_name: bool| arrays.iter().map(|items| count(items, by_name)).max().unwrap_or_default();
    match most(true) {
        0 => most(false),
        times => times,
    }
}

fn collect(value: &Value, depth: usize, found: &mut Vec<Vec<Value>>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Object(members) => members.values().for_each(|inner| collect(inner, depth, found)),
        Value::Array(items) => {
            found.push(items.clone());
            for inner in items {
                collect(inner, depth, found);
            }
        }
        _ => {}
    }
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
