//! The items for rules about clients: each message that a client sent, each request that it handled, the pages that it
//! requested, its HTTP requests, and the inputs that results required.
//!
//! What a client knows only shows in messages. So each item is described by the earlier messages on its connection.

mod dialogue;
mod events;
mod handled;
mod inputs;
mod lists;
mod posts;
mod sent;
mod served;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde_json::{Value, json};

use self::{dialogue::Dialogue, handled::Handled, inputs::Inputs, lists::Lists, posts::Posts};
use super::exchange::Assembler;
use crate::{
    evidence::{Frame, FrameKind, Link, Side},
    suite::push_token,
};

/// Items under their streamed names.
type Items = Vec<(&'static str, Value)>;

/// Everything that a client did in one scenario, or in all.
#[derive(Default)]
pub struct Clients<'a> {
    connections: Vec<(u32, Connection<'a>)>,
    /// All requests so far, on any connection.
    requested: HashSet<String>,
    recent: posts::Recent,
}

struct Connection<'a> {
    link: &'a Link,
    dialogue: Dialogue,
    exchanges: Assembler<'a>,
    lists: Lists,
    handled: Handled,
    inputs: Inputs,
    posts: Posts,
}

/// One message with its context.
pub struct MessageContext<'a> {
    pub frame: &'a Frame,
    pub message: &'a Value,
    pub pointer: String,
    pub batch: bool,
}

impl<'a> Clients<'a> {
    /// The items that this frame completes.
    pub fn take(&mut self, frame: &Frame, link: &'a Link) -> Items {
        let index = self.connections.iter().position(|(known, _)| *known == link.link).unwrap_or_else(|| {
            self.connections.push((link.link, Connection::new(link)));
            self.connections.len() - 1
        });
        let connection = &mut self.connections[index].1;
        let mut items = Items::new();
        let exchanges = connection.exchanges.take(frame).exchanges;
        items.extend(exchanges.into_iter().map(|exchange| ("exchanges", repeated(exchange, &mut self.requested))));
        if let Some(post) = frame.post {
            let Connection { posts, dialogue, .. } = connection;
            if frame.http.as_ref().and_then(|head| head.status).is_some_and(|status| status >= 400) {
                dialogue.rejected(post);
            }
            items.extend(posts.take(frame, dialogue, &mut self.recent).map(|post| ("posts", post)));
        }
        if let (FrameKind::Message, Some(message)) = (frame.kind, &frame.message) {
            match message.as_array() {
                None => connection.message(frame, message, String::new(), false, &mut items),
                Some(all) => {
                    for (index, message) in all.iter().enumerate() {
                        let mut pointer = String::new();
                        push_token(&mut pointer, &index.to_string());
                        connection.message(frame, message, pointer, true, &mut items);
                    }
                }
            }
        }
        connection.dialogue.malformed |=
            frame.from == Side::Server && matches!(frame.kind, FrameKind::Junk | FrameKind::Unread);
        connection.dialogue.passed(frame.at);
        items
    }

    /// The items that are still open at the end.
    pub fn rest(self) -> Items {
        let Self { connections, mut requested, .. } = self;
        let mut items = Items::new();
        for (_, connection) in connections {
            let Connection { link, exchanges, lists, handled, inputs, posts, dialogue } = connection;
            let open = exchanges.rest().into_iter();
            items.extend(open.map(|exchange| ("exchanges", repeated(exchange, &mut requested))));
            items.extend(lists.rest(link).into_iter().map(|list| ("lists", list)));
            for handled in handled.rest(link, dialogue.now) {
                items.push(("served", served::of_request(&handled)));
                items.push(("handled", handled));
            }
            for input in inputs.rest(link) {
                items.push(("served", served::of_input(&input)));
                items.push(("inputs", input));
            }
            items.extend(posts.rest().into_iter().map(|post| ("posts", post)));
        }
        items
    }
}

impl<'a> Connection<'a> {
    fn new(link: &'a Link) -> Self {
        Self {
            link,
            dialogue: Dialogue::default(),
            exchanges: Assembler::new(link),
            lists: Lists::default(),
            handled: Handled::default(),
            inputs: Inputs::default(),
            posts: Posts::new(link),
        }
    }

    fn message(&mut self, frame: &Frame, message: &Value, pointer: String, batch: bool, items: &mut Items) {
        let passing = MessageContext { frame, message, pointer, batch };
        let list = self.lists.take(&passing);
        let required = self.inputs.take(&passing, &self.dialogue);
        if frame.from == Side::Client {
            let mut item = sent::item(&passing, &self.dialogue, self.link);
            if let Some(list) = list {
                item["list"] = json!(list);
            }
            if let Some(required) = required {
                item["input_required"] = json!(required);
            }
            if let Some(http) = frame.post.and_then(|post| self.posts.head(post)) {
                item["http"] = http;
            }
            items.push(("sent", item));
        }
        self.handled.take(&passing, &self.dialogue);
        self.dialogue.take(&passing);
    }
}

/// Marks an exchange whose request was sent before with the same id.
fn repeated(mut exchange: Value, requested: &mut HashSet<String>) -> Value {
    let mut params = exchange["params"].clone();
    if let Some(params) = params.as_object_mut() {
        params.shift_remove("_meta");
    }
    exchange["repeats"] = json!(!requested.insert(format!("{} {} {params}", exchange["id"], exchange["method"])));
    exchange
}
