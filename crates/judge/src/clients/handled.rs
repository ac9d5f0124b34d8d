//! Server requests with the client's responses: items of `$handled`.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{MessageContext, dialogue::Dialogue};
use conform_model::{
    evidence::{Kind, Link, Side, Transport, conversation::RequestAt},
    revision::Revision,
};

/// At most this many requests of one connection are judged.
const MOST: usize = 5_000;

#[derive(Default)]
pub struct Handled {
    requests: IndexMap<RequestAt, Asked>,
}

struct Asked {
    item: Item,
    /// The server reused the id of an open request, so a response cannot be matched.
    unclear: bool,
}

#[derive(Serialize)]
pub struct Item {
    pub method: String,
    pub params: Value,
    pub id: Value,
    pub end: &'static str,
    /// The methods of the client's open requests.
    open: Vec<String>,
    /// What the client declared.
    pub offered: Value,
    cancelled: bool,
    pub frames: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// The other fields of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    responded_while_open: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_ms: Option<u64>,
    replies: usize,
    revision: Option<Revision>,
    transport: Transport,
    pub link: u32,
}

impl Handled {
    pub fn take(&mut self, passing: &MessageContext, dialogue: &Dialogue, link: &Link) {
        let MessageContext { frame, message, kind, related, .. } = passing;
        let known = related.asked.as_ref().and_then(|asked| self.requests.get_mut(&asked.place));
        match (frame.from, kind) {
            (Side::Server, Kind::Notification) => {
                if let Some(asked) = known.filter(|asked| asked.item.replies == 0) {
                    asked.item.cancelled = true;
                }
            }
            (Side::Server, Kind::Request) => {
                let unclear = known.is_some_and(|before| {
                    before.unclear |= before.item.replies == 0;
                    before.unclear
                });
                if self.requests.len() < MOST {
                    let item = Item::of(passing, dialogue, link);
                    self.requests.insert(related.sent, Asked { item, unclear });
                }
            }
            (Side::Client, Kind::Result | Kind::Error) => {
                let Some(Asked { item, .. }) = known else { return };
                item.replies += 1;
                if item.replies > 1 {
                    return;
                }
                let mut reply = message.as_object().cloned().unwrap_or_default();
                reply.shift_remove("id");
                (item.result, item.error) = (reply.shift_remove("result"), reply.shift_remove("error"));
                item.end = if item.error.is_some() { "error" } else { "result" };
                item.reply = Some(reply);
                let RequestAt { frame: asked, at, .. } =
                    related.asked.as_ref().map_or(related.sent, |asked| asked.place);
                item.ms = Some(frame.at.saturating_sub(at) / 1000);
                // Requests that were open when the server sent this one.
                item.responded_while_open = Some(dialogue.open.values().any(|open| open.frame < asked));
                item.frames.push(frame.frame);
            }
            _ => {}
        }
    }

    pub fn rest(self, now: u64) -> impl Iterator<Item = Item> {
        let clear = self.requests.into_iter().filter(|(_, asked)| !asked.unclear);
        clear.map(move |(sent, Asked { item, .. })| {
            let waited = (item.replies == 0).then(|| now.saturating_sub(sent.at) / 1000);
            Item { waited_ms: waited, ..item }
        })
    }
}

impl Item {
    fn of(passing: &MessageContext, dialogue: &Dialogue, link: &Link) -> Self {
        let message = &passing.related.message;
        Self {
            method: message.method.to_owned(),
            params: message.params().clone(),
            id: message.id.cloned().unwrap_or_default(),
            end: "none",
            open: dialogue.open.values().map(|open| open.method.clone()).collect(),
            offered: dialogue.offered().clone(),
            cancelled: false,
            frames: vec![passing.frame.frame],
            result: None,
            error: None,
            reply: None,
            ms: None,
            responded_while_open: None,
            waited_ms: None,
            replies: 0,
            revision: link.revision,
            transport: link.transport,
            link: link.link,
        }
    }
}
