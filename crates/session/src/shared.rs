//! State shared by the session and the task that receives its messages.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::{sync::Notify, time::Instant};

use super::{
    answers::ClientProfile,
    conversation::Known,
    subscription::Subscription,
    waiter::{Arrived, Waiter},
};
use conform_model::{
    evidence::{Exit, Manner, correlate::Loose, weight},
    revision::Revision,
};
use conform_wire::{Wire, target::Limits};

/// If unreadable input gets a response, it does so within this time. Observed: 40 ms; the rest is a guess.
const LATEST: Duration = Duration::from_secs(2);

/// Limit for kept messages per connection, in bytes of memory.
const KEPT_AT_MOST: u64 = 16 << 20;

pub struct Shared {
    pub wire: Wire,
    pub limits: Limits,
    pub profile: ClientProfile,
    pub known: Arc<Known>,
    pub state: Mutex<State>,
    pub arrived: Notify,
}

#[derive(Default)]
pub struct State {
    pub revision: Option<Revision>,
    pub session_id: Option<String>,
    /// Whether DELETE was sent to end the session.
    pub dismissed: bool,
    pub next_id: u64,
    pub next_waiter: u64,
    pub waiters: Vec<Waiter>,
    pub subscriptions: Vec<Subscription>,
    pub notifications: Vec<Arrived>,
    /// Memory used by kept messages that the server sent on its own.
    pub kept: u64,
    /// Ids of requests that were given up, each with whether a late response would show that the server is slow.
    pub given_up: Vec<(Value, bool)>,
    /// Responses without an open request.
    pub unclaimed: Vec<Value>,
    /// The number of responses so far, and whether a request timed out without any response since.
    pub answered: u64,
    pub silent: bool,
    /// Whether a harmless request got no response, either.
    pub hung: bool,
    /// What was sent besides requests, and when the last unreadable input was sent.
    pub loose: Loose,
    pub unreadable_at: Option<Instant>,
    /// Every request id used so far.
    pub used: HashSet<String>,
    pub closed: Option<String>,
    /// How the process exited, if that closed the connection.
    pub exit: Option<Exit>,
    /// How server requests are handled now, and how many there were.
    pub manner: Option<Manner>,
    pub before: usize,
}

impl State {
    /// Removes unreadable input that is too old to get a response, and returns how much there was.
    pub fn set_aside(&mut self) -> usize {
        let recent = self.unreadable_at.is_some_and(|at| at.elapsed() < LATEST);
        if recent { 0 } else { std::mem::take(&mut self.loose.unreadable) }
    }

    /// Records that this many notifications were sent after the latest request.
    pub fn note_notifications(&mut self, count: usize) {
        self.next_waiter += 1;
        let number = self.next_waiter;
        (0..count).for_each(|_| self.loose.sent_notification(number, number));
    }

    /// Whether one more message may be kept; all are in the transcript. Progress and log messages get half the space,
    /// so that they leave room for others.
    pub fn may_keep(&mut self, message: &Value) -> bool {
        let weight = weight(message);
        let may = self.kept + weight <= if is_chatter(message) { KEPT_AT_MOST / 2 } else { KEPT_AT_MOST };
        self.kept += if may { weight } else { 0 };
        may
    }

    pub fn answer_by(&mut self, manner: Option<Manner>) {
        (self.manner, self.before) = (manner, 0);
    }
}

/// Progress and log messages, which a busy server may send in any number.
pub fn is_chatter(message: &Value) -> bool {
    matches!(message["method"].as_str(), Some("notifications/progress" | "notifications/message"))
}

impl Shared {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
