//! Subscriptions that were acknowledged, or waited for long enough: what came for each of them, and how it ended.
//!
//! Over HTTP a message belongs to the stream it came on, tagged or not; over stdio only its tag tells.

use serde_json::{Value, json};

use super::{
    negotiated::Session,
    pump::{Outcome, Seen, Waiter},
    wait::conclude,
};
use crate::evidence::Reply;

/// Notifications kept for one subscription; a flood beyond this is still in the transcript.
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

    /// Takes a notification if it belongs here.
    pub fn note(&mut self, frame: u64, message: &Value, post: Option<u64>) {
        let ours = if post.is_some() { self.post == post } else { tag(message) == Some(&self.id) };
        if ours && self.seen.notifications.len() < KEPT {
            self.seen.notifications.push(message.clone());
            self.seen.frames.push(frame);
        }
    }

    /// Takes a response if it belongs here; with one the subscription is over.
    pub fn respond(&mut self, frame: u64, message: &Value, post: Option<u64>) -> bool {
        let ours = if post.is_some() { self.post == post } else { message.get("id") == Some(&self.id) };
        if ours {
            self.end.get_or_insert(Outcome::Response { frame, message: message.clone() });
        }
        ours
    }

    /// Its stream has ended.
    pub fn done(&mut self, post: u64) {
        if self.post == Some(post) {
            self.end.get_or_insert(Outcome::Closed("the stream ended".to_owned()));
        }
    }
}

/// The subscription that a notification says it is for.
pub fn tag(message: &Value) -> Option<&Value> {
    message.pointer("/params/_meta/io.modelcontextprotocol~1subscriptionId")
}

impl Session {
    /// Ends the subscription that was opened by the request of this id. The reply tells what it was until then: still
    /// `open`, unless the server ended it, and with what came for it. `None` where there is none, or none
    /// that was acknowledged.
    pub async fn cancel(&self, by: &str, id: &Value) -> Option<Reply> {
        let Subscription { acknowledged, post, seen, end, .. } = {
            let mut state = self.shared.state();
            let index = state.subscriptions.iter().position(|subscription| subscription.id == *id)?;
            // Its result may still come, and is nobody else's.
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
