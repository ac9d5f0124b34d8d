//! Server requests with the client's responses: items of `$handled`.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::{
    MessageContext,
    dialogue::{Dialogue, kind},
};
use crate::evidence::{Link, Side};

/// At most this many requests of one connection are judged.
const MOST: usize = 5_000;

#[derive(Default)]
pub struct Handled {
    /// By id; if a server reuses an id, it is a new request.
    asked: IndexMap<String, Asked>,
    done: Vec<Asked>,
}

struct Asked {
    item: Value,
    frame: u64,
    at: u64,
    replies: usize,
    /// The server reused the id of an open request, so a response cannot be matched.
    unclear: bool,
}

impl Handled {
    pub fn take(&mut self, passing: &MessageContext, dialogue: &Dialogue) {
        let MessageContext { frame, message, .. } = passing;
        let Some(id) = message.get("id").map(Value::to_string) else {
            if frame.from == Side::Server && message["method"] == "notifications/cancelled" {
                let cancelled = message["params"]["requestId"].to_string();
                if let Some(asked) = self.asked.get_mut(&cancelled).filter(|asked| asked.replies == 0) {
                    asked.item["cancelled"] = json!(true);
                }
            }
            return;
        };
        match (frame.from, kind(message)) {
            (Side::Server, "request") if self.asked.len() + self.done.len() < MOST => {
                let open: Vec<&str> = dialogue.open.values().map(|open| open.method.as_str()).collect();
                let item = json!({
                    "method": message["method"],
                    "params": message["params"],
                    "id": message["id"],
                    "end": "none",
                    "open": open,
                    "offered": dialogue.offered(),
                    "cancelled": false,
                    "frames": [frame.frame],
                });
                let mut before = self.asked.shift_remove(&id);
                let unclear = before.as_ref().is_some_and(|before| before.unclear || before.replies == 0);
                if let Some(before) = before.as_mut().filter(|_| unclear) {
                    before.unclear = true;
                }
                self.done.extend(before);
                self.asked.insert(id, Asked { item, frame: frame.frame, at: frame.at, replies: 0, unclear });
            }
            (Side::Client, "result" | "error") => {
                let Some(asked) = self.asked.get_mut(&id) else { return };
                asked.replies += 1;
                if asked.replies > 1 {
                    return;
                }
                asked.item["end"] = json!(if message.get("error").is_some() { "error" } else { "result" });
                let mut reply = Map::new();
                for (name, value) in message.as_object().into_iter().flatten() {
                    if matches!(name.as_str(), "result" | "error") {
                        asked.item[name] = value.clone();
                    } else if name != "id" {
                        reply.insert(name.clone(), value.clone());
                    }
                }
                asked.item["reply"] = reply.into();
                asked.item["ms"] = json!(frame.at.saturating_sub(asked.at) / 1000);
                // Requests that were open when the server sent this one.
                let still = dialogue.open.values().any(|open| open.frame < asked.frame);
                asked.item["responded_while_open"] = json!(still);
                asked.item["frames"] = json!([asked.frame, frame.frame]);
            }
            _ => {}
        }
    }

    pub fn rest(self, link: &Link, now: u64) -> Vec<Value> {
        let all = self.done.into_iter().chain(self.asked.into_values());
        let mut all: Vec<Asked> = all.filter(|asked| !asked.unclear).collect();
        all.sort_by_key(|asked| asked.frame);
        let item = |asked: Asked| {
            let mut item = asked.item;
            if asked.replies == 0 {
                item["waited_ms"] = json!(now.saturating_sub(asked.at) / 1000);
            }
            item["replies"] = json!(asked.replies);
            item["revision"] = json!(link.revision);
            item["transport"] = json!(link.transport);
            item["link"] = json!(link.link);
            item
        };
        all.into_iter().map(item).collect()
    }
}
