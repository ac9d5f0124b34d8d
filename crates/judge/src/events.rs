//! The event ids that a server sent, with which a client or a gateway can resume a stream.

use std::collections::HashMap;

/// Maximum number of ids remembered.
const MOST: usize = 10_000;

#[derive(Default)]
pub struct Events {
    /// The exchange in which each id was sent.
    given: HashMap<String, u64>,
    /// The last id of each stream.
    last: HashMap<u64, String>,
    /// For an exchange that resumes a stream: the exchange that opened it.
    begun: HashMap<u64, u64>,
}

impl Events {
    pub fn gave(&mut self, post: u64, id: &str) {
        if self.given.len() < MOST {
            let begun = self.begun.get(&post).copied().unwrap_or(post);
            self.given.insert(id.to_owned(), begun);
            self.last.insert(begun, id.to_owned());
        }
    }

    /// This exchange resumes the stream of that id.
    pub fn resumed(&mut self, post: u64, id: &str) {
        if let Some(begun) = self.given.get(id) {
            self.begun.insert(post, *begun);
        }
    }

    pub fn knows(&self, id: &str) -> bool {
        self.given.contains_key(id)
    }

    /// The last id on the stream of this one.
    pub fn last_beside(&self, id: &str) -> Option<&String> {
        self.last.get(self.given.get(id)?)
    }
}
