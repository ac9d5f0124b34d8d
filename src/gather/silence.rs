//! Distinguishes a missing response from a slow one by a harmless request.
//!
//! A late response arrives soon after that to a later request. So the wait depends on how fast the server responds: one
//! that responds in a millisecond needs less than one that takes a second.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::step::Stage;
use crate::{
    evidence::Reply,
    session::{CallOptions, Session},
};

/// How long a server that handles messages concurrently may take to catch up with its response to a later one: this
/// many times that response's duration, within bounds.
const SLOWER: u32 = 10;
const AT_LEAST: Duration = Duration::from_millis(30);
const AT_MOST: Duration = Duration::from_millis(150);

/// A request to which every server responds.
pub async fn sentinel(stage: &Stage<'_>, session: &Session) -> Reply {
    let method = if stage.scene.revision.is_modern() { "server/discover" } else { "ping" };
    session.call(&stage.suite.id, method, None, CallOptions::default()).await
}

/// How long a server may lag after a response that took `took`.
pub fn lag(took: Duration) -> Duration {
    (took * SLOWER).clamp(AT_LEAST, AT_MOST)
}

/// Waits until the server should have finished what it had started.
pub async fn settled(stage: &Stage<'_>, session: &Session) {
    let asked = Instant::now();
    sentinel(stage, session).await;
    sleep(lag(asked.elapsed())).await;
}
