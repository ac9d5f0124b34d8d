//! Cancellations that arrive before their request. Over HTTP a client posts each on a connection of its own, and either
//! can be read first: seen with the TypeScript SDK on a busy machine.

use serde_json::{Value, json};

use super::MessageContext;
use conform_model::evidence::Kind;

/// For how long a request may be overtaken, in microseconds.
const OVERTAKING: u64 = 500_000;

/// The items of cancellations that name no request so far, each with the time when it arrived.
#[derive(Default)]
pub struct Overtaking(Vec<(u64, Value)>);

impl Overtaking {
    /// Keeps the item of a cancellation that names no request: its request may still come.
    pub fn keep(&mut self, at: u64, item: Value) {
        self.0.push((at, item));
    }

    /// The items of cancellations that overtook this message.
    pub fn overtook(&mut self, passing: &MessageContext) -> Vec<Value> {
        let MessageContext { frame, kind, related, .. } = passing;
        let names_it = |(at, item): &mut (u64, Value)| {
            *kind == Kind::Request
                && frame.at.saturating_sub(*at) <= OVERTAKING
                && related.message.id == Some(&item["message"]["params"]["requestId"])
        };
        let is_open = |(_, mut item): (u64, Value)| {
            item["cancels"] = json!("open request");
            item
        };
        self.0.extract_if(.., names_it).map(is_open).collect()
    }

    /// The items of those whose request never came.
    pub fn rest(self) -> impl Iterator<Item = Value> {
        self.0.into_iter().map(|(_, item)| item)
    }
}
