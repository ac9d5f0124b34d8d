//! Values from results, for arguments with the same name: they may identify the same things.

use std::collections::HashMap;

use serde_json::Value;

use super::{item::Item, subject::What};

/// Values by the names of their fields.
pub type Pool = HashMap<String, Vec<Value>>;

/// Collects the values of a result by the names of their fields.
pub fn harvest(pool: &mut Pool, item: &Item) {
    let Some(result) = item.result.as_ref().filter(|_| item.what == What::Tool && !item.failed) else { return };
    collect(pool, &result["structuredContent"], 6);
    for block in result["content"].as_array().into_iter().flatten() {
        if let Some(text) = block["text"].as_str().filter(|text| text.starts_with(['{', '['])) {
            collect(pool, &serde_json::from_str(text).unwrap_or_default(), 6);
        }
        for uri in [&block["uri"], &block["resource"]["uri"]] {
            keep(pool, "uri", uri);
        }
    }
}

pub fn collect(pool: &mut Pool, value: &Value, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                keep(pool, name, value);
                collect(pool, value, depth);
            }
        }
        Value::Array(items) => items.iter().take(10).for_each(|item| collect(pool, item, depth)),
        _ => {}
    }
}

fn keep(pool: &mut Pool, name: &str, value: &Value) {
    let short = |text: &str| !text.is_empty() && text.len() <= 200;
    if value.is_i64() || value.as_str().is_some_and(short) {
        let known = pool.entry(name.to_ascii_lowercase()).or_default();
        if known.len() < 20 && !known.contains(value) {
            known.push(value.clone());
        }
    }
}
