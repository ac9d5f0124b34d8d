//! Drains what a process writes to stderr and keeps the end of it. It is free text: shown, never judged.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::secrets::Secrets;

const KEPT: usize = 8 << 10;

#[derive(Clone, Default)]
pub struct Tail(Arc<Mutex<Vec<u8>>>, Secrets);

impl Tail {
    pub fn hiding(secrets: Secrets) -> Self {
        Self(Arc::default(), secrets)
    }

    pub fn add(&self, chunk: &[u8]) {
        let mut kept = self.lock();
        kept.extend_from_slice(&chunk[chunk.len().saturating_sub(KEPT)..]);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }

    pub fn text(&self) -> String {
        self.1.hide(String::from_utf8_lossy(&self.lock()).into_owned())
    }

    /// The last line that says something.
    pub fn last_line(&self) -> Option<String> {
        // The frame that some runtimes draw around a trace says nothing.
        let speaks = |line: &&str| line.contains(char::is_alphanumeric);
        self.text().lines().map(str::trim).rfind(speaks).map(str::to_owned)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_end_only() {
        let tail = Tail::default();
        assert_eq!(tail.last_line(), None);
        tail.add(&vec![b'x'; 3 * KEPT]);
        tail.add(b"\nwarning\n fatal: no config \n+----+\n\n");
        assert_eq!(tail.text().len(), KEPT);
        assert_eq!(tail.last_line().as_deref(), Some("fatal: no config"));
    }
}
