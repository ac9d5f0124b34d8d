//! Variations of messages that cannot be written as a single patch.

use serde_json::{Map, Value, json};

use crate::faults::{Behaviour, EVERYWHERE, Memory, Scene};

/// Lists in results, and the type of their items.
const LISTS: [&str; 7] = ["resources", "resourceTemplates", "tools", "prompts", "contents", "content", "messages"];

pub static MESSAGES: &[Behaviour] = &[
    Behaviour {
        say: Some(|_, _, message| {
            each_object(message, |object| drop(object.insert("x-vendor".to_owned(), json!({ "trace": [1, null] }))));
            true
        }),
        ..Behaviour::new("extra-fields", "results and listed items have additional fields of the vendor", EVERYWHERE)
    },
    Behaviour {
        say: Some(fresh_meta),
        ..Behaviour::new("fresh-meta", "`_meta` has another time and trace id in each response", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, _, message| {
            memory.requests += 1;
            let turns = usize::try_from(memory.requests).unwrap_or_default();
            for list in lists(message) {
                let length = list.len().max(1);
                list.rotate_left(turns % length);
            }
            true
        }),
        also: &[
            "pagination-cursor-stable",
            "pagination-cursor-stable-at-once",
            "tools-list-deterministic-order",
            // This rule compares whole lists.
            "prefix-templates-empty-prefix-matches-all",
        ],
        ..Behaviour::new("order-varies", "each list has another order each time", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, message| {
            let long = "Ünïcödé — 説明 — 🦀 \"quoted\" \\ and \u{2028} more. ".repeat(400);
            each_object(message, |object| {
                if let Some(description) = object.get_mut("description") {
                    *description = json!(long);
                }
            });
            true
        }),
        ..Behaviour::new("long-descriptions", "descriptions have 20,000 characters of many scripts", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, message| {
            each_object(message, |object| {
                for name in ["description", "title", "instructions"] {
                    if let Some(text) = object.get_mut(name) {
                        *text = json!("");
                    }
                }
            });
            true
        }),
        ..Behaviour::new("empty-texts", "descriptions, titles and instructions are empty strings", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, message| {
            each_object(message, |object| {
                for name in ["description", "title", "annotations", "icons", "size"] {
                    object.remove(name);
                }
            });
            true
        }),
        ..Behaviour::new("bare-items", "listed items have only required fields and schemas", EVERYWHERE)
    },
];

/// The result or error of a response, and the resources, tools and other objects in it. Results that have to be empty
/// stay empty.
fn each_object(message: &mut Value, mut change: impl FnMut(&mut Map<String, Value>)) {
    for place in ["/result", "/error", "/result/resource"] {
        if let Some(Value::Object(outcome)) = message.pointer_mut(place).filter(|outcome| **outcome != json!({})) {
            change(outcome);
        }
    }
    for object in lists(message).into_iter().flatten().filter_map(Value::as_object_mut) {
        change(object);
    }
}

/// The lists of a result.
fn lists(message: &mut Value) -> Vec<&mut Vec<Value>> {
    let Some(Value::Object(result)) = message.get_mut("result") else { return Vec::new() };
    let lists = result.iter_mut().filter(|(name, _)| LISTS.contains(&name.as_str()));
    lists.filter_map(|(_, list)| list.as_array_mut()).collect()
}

fn fresh_meta(memory: &mut Memory, _: &Scene, message: &mut Value) -> bool {
    memory.requests += 1;
    let number = memory.requests;
    each_object(message, |object| {
        if object.contains_key("code") {
            return;
        }
        if let Some(meta) = object.entry("_meta").or_insert_with(|| json!({})).as_object_mut() {
            meta.insert("com.example/trace".to_owned(), json!(format!("{number:032x}")));
            meta.insert("com.example/took".to_owned(), json!(number % 7));
        }
    });
    true
}
