//! Silence, told from slowness by a harmless request.
//!
//! What is still to come comes soon after a later request is answered: a server that answers in a millisecond need not be
//! waited for as long as one that takes a second.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::step::Stage;
use crate::{
    evidence::Reply,
    session::{CallOptions, Session},
};

/// What a server that works on a batch of messages may need to catch up with its response to a later one: so many
/// times what that response took, within bounds.
const SLOWER: u32 = 10;
const AT_LEAST: Duration = Duration::from_millis(30);
const AT_MOST: Duration = Duration::from_millis(150);

/// A request that every server answers.
pub async fn sentinel(stage: &Stage<'_>, session: &Session) -> Reply {
    let method = if stage.scene.revision.is_modern() { "server/discover" } else { "ping" };
    session.call(&stage.suite.id, method, None, CallOptions::default()).await
}

/// How long a server may lag behind a response that took `took`.
pub fn lag(took: Duration) -> Duration {
    (took * SLOWER).clamp(AT_LEAST, AT_MOST)
}

/// Waits until nothing is to be expected any more of what the server had begun.
pub async fn settled(stage: &Stage<'_>, session: &Session) {
    let asked = Instant::now();
    sentinel(stage, session).await;
    sleep(lag(asked.elapsed())).await;
}
