//! Distinguishes a missing response from a slow one by a harmless request.
//!
//! A late response arrives soon after that to a later request. So the wait depends on how fast the server responds: one
//! that responds in a millisecond needs less than one that takes a second.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::step::Stage;
use conform_model::evidence::{End, LISTS, List, ListEnd, Reply, RunContext};
use conform_session::{CallOptions, Session};

/// How long a server that handles messages concurrently may take to catch up with its response to a later one: this
/// many times that response's duration, within bounds. Guesses.
const SLOWER: u32 = 10;
const AT_LEAST: Duration = Duration::from_millis(30);
const AT_MOST: Duration = Duration::from_millis(150);

/// A request that this server served in the survey, as `{ method, params }`: the required one, else a list, else a read.
/// Published servers without `ping` were observed, and an error for it says nothing about the message before.
pub fn harmless(context: &RunContext, survey: &Value) -> Value {
    let usual = context.revision.required_request();
    let first = if context.revision.is_modern() { &context.server["hello"] } else { &survey["ping"] };
    let list = || {
        let works = |list: &&List| ListEnd::is_complete(&survey[list.save]);
        LISTS.iter().find(works).map(|list| json!({ "method": list.method, "params": {} }))
    };
    let read = || {
        let mut reads = survey["reads"].as_array()?.iter();
        let read = reads.find(|read| End::of(&read["reply"]) == Some(End::Result))?;
        Some(json!({ "method": "resources/read", "params": { "uri": read["resource"]["uri"] } }))
    };
    let other = if End::of(first) == Some(End::Result) { None } else { list().or_else(read) };
    other.unwrap_or_else(|| json!({ "method": usual, "params": {} }))
}

/// The request of `harmless`. Before the survey, the required one.
pub async fn sentinel(stage: &Stage<'_>, session: &Session) -> Reply {
    let known = &stage.context.facts["harmless"];
    let method = known["method"].as_str().unwrap_or_else(|| stage.context.revision.required_request());
    let params = known.get("params").filter(|params| params.as_object().is_some_and(|params| !params.is_empty()));
    session.call(&stage.suite.id, method, params.cloned(), CallOptions::default()).await
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
