//! What the conversation and the task that listens for it both work on.

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
    pump::{Arrived, Waiter},
    subscription::Subscription,
};
use crate::{
    evidence::{Manner, correlate::Loose, weight},
    revision::Revision,
    target::Limits,
    wire::Wire,
};

/// What could not be read is answered within this time, if at all.
const LATEST: Duration = Duration::from_secs(2);

/// Bytes of memory, on one connection.
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
    /// Whether the server was asked to end the session.
    pub dismissed: bool,
    pub next_id: u64,
    pub next_waiter: u64,
    pub waiters: Vec<Waiter>,
    pub subscriptions: Vec<Subscription>,
    pub notifications: Vec<Arrived>,
    /// What all that is kept of the server's own accord weighs.
    pub kept: u64,
    /// Ids of requests that were given up, each with whether a late answer would show that the server is only slow.
    pub given_up: Vec<(Value, bool)>,
    /// What came when nobody waited for it.
    pub unclaimed: Vec<Value>,
    /// Answers so far, and whether a request got none while nothing else was answered either.
    pub answered: u64,
    pub silent: bool,
    /// Whether a harmless request got no response either.
    pub hung: bool,
    /// What was sent besides requests, and when the last unreadable input was.
    pub loose: Loose,
    pub unreadable_at: Option<Instant>,
    /// Every id that a request had.
    pub used: HashSet<String>,
    pub closed: Option<String>,
    /// How requests of the server are answered at present, and how many were so far.
    pub manner: Option<Manner>,
    pub before: usize,
}

impl State {
    /// Unreadable input that is too old to get a response, which does not count for a moment.
    pub fn set_aside(&mut self) -> usize {
        let recent = self.unreadable_at.is_some_and(|at| at.elapsed() < LATEST);
        if recent { 0 } else { std::mem::take(&mut self.loose.unreadable) }
    }

    /// So many notifications were sent after the latest request.
    pub fn note_notifications(&mut self, count: usize) {
        self.next_waiter += 1;
        let number = self.next_waiter;
        (0..count).for_each(|_| self.loose.sent_notification(number, number));
    }

    /// Whether one more message may be kept; a flood beyond this is still in the transcript. What floods most leaves
    /// room for the rest.
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

/// Progress and log messages, of which a busy server sends as many as it likes.
pub fn is_chatter(message: &Value) -> bool {
    matches!(message["method"].as_str(), Some("notifications/progress" | "notifications/message"))
}

impl Shared {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
