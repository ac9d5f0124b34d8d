//! Cancels the wait for a request whose progress shows that it will exceed its time limit.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::negotiated::Session;

/// A shorter wait is not worth cutting short. A guess.
pub const LONG: Duration = Duration::from_secs(1);

/// Progress is seldom even, so the estimate must exceed the limit this many times.
const FAR_LONGER: f64 = 2.0;

impl Session {
    /// Ends, in the second half of the limit, if the progress for the token since a frame shows that it
    /// will be exceeded.
    pub(super) async fn outlasts(&self, token: &Value, since: u64, limit: Duration) {
        let began = Instant::now();
        sleep(limit / 2).await;
        loop {
            let arrived = self.shared.arrived.notified();
            {
                let state = self.shared.state();
                let mut later = state.notifications.iter().rev().take_while(|arrived| arrived.frame > since);
                let done = later.find_map(|arrived| share(&arrived.message, token));
                if done.is_some_and(|done| began.elapsed().as_secs_f64() > done * FAR_LONGER * limit.as_secs_f64()) {
                    return;
                }
            }
            arrived.await;
        }
    }
}

/// The completed share of the work, according to a progress notification for this token.
fn share(message: &Value, token: &Value) -> Option<f64> {
    let params = message.get("params").filter(|params| params.get("progressToken") == Some(token))?;
    let (progress, total) = (params["progress"].as_f64()?, params["total"].as_f64()?);
    (progress > 0.0 && total > 0.0).then_some(progress / total)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::share;

    #[test]
    fn only_progress_with_a_total_tells() {
        let told = |params: serde_json::Value| share(&json!({ "params": params }), &json!("t"));
        assert_eq!(told(json!({ "progressToken": "t", "progress": 1, "total": 4 })), Some(0.25));
        assert_eq!(told(json!({ "progressToken": "other", "progress": 1, "total": 4 })), None);
        assert_eq!(told(json!({ "progressToken": "t", "progress": 1 })), None);
        assert_eq!(told(json!({ "progressToken": "t", "progress": 1, "total": 0 })), None);
    }
}
