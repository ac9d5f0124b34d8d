//! Sends one request, waits, and builds a `Reply` whatever happens.

use std::{future::pending, pin::pin, time::Duration};

use futures_util::future::{Either, select};
use serde_json::Value;
use tokio::{
    sync::oneshot,
    time::{Instant, timeout, timeout_at},
};

use super::{
    conversation::Known,
    negotiated::Session,
    progress::LONG,
    pump::close,
    subscription::Subscription,
    unanswered::{Wanted, no_reply},
    waiter::{Outcome, Seen, Waiter},
};
use conform_model::evidence::{End, Reply};
use conform_wire::{Envelope, Posted, Wire};

/// Receives the outcome of a wait.
type Told = oneshot::Receiver<(Outcome, Seen)>;
type Heard = Result<(Outcome, Seen), oneshot::error::RecvError>;

#[derive(Default)]
pub struct Waits {
    pub id: Option<Value>,
    /// Accepts an error without id; this code is expected for it.
    pub unidentified: Option<i64>,
    /// Number of notifications in raw bytes.
    pub notifications: usize,
    pub whole_exchange: bool,
    pub opens: bool,
    pub subscription: bool,
    pub patient: bool,
    /// Over HTTP, giving up closes the exchange.
    pub drops: bool,
    /// The process may still be starting: time counts from when it has read the request.
    pub starting: bool,
    /// The progress token of a request that is given up if its progress shows that it takes too long.
    pub token: Option<Value>,
    pub wanted: Option<Wanted>,
}

impl Session {
    pub(super) async fn exchange(
        &self,
        waits: Waits,
        limit: Option<Duration>,
        send: impl FnOnce(&Wire, &Envelope) -> Result<Posted, String>,
        by: &str,
        message: &Value,
    ) -> Reply {
        let began = Instant::now();
        let Waits { patient, drops, starting, .. } = waits;
        let (token, wanted) = (waits.token.clone(), waits.wanted.clone());
        let envelope = self.envelope(by, message);
        let (number, posted, told) = match self.dispatch(waits, send, &envelope) {
            Ok(dispatched) => dispatched,
            Err(why) => return Reply { why: Some(why), ..Reply::ended(End::Closed) },
        };
        let Posted { frame: sent, post } = posted;
        let Known { unanswered, put_off, .. } = &*self.shared.known;
        let usual = limit.is_none();
        // A step with a short wait shows nothing about the server's speed.
        let wanted = wanted.as_ref().filter(|wanted| wanted.within >= LONG);
        let of_tool = message["method"] == "tools/call";
        let limit = match limit {
            Some(limit) if wanted.is_none() => limit,
            _ => {
                let request = self.shared.known.request_limit(self.shared.limits.request);
                unanswered.limit(Some(request).filter(|_| usual), of_tool, wanted)
            }
        };
        // The process must start first, perhaps while others start, too. A step with a time of its own counts on a running one:
        // a server that started in 5 s once got 3.4 s for the first request.
        let limit = if starting { limit.max(self.shared.known.slow_start()) } else { limit };
        let progress = token.map(|token| (token, sent));
        let mut reply = match Box::pin(self.heard(told, limit, starting, post, progress)).await {
            Some(Ok((outcome, seen))) => conclude(outcome, seen),
            Some(Err(_)) => Reply { why: Some("the connection ended".into()), ..Reply::ended(End::Closed) },
            None => self.give_up(number, limit, patient, drops),
        };
        let delay = self.shared.wire.put_off(post);
        put_off.note(delay, reply.http.as_ref().map(|http| http.status));
        let took = began.elapsed().saturating_sub(delay.took);
        // The start of a process shows nothing about the duration of other requests.
        let usually = Some(took).filter(|_| usual && !starting);
        if usual && starting && matches!(reply.end, End::Result | End::Error) {
            self.shared.known.probe_started(took);
        }
        match reply.end {
            End::Timeout => {
                // Tools may be slow by nature.
                if usual || (wanted.is_some() && !of_tool) {
                    unanswered.waited(began);
                }
                unanswered.missed(usual, by, wanted);
            }
            End::Closed | End::Unread => {}
            End::Result | End::Error => unanswered.answered(usually, of_tool, wanted),
            _ => unanswered.answered(None, of_tool, wanted),
        }
        if delay.unsent {
            // The request was not sent, and no other can be.
            reply.frames.clear();
            close(&self.shared, reply.why.as_deref().unwrap_or_default());
        } else {
            reply.frames.insert(0, sent);
        }
        reply.asked = asked(message);
        reply.ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        reply
    }

    /// The outcome within the limit, or earlier if the progress since a frame shows that the limit will be exceeded.
    async fn heard(
        &self,
        mut told: Told,
        limit: Duration,
        starting: bool,
        post: Option<u64>,
        progress: Option<(Value, u64)>,
    ) -> Option<Heard> {
        if starting {
            let taken = timeout(self.shared.limits.request, self.shared.wire.taken());
            told = match select(told, pin!(taken)).await {
                Either::Left((heard, _)) => return Some(heard),
                Either::Right((_, told)) => told,
            };
        }
        let outlasts = async {
            match progress {
                Some((token, since)) => self.outlasts(&token, since, limit).await,
                None => pending().await,
            }
        };
        let began = Instant::now();
        let within = async {
            let mut delay = Duration::ZERO;
            loop {
                if let Ok(heard) = timeout_at(began + limit + delay, &mut told).await {
                    return Some(heard);
                }
                let known = std::mem::replace(&mut delay, self.shared.wire.put_off(post).took);
                if known == delay {
                    return None;
                }
            }
        };
        tokio::select! {
            heard = within => heard,
            () = outlasts => None,
        }
    }

    /// Sends the request and registers its waiter atomically, so that no reply can arrive in between.
    fn dispatch(
        &self,
        waits: Waits,
        send: impl FnOnce(&Wire, &Envelope) -> Result<Posted, String>,
        envelope: &Envelope,
    ) -> Result<(u64, Posted, Told), String> {
        let (tell, told) = oneshot::channel();
        let mut state = self.shared.state();
        if let Some(why) = &state.closed {
            return Err(why.clone());
        }
        let posted = send(&self.shared.wire, envelope)?;
        state.used.extend(waits.id.as_ref().map(Value::to_string));
        state.next_waiter += 1;
        let number = state.next_waiter;
        let answered = state.answered;
        state.note_notifications(waits.notifications);
        if waits.unidentified.is_some() {
            state.loose.sent_unreadable(None);
            state.unreadable_at = Some(Instant::now());
        }
        state.waiters.push(Waiter {
            number,
            answered,
            id: waits.id,
            token: waits.token,
            post: posted.post,
            left_at: None,
            unidentified: waits.unidentified,
            whole_exchange: waits.whole_exchange,
            opens: waits.opens,
            subscription: waits.subscription,
            seen: Seen::default(),
            tell,
        });
        Ok((number, posted, told))
    }

    fn give_up(&self, number: u64, limit: Duration, patient: bool, drops: bool) -> Reply {
        let mut state = self.shared.state();
        let seen = match state.waiters.iter().position(|waiter| waiter.number == number) {
            Some(index) => {
                let waiter = state.waiters.swap_remove(index);
                state.silent |= !patient && waiter.answered == state.answered;
                if let Some(post) = waiter.post.filter(|_| drops) {
                    self.shared.wire.abandon(post);
                }
                if waiter.subscription {
                    // It may be active without an acknowledgement, until it is cancelled.
                    state.subscriptions.push(Subscription::of(&waiter, false));
                } else {
                    state.given_up.extend(waiter.id.map(|id| (id, !patient)));
                }
                waiter.seen
            }
            None => Seen::default(),
        };
        drop(state);
        let (end, why) = match seen.junk.filter(|(_, why)| why.is_limit()) {
            Some((_, why)) => (End::Unread, why.words),
            None => (End::Timeout, no_reply(limit)),
        };
        Reply {
            http: seen.http,
            notifications: seen.notifications,
            wanted: seen.wanted,
            why: Some(why),
            frames: seen.frames,
            ..Reply::ended(end)
        }
    }
}

/// A summary of the request.
fn asked(message: &Value) -> Option<String> {
    let method = message.get("method")?.as_str()?;
    let about = ["uri", "prefix", "name", "cursor"].iter().find_map(|name| message["params"][*name].as_str());
    Some(about.map_or_else(|| method.to_owned(), |about| format!("{method} {about}")))
}

/// The reply for the outcome of a wait and what arrived meanwhile.
pub fn conclude(outcome: Outcome, seen: Seen) -> Reply {
    let base = Reply {
        http: seen.http,
        endpoint: seen.endpoint,
        notifications: seen.notifications,
        wanted: seen.wanted,
        frames: seen.frames,
        ..Reply::ended(End::Malformed)
    };
    let with_frame = |mut reply: Reply, frame: u64| {
        reply.frames.push(frame);
        reply
    };
    match outcome {
        Outcome::Response { frame, mut message } => {
            let result = message.get_mut("result").map(Value::take);
            let error = message.get_mut("error").map(Value::take);
            let (end, why) = match (&result, &error) {
                (_, Some(error)) if !error.is_null() => (End::Error, None),
                (Some(_), _) => (End::Result, None),
                _ => (End::Malformed, Some("the response has neither result nor error".into())),
            };
            with_frame(Reply { end, result, error, why, ..base }, frame)
        }
        Outcome::Open => Reply { end: End::Open, ..base },
        Outcome::Closed(why) => Reply { end: End::Closed, why: Some(why), ..base },
        Outcome::Done { failure: Some(failure), .. } => {
            let end = if failure.is_limit() { End::Unread } else { End::Closed };
            Reply { end, why: Some(failure.words), cause: Some(failure.cause), ..base }
        }
        Outcome::Done { junk: Some((frame, why)), .. } => {
            let end = if why.is_limit() { End::Unread } else { End::Malformed };
            with_frame(Reply { end, why: Some(why.words), cause: Some(why.cause), ..base }, frame)
        }
        Outcome::Done { .. } => match seen.document {
            Some((frame, body)) => with_frame(Reply { end: End::Answered, body, ..base }, frame),
            None => Reply { end: End::Answered, ..base },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conform_model::evidence::{Cause, Reason};

    #[test]
    fn what_is_beyond_our_limits_is_neither_lost_nor_malformed() {
        for (failure, junk, expected) in [
            (Some(Reason::too_long(10)), None, End::Unread),
            (Some(Reason::new(Cause::ConnectionReset, "reset")), None, End::Closed),
            (None, Some(Reason::too_many_values(10)), End::Unread),
            (None, Some(Reason::new(Cause::NotJson, "no JSON")), End::Malformed),
        ] {
            let outcome = Outcome::Done { junk: junk.map(|why| (1, why)), failure };
            assert_eq!(conclude(outcome, Seen::default()).end, expected);
        }
    }
}
