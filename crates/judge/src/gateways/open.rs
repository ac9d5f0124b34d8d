//! Requests that stay open: those that get no response, and those that wait for another one.

use super::{
    matching::{Index, Matching, Pair},
    passed::begins,
};

/// A request that is received this long after it was sent, in microseconds, and after the response to another one, has
/// waited for that. Observed without waiting: 2.5 s, by a gateway with a handshake for each request, on a machine with a
/// load of 20.
const WAITED: u64 = 4_000_000;
/// So soon after that response, in microseconds. A guess.
const SOON: u64 = 1_000_000;
/// A message of this many bytes keeps a gateway busy.
const LARGE: usize = 100_000;

/// Whether a client got no response although it waited, and the upstream could not respond: it did not receive the
/// request, or failed over it.
pub fn is_unanswered(matching: &Matching, pair: &Pair) -> bool {
    let sent = matching.at(pair.sent);
    let is_over = |index: &Index| matching.ends.is_over(matching.at(*index));
    let attempts = pair.received.iter().map(|index| matching.ends.last_attempt(matching.at(*index)));
    let since = attempts.max().unwrap_or(sent.at);
    !sent.behind
        && pair.arrived.is_empty()
        && pair.returned.is_none()
        && pair.received.iter().all(is_over)
        && matching.ends.waited(sent, since)
        && !matching.was_cancelled(sent, u64::MAX)
}

/// Whether the upstream received this request of a client only after it had responded to an earlier one, which took long.
pub fn has_waited(matching: &Matching, pair: &Pair) -> bool {
    let sent = matching.at(pair.sent);
    let Some(received) = pair.received.first().map(|index| matching.at(*index)).filter(|_| !begins(sent)) else {
        return false;
    };
    matching.calls.iter().filter_map(|earlier| Some((earlier, matching.at(earlier.returned?)))).any(
        |(earlier, returned)| {
            let other = matching.at(earlier.sent);
            let was_open = other.frame < sent.frame && sent.frame < returned.frame && returned.frame < received.frame;
            was_open
                && !begins(other)
                && returned.at.saturating_sub(sent.at) >= WAITED
                && received.at.saturating_sub(returned.at) <= SOON
                && [other, returned].iter().all(|message| message.message.to_string().len() < LARGE)
        },
    )
}
