//! Resumes an event stream that ended before its response. Since 2025-11-25, servers may let clients poll like this.

use std::{sync::Weak, time::Duration};

use serde_json::Value;
use tokio::time::sleep;

use super::{
    headers::protocol_headers,
    shared::Shared,
    waiter::{Outcome, Waiter},
};
use conform_model::revision::Revision;
use conform_wire::{Envelope, Wire};

/// The delay if the server sets none, and the minimum delay.
const PAUSE: u64 = 500;
const SHORTEST: u64 = 20;

/// Where to resume a request's stream: after an event id, after a delay.
pub struct Place {
    waiter: u64,
    event: String,
    pause: Duration,
}

/// Detaches a request from a stream that has ended, normally or not, if it can be resumed.
pub fn leave(waiter: &mut Waiter, post: u64, in_order: bool, revision: Option<Revision>, wire: &Wire) -> Option<Place> {
    let polls = wire.transport().capabilities().stream_per_request
        && revision.is_some_and(|revision| revision.features().polling);
    let streams = waiter.seen.http.as_ref().is_some_and(|http| http.status == 200);
    if !polls || !streams || waiter.id.is_none() || waiter.whole_exchange {
        return None;
    }
    let last = wire.last_event(post);
    if last.is_none() && !in_order {
        // The receiver may be gone.
        return None;
    }
    let last = last.unwrap_or_default();
    // A resumed stream may end without a new event id; an empty id resets it.
    waiter.left_at = last.id.or(waiter.left_at.take()).filter(|id| !id.is_empty());
    let event = waiter.left_at.clone()?;
    waiter.post = None;
    let pause = Duration::from_millis(last.retry.unwrap_or(PAUSE).max(SHORTEST));
    Some(Place { waiter: waiter.number, event, pause })
}

/// Resumes the stream, unless the request was given up.
pub async fn resume(shared: Weak<Shared>, Place { waiter, event, pause }: Place) {
    sleep(pause).await;
    // The connection may have been closed meanwhile.
    let Some(shared) = shared.upgrade() else { return };
    let mut state = shared.state();
    let Some(index) = state.waiters.iter().position(|other| other.number == waiter) else { return };
    let mut headers = protocol_headers(state.revision, state.session_id.as_deref(), &Value::Null);
    headers.push(("last-event-id".to_owned(), event));
    // Registered before any message can arrive, since the state is locked.
    match shared.wire.listen(&Envelope { by: "resume".into(), headers }) {
        Ok(posted) => state.waiters[index].post = posted.post,
        Err(why) => {
            let Waiter { seen, tell, .. } = state.waiters.swap_remove(index);
            let _ = tell.send((Outcome::Closed(why), seen));
        }
    }
}
