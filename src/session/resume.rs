//! Goes on where an event stream ended before its answer, as servers may have their clients poll since 2025-11-25.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{
    pump::{Outcome, Waiter},
    shared::Shared,
};
use crate::{
    evidence::Transport,
    revision::Revision,
    wire::{Envelope, Wire},
};

/// Where the server does not say how long to wait, and the least, whatever it says.
const PAUSE: u64 = 500;
const SHORTEST: u64 = 20;

/// For a request whose stream has ended, in order or not: its number, the event to go on from, and how long to wait before.
pub fn place(
    waiter: &mut Waiter,
    post: u64,
    in_order: bool,
    revision: Option<Revision>,
    wire: &Wire,
) -> Option<(u64, String, Duration)> {
    let polls = wire.transport() == Transport::Http && revision == Some(Revision::V2025_11_25);
    let streams = waiter.seen.http.as_ref().is_some_and(|http| http.status == 200);
    if !polls || !streams || waiter.id.is_none() || waiter.whole_exchange {
        return None;
    }
    let last = wire.last_event(post);
    if last.is_none() && !in_order {
        // Nobody may be there any more.
        return None;
    }
    let last = last.unwrap_or_default();
    // A stream may end once more without an event of its own; an empty id begins anew.
    waiter.left_at = last.id.or(waiter.left_at.take()).filter(|id| !id.is_empty());
    let event = waiter.left_at.clone()?;
    waiter.post = None;
    Some((waiter.number, event, Duration::from_millis(last.retry.unwrap_or(PAUSE).max(SHORTEST))))
}

/// Takes the stream up again, unless nobody waits any more.
pub async fn resume(shared: Arc<Shared>, number: u64, headers: Vec<(String, String)>, pause: Duration) {
    sleep(pause).await;
    let mut state = shared.state();
    let Some(index) = state.waiters.iter().position(|waiter| waiter.number == number) else { return };
    // Registered before anything can come: the state is locked.
    match shared.wire.listen(&Envelope { by: "resume".into(), headers }) {
        Ok(posted) => state.waiters[index].post = posted.post,
        Err(why) => {
            let Waiter { seen, tell, .. } = state.waiters.swap_remove(index);
            let _ = tell.send((Outcome::Closed(why), seen));
        }
    }
}
