//! Waits for a notification, or verifies that none arrives.

use tokio::time::Instant;

use futures_util::future::{Either, select};
use serde_json::{Map, Value, json};

use super::{silence::settled, step::Stage, wanted::of_await};
use conform_session::LONG;
use conform_suite::{Await, Scope};

pub async fn wait(stage: &Stage<'_>, wait: &Await, scope: &Scope<'_>, began: &Map<String, Value>) -> Option<Value> {
    let since = match &wait.since {
        Some(step) => began.get(step)?.as_u64()?,
        None => 0,
    };
    let start = Instant::now();
    let (known, wish) = (&stage.known().unanswered, of_await(stage, wait));
    let full = wish.within;
    // A short wait is for immediate notifications, and often for none.
    let wish = Some(&wish).filter(|_| !wait.none_within && full >= LONG);
    let within = wish.map_or(full, |wish| known.limit(None, false, Some(wish)));
    let wanted = |message: &Value| {
        let mut inner = Scope::over(scope);
        inner.bind("message", message);
        message["method"] == json!(wait.method)
            && wait.matching.iter().all(|clause| clause.holds(&inner, stage.context.revision))
    };
    let session = stage.session().await?;
    let arrival = std::pin::pin!(session.arrival(since, within, wanted));
    let arrival = if wait.none_within {
        match select(arrival, std::pin::pin!(settled(stage, &session))).await {
            Either::Left((arrival, _)) => arrival,
            Either::Right(_) => None,
        }
    } else {
        arrival.await
    };
    let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    match &arrival {
        Some(_) => known.answered(None, false, wish),
        None if session.closed().is_none() => known.missed(false, &stage.suite.id, wish),
        None => {}
    }
    Some(match arrival {
        Some((frame, message)) => json!({ "end": "message", "message": message, "ms": ms, "frames": [frame] }),
        None => json!({ "end": "timeout", "ms": ms, "frames": [] }),
    })
}
