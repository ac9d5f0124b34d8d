//! Requests that stay open: those that get no response, and those that wait for another one.

use super::{
    matching::{Index, Matching, Pair},
    messages::Message,
    passed::begins,
};

/// A request that is received this long after it was sent, in microseconds, and after the response to another one, has
/// waited for that. Observed without waiting: 2.5 s, by a gateway with a handshake for each request, on a machine with a
/// load of 20.
const WAITED: u64 = 4_000_000;
/// So soon after that response, in microseconds. A guess.
const SOON: u64 = 1_000_000;
/// A gateway that needs this long to pass on a request is slow, in microseconds. Observed: 0.1 s, by one with a handshake for
/// each request, and 3 s with a load of 30.
const SLOW: u64 = 1_000_000;
/// A response this long after the client closed the stream, in microseconds, is of a call that was not cancelled. A guess.
const KEPT: u64 = 2_000_000;
/// A message of this many bytes keeps a gateway busy.
const LARGE: usize = 100_000;

/// Whether a client got no response although it waited, and the upstream could not respond: it did not receive the
/// request, or failed over it.
pub fn is_unanswered(matching: &Matching, pair: &Pair) -> bool {
    let sent = matching.at(pair.sent);
    if sent.behind {
        return is_ignored(matching, pair);
    }
    let is_over = |index: &Index| matching.ends.is_over(matching.at(*index));
    let attempts = pair.received.iter().map(|index| matching.ends.last_attempt(matching.at(*index)));
    let since = attempts.max().unwrap_or(sent.at);
    pair.arrived.is_empty()
        && pair.returned.is_none()
        && pair.received.iter().all(is_over)
        && !matching.ends.has_rejected(sent)
        && (matching.ends.stayed(sent, since) || lacks_id(matching, sent))
        && !matching.ends.exited_with_upstream(sent)
        && !matching.was_cancelled(sent, u64::MAX)
}

/// Whether the upstream got no response although it waited, and no client gave one that the gateway lost.
fn is_ignored(matching: &Matching, pair: &Pair) -> bool {
    let sent = matching.at(pair.sent);
    // The gateway may have closed the stream of a call that was cancelled.
    let is_closed = matching.calls.iter().any(|call| {
        let is_own = |copy: &Index| matching.at(*copy).post == sent.post;
        sent.post.is_some()
            && call.received.iter().any(is_own)
            && matching.was_cancelled(matching.at(call.sent), u64::MAX)
    });
    pair.arrived.is_empty()
        && pair.returned.is_none()
        && !is_closed
        && !matching.was_cancelled(sent, u64::MAX)
        && matching.messages.iter().any(|later| later.is_beside(sent) && later.at.saturating_sub(sent.at) >= WAITED)
}

/// Of a client's request whose stream the client closed, where that cancels it: whether the upstream still responded long
/// after that.
pub fn is_kept(matching: &Matching, pair: &Pair) -> Option<bool> {
    let sent = matching.at(pair.sent);
    let cancels = sent.revision.is_some_and(|revision| revision.features().stateless);
    let dropped = matching.ends.dropped(sent).filter(|_| cancels && !sent.behind && pair.arrived.is_empty())?;
    let returned = pair.returned.map(|returned| matching.at(returned).at);
    Some(returned.is_some_and(|at| at.saturating_sub(dropped) >= KEPT))
}

/// Whether an error without an id ended the HTTP exchange of a client's request.
pub fn lacks_id(matching: &Matching, sent: &Message) -> bool {
    sent.post.is_some()
        && matching.messages.iter().any(|message| {
            !message.behind && message.post == sent.post && message.is_response() && message.id().is_null()
        })
}

/// Whether the upstream got a request, and failed over it: by the status of each HTTP exchange, or without a response.
pub fn has_failed(matching: &Matching, pair: &Pair) -> bool {
    let copies = || pair.received.iter().map(|copy| matching.at(*copy));
    let is_lost = || pair.returned.is_none() && copies().all(|copy| matching.ends.is_over(copy));
    !pair.received.is_empty() && (copies().all(|copy| matching.ends.has_failed(copy)) || is_lost())
}

/// Whether the upstream received this request of a client only after it had responded to an earlier one, which took long.
pub fn has_waited(matching: &Matching, pair: &Pair) -> bool {
    let sent = matching.at(pair.sent);
    let Some(received) = pair.received.first().map(|index| matching.at(*index)).filter(|_| !begins(sent)) else {
        return false;
    };
    let mut earlier = matching.calls.iter().filter_map(|earlier| Some((earlier, matching.at(earlier.returned?))));
    let has_waited = earlier.any(|(earlier, returned)| {
        let other = matching.at(earlier.sent);
        let was_open = other.frame < sent.frame && sent.frame < returned.frame && returned.frame < received.frame;
        was_open
            && !begins(other)
            && returned.at.saturating_sub(sent.at) >= WAITED
            && received.at.saturating_sub(returned.at) <= SOON
            && [other, returned].iter().all(|message| message.message.to_string().len() < LARGE)
    });
    has_waited && is_quick(matching)
}

/// Whether the gateway passes on at once what is sent while nothing else is open. Otherwise it is slow, and nothing shows what
/// a request waited for.
fn is_quick(matching: &Matching) -> bool {
    let is_alone = |pair: &&Pair| {
        let sent = matching.at(pair.sent);
        !matching.calls.iter().any(|other| {
            let began = matching.at(other.sent).frame < sent.frame;
            let ended = other.arrived.first().is_some_and(|arrived| matching.at(*arrived).frame < sent.frame);
            began && !ended
        })
    };
    let usual = matching.calls.iter().filter(|pair| !begins(matching.at(pair.sent))).filter(is_alone);
    usual
        .filter_map(|pair| Some((pair.sent, *pair.received.first()?)))
        .all(|(sent, received)| matching.at(received).at.saturating_sub(matching.at(sent).at) < SLOW)
}
