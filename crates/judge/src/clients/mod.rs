//! The items for rules about clients: each message that a client sent, each request that it handled, the pages that it
//! requested, its HTTP requests, the inputs that results required, and its tasks.
//!
//! What a client knows only shows in messages. So each item is described by the earlier messages on its connection.

mod dialogue;
mod handled;
mod inputs;
mod lists;
mod overtaking;
mod posts;
mod sent;
mod served;
mod tasks;

#[cfg(test)]
mod tests;

use std::{collections::HashSet, sync::Arc};

use serde::Serialize;
use serde_json::{Value, json};

use self::{
    dialogue::Dialogue, handled::Handled, inputs::Inputs, lists::Lists, overtaking::Overtaking, posts::Posts,
    tasks::Tasks,
};
use super::exchange::Assembler;
use conform_model::evidence::{
    Frame, FrameKind, Kind, Link, Side,
    conversation::{Conversation, Related, Said},
};

/// Items under their streamed names.
type Items = Vec<(&'static str, Value)>;

/// Everything that a client did in one scenario, or in all.
#[derive(Default)]
pub struct Clients<'a> {
    conversation: Conversation,
    connections: Vec<(u32, Connection<'a>)>,
    /// All requests so far, on any connection.
    requested: HashSet<String>,
    recent: posts::Recent,
    tasks: Tasks,
}

struct Connection<'a> {
    link: &'a Link,
    dialogue: Dialogue,
    exchanges: Assembler<'a>,
    lists: Lists,
    handled: Handled,
    inputs: Inputs,
    posts: Posts,
    overtaking: Overtaking,
    /// Whether the server has returned a result.
    served: bool,
}

/// One message with its context.
#[derive(Clone, Copy)]
pub struct MessageContext<'a> {
    pub frame: &'a Frame,
    pub message: &'a Value,
    pub kind: Kind,
    pub related: &'a Related<'a>,
    pub batch: bool,
}

fn item(root: &'static str, item: &impl Serialize) -> (&'static str, Value) {
    (root, serde_json::to_value(item).unwrap_or_else(|error| unreachable!("all keys are strings: {error}")))
}

impl<'a> Clients<'a> {
    /// The items that this frame completes.
    pub fn take(&mut self, frame: &Arc<Frame>, link: &'a Link) -> Items {
        let index = self.connections.iter().position(|(known, _)| *known == link.link).unwrap_or_else(|| {
            self.connections.push((link.link, Connection::new(link)));
            self.connections.len() - 1
        });
        let connection = &mut self.connections[index].1;
        let said = self.conversation.take(frame);
        let mut items = Items::new();
        for exchange in connection.exchanges.take(frame).exchanges {
            let exchange = repeated(exchange, &mut self.requested, connection.served);
            connection.served |= exchange["end"] == "result";
            items.push(("exchanges", exchange));
        }
        if let Some(post) = frame.post {
            let Connection { posts, dialogue, .. } = connection;
            if frame.http.as_ref().and_then(|head| head.status).is_some_and(|status| status >= 400) {
                dialogue.rejected(post);
            }
            items.extend(posts.take(&said, dialogue, &mut self.recent).map(|post| ("posts", post)));
        }
        connection.messages(&said, &mut self.tasks, &mut items);
        connection.dialogue.malformed |=
            frame.from == Side::Server && matches!(frame.kind, FrameKind::Junk | FrameKind::Unread);
        connection.dialogue.passed(frame.at);
        items
    }

    /// The items that are still open at the end.
    pub fn rest(self) -> Items {
        let Self { connections, mut requested, tasks, .. } = self;
        let mut items = Items::new();
        let now = connections.iter().map(|(_, connection)| connection.dialogue.now).max().unwrap_or_default();
        items.extend(tasks.rest(now).map(|task| item("tasks", &task)));
        for (_, connection) in connections {
            let Connection { link, exchanges, lists, handled, inputs, posts, overtaking, dialogue, served } =
                connection;
            items.extend(overtaking.rest().map(|sent| ("sent", sent)));
            let open = exchanges.rest().into_iter();
            items.extend(open.map(|exchange| ("exchanges", repeated(exchange, &mut requested, served))));
            items.extend(lists.rest(link).into_iter().map(|list| ("lists", list)));
            for handled in handled.rest(dialogue.now) {
                items.extend([item("served", &served::Item::from(&handled)), item("handled", &handled)]);
            }
            for input in inputs.rest(link) {
                items.extend([item("served", &served::Item::from(&input)), item("inputs", &input)]);
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
            overtaking: Overtaking::default(),
            served: false,
        }
    }

    fn messages(&mut self, said: &Said, tasks: &mut Tasks, items: &mut Items) {
        let (frame, batch) = (said.frame, said.is_batch());
        for related in &said.messages {
            let (message, kind) = (related.message.whole, related.message.exact_kind());
            let passing = MessageContext { frame, message, kind, related, batch };
            let list = self.lists.take(&passing);
            let input_required = self.inputs.take(&passing, &self.dialogue);
            let token_of_task = related.message.token().and_then(|token| tasks.have_token(token));
            let task = tasks.take(&passing, &self.dialogue, self.link);
            if frame.from == Side::Client {
                let http = frame.post.and_then(|post| self.posts.head(post));
                let mut sent = sent::item(&passing, &self.dialogue, self.link);
                (sent.list, sent.input_required, sent.http) = (list, input_required, http);
                (sent.task, sent.token_of_task) = (task, token_of_task);
                items.extend(self.overtaking.overtook(&passing).into_iter().map(|sent| ("sent", sent)));
                let (root, value) = item("sent", &sent);
                match sent.cancels_nothing() && frame.post.is_some() {
                    true => self.overtaking.keep(frame.at, value),
                    false => items.push((root, value)),
                }
            }
            self.handled.take(&passing, &self.dialogue, self.link);
            self.dialogue.take(&passing);
        }
    }
}

/// Marks an exchange whose request was sent before with the same id, and whether an earlier request got a result.
fn repeated(mut exchange: Value, requested: &mut HashSet<String>, served: bool) -> Value {
    let mut params = exchange["params"].clone();
    if let Some(params) = params.as_object_mut() {
        params.shift_remove("_meta");
    }
    exchange["served_before"] = json!(served);
    exchange["repeats"] = json!(!requested.insert(format!("{} {} {params}", exchange["id"], exchange["method"])));
    exchange
}
