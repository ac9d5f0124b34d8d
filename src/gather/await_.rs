//! Waits for a notification, or for there being none.

use std::time::{Duration, Instant};

use futures_util::future::{Either, select};
use serde_json::{Map, Value, json};

use super::{silence::settled, step::Stage};
use crate::suite::{Await, Scope};

pub async fn wait(stage: &Stage<'_>, wait: &Await, scope: &Scope<'_>, began: &Map<String, Value>) -> Option<Value> {
    let since = match &wait.since {
        Some(step) => began.get(step)?.as_u64()?,
        None => 0,
    };
    let start = Instant::now();
    let within = Duration::from_secs_f64(wait.seconds.clamp(0.0, stage.limits.request.as_secs_f64()));
    let wanted = |message: &Value| {
        let mut inner = Scope::over(scope);
        inner.bind("message", message);
        message["method"] == json!(wait.method)
            && wait.matching.iter().all(|clause| clause.holds(&inner, stage.scene.revision))
    };
    let session = stage.session().await?;
    let arrival = std::pin::pin!(session.arrival(since, within, wanted));
    let arrival = if wait.quiet {
        match select(arrival, std::pin::pin!(settled(stage, &session))).await {
            Either::Left((arrival, _)) => arrival,
            Either::Right(_) => None,
        }
    } else {
        arrival.await
    };
    let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    Some(match arrival {
        Some((frame, message)) => json!({ "end": "message", "message": message, "ms": ms, "frames": [frame] }),
        None => json!({ "end": "timeout", "ms": ms, "frames": [] }),
    })
}
