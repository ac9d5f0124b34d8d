//! Subscriptions that were acknowledged or timed out: their notifications, and how they ended.
//!
//! Over HTTP, a message belongs to the stream that carries it, with or without a tag. Over stdio, only the tag shows
//! it.

use serde_json::{Value, json};

use super::{
    negotiated::Session,
    wait::conclude,
    waiter::{Outcome, Seen, Waiter},
};
use conform_model::evidence::Reply;

/// Maximum number of notifications kept per subscription; further ones are only in the transcript.
const KEPT: usize = 1000;

pub struct Subscription {
    id: Value,
    acknowledged: bool,
    post: Option<u64>,
    seen: Seen,
    end: Option<Outcome>,
}

impl Subscription {
    pub fn of(waiter: &Waiter, acknowledged: bool) -> Self {
        let (http, frames) = (waiter.seen.http.clone(), waiter.seen.frames.clone());
        let seen = Seen { http, frames, ..Seen::default() };
        Self { id: waiter.id.clone().unwrap_or_default(), acknowledged, post: waiter.post, seen, end: None }
    }

    /// Adds a notification if it belongs to this subscription.
    pub fn note(&mut self, frame: u64, message: &Value, post: Option<u64>) {
        let ours = if post.is_some() { self.post == post } else { tag(message) == Some(&self.id) };
        if ours && self.seen.notifications.len() < KEPT {
            self.seen.notifications.push(message.clone());
            self.seen.frames.push(frame);
        }
    }

    /// Takes a response if it belongs to this subscription, which ends with it.
    pub fn respond(&mut self, frame: u64, message: &Value, post: Option<u64>) -> bool {
        let ours = if post.is_some() { self.post == post } else { message.get("id") == Some(&self.id) };
        if ours {
            self.end.get_or_insert(Outcome::Response { frame, message: message.clone() });
        }
        ours
    }

    /// Called when a stream has ended.
    pub fn done(&mut self, post: u64) {
        if self.post == Some(post) {
            self.end.get_or_insert(Outcome::Closed("the stream ended".to_owned()));
        }
    }
}

/// The id of the subscription that a notification is tagged with.
pub fn tag(message: &Value) -> Option<&Value> {
    message.pointer("/params/_meta/io.modelcontextprotocol~1subscriptionId")
}

impl Session {
    /// Cancels the subscription with this request id. The reply has its state before that (`open`, unless the server
    /// ended it) and its notifications. `None` if there is no such subscription, or it was not acknowledged.
    pub async fn cancel(&self, by: &str, id: &Value) -> Option<Reply> {
        let Subscription { acknowledged, post, seen, end, .. } = {
            let mut state = self.shared.state();
            let index = state.subscriptions.iter().position(|subscription| subscription.id == *id)?;
            // Its result may still arrive, and belongs to no other request.
            state.given_up.push((id.clone(), false));
            state.subscriptions.swap_remove(index)
        };
        if end.is_none() {
            match post {
                Some(post) => self.shared.wire.abandon(post),
                None => drop(self.notify(by, "notifications/cancelled", Some(json!({ "requestId": id }))).await),
            }
        }
        acknowledged.then(|| conclude(end.unwrap_or(Outcome::Open), seen))
    }
}
