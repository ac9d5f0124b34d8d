//! The lists in a recording, in the place of those that a run requests: rules on calls and reads look there for what was
//! called or read.

use std::{collections::HashMap, sync::Arc};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::evidence::{Frame, Side};

/// The method, its save in a run, the member of its result, and what identifies an item.
const LISTS: [(&str, &str, &str, &str); 4] = [
    ("tools/list", "tools", "tools", "name"),
    ("prompts/list", "prompts", "prompts", "name"),
    ("resources/list", "resources", "resources", "uri"),
    ("resources/templates/list", "templates", "resourceTemplates", "uriTemplate"),
];

type Place = (u64, String);

/// The `survey` of a run with the lists that arrived. A server may change an item after it was used, so an item that was
/// listed in two ways is left out.
pub fn survey<'f>(frames: impl Iterator<Item = &'f Arc<Frame>>) -> Value {
    let mut asked: HashMap<(u32, String), usize> = HashMap::new();
    let mut found: [IndexMap<String, Option<(Value, Place)>>; 4] = Default::default();
    let mut arrived = [false; 4];
    for frame in frames {
        let Some(message) = &frame.message else { continue };
        let id = (frame.link, message["id"].to_string());
        let list = LISTS.iter().position(|(method, ..)| message["method"] == *method);
        match (frame.from, list) {
            (Side::Client, Some(list)) => _ = asked.insert(id, list),
            (Side::Client, None) if message.get("method").is_some() => _ = asked.remove(&id),
            (Side::Server, _) if message.get("method").is_none() => {
                let Some(list) = asked.remove(&id) else { continue };
                let (_, _, member, name) = LISTS[list];
                let Some(items) = message["result"][member].as_array() else { continue };
                arrived[list] = true;
                for (at, item) in items.iter().enumerate() {
                    let Some(key) = item[name].as_str() else { continue };
                    let place = (frame.frame, format!("/result/{member}/{at}"));
                    let known = found[list].entry(key.to_owned()).or_insert_with(|| Some((item.clone(), place)));
                    if known.as_ref().is_some_and(|(known, _)| known != item) {
                        *known = None;
                    }
                }
            }
            _ => {}
        }
    }
    let lists =
        LISTS.iter().zip(found).zip(arrived).filter(|(_, arrived)| *arrived).map(|(((_, save, ..), items), _)| {
            let (items, origins): (Vec<Value>, Vec<Value>) = items
                .into_values()
                .flatten()
                .map(|(item, (frame, pointer))| (item, json!({ "frame": frame, "pointer": pointer })))
                .unzip();
            ((*save).to_owned(), json!({ "items": items, "origins": origins }))
        });
    Value::Object(lists.collect::<Map<_, _>>())
}
