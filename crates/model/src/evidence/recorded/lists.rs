//! The lists in a recording, in place of those that a run requests: rules on calls and reads look there for what was
//! called or read.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::evidence::{Frame, LISTS, Message, Side, conversation::Requests};

type Place = (u64, String);

/// The `survey` of a run with the lists that arrived. A server may change an item after it was used, so an item that was
/// listed in two ways is omitted.
pub fn survey<'f>(frames: impl Iterator<Item = &'f Arc<Frame>>) -> Value {
    let mut requests: Requests<u32, Option<usize>> = Requests::default();
    let mut found: [IndexMap<String, Option<(Value, Place)>>; 4] = Default::default();
    let mut arrived = [false; 4];
    for frame in frames {
        let Some(message) = frame.message.as_ref().map(Message::of) else { continue };
        let is_sent = frame.from == Side::Client;
        let list = LISTS.iter().position(|list| is_sent && message.method == list.method);
        let asked = requests.take(frame.link, frame.from, &message, list);
        let Some(list) =
            asked.filter(|asked| message.is_response() && asked.responses == 0).and_then(|asked| asked.place)
        else {
            continue;
        };
        let field = LISTS[list].field;
        let Some(items) = message.result()[field].as_array() else { continue };
        arrived[list] = true;
        for (at, item) in items.iter().enumerate() {
            let Some(key) = item[LISTS[list].name].as_str() else { continue };
            let place = (frame.frame, format!("/result/{field}/{at}"));
            let known = found[list].entry(key.to_owned()).or_insert_with(|| Some((item.clone(), place)));
            if known.as_ref().is_some_and(|(known, _)| known != item) {
                *known = None;
            }
        }
    }
    let mut survey = Map::new();
    for ((list, items), _) in LISTS.iter().zip(found).zip(arrived).filter(|(_, arrived)| *arrived) {
        let places = items.into_values().flatten();
        let (items, origins): (Vec<Value>, Vec<Value>) =
            places.map(|(item, (frame, pointer))| (item, json!({ "frame": frame, "pointer": pointer }))).unzip();
        survey.insert(list.save.to_owned(), json!({ "items": items, "origins": origins }));
    }
    Value::Object(survey)
}
