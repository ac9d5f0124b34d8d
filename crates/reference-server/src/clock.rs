//! The time of day, by the clock of the runtime, which tests may control.

use std::sync::LazyLock;

use jiff::Timestamp;
use tokio::time::Instant;

static ANCHOR: LazyLock<(std::time::Instant, Timestamp)> =
    LazyLock::new(|| (std::time::Instant::now(), Timestamp::now()));

pub fn now() -> Timestamp {
    let (at, time) = *ANCHOR;
    let now = Instant::now().into_std();
    // A paused clock may be earlier than the anchor.
    if now < at { time - (at - now) } else { time + (now - at) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::now;

    #[tokio::test(start_paused = true)]
    async fn it_moves_with_the_clock_of_the_runtime() {
        let before = now();
        tokio::time::advance(Duration::from_secs(90)).await;
        assert_eq!(now(), before + Duration::from_secs(90));
    }
}
