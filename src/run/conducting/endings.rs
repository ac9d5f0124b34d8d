//! Conversations that are being ended while the run continues.

use std::{mem::take, sync::Mutex};

use tokio::task::JoinHandle;

use crate::session::lock;

#[derive(Default)]
pub struct Endings {
    /// The value is the note on a bad end, if it needs one.
    pending: Mutex<Vec<JoinHandle<Option<String>>>>,
    notes: Mutex<Vec<String>>,
}

impl Endings {
    pub fn spawn(&self, ending: impl Future<Output = Option<String>> + Send + 'static) {
        lock(&self.pending).push(tokio::spawn(ending));
    }

    pub fn are_pending(&self) -> bool {
        !lock(&self.pending).is_empty()
    }

    /// Waits until every conversation has ended.
    pub async fn wait(&self) {
        let pending = take(&mut *lock(&self.pending));
        for ending in pending {
            let note = ending.await.ok().flatten();
            lock(&self.notes).extend(note);
        }
    }

    /// Notes on how conversations ended.
    pub fn notes(&self) -> Vec<String> {
        take(&mut *lock(&self.notes))
    }
}
