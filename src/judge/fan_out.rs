//! Several audiences that look at the same run at the same time, each on a thread of its own with its share of the rules.

use std::{
    collections::VecDeque,
    num::NonZero,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{Scope, available_parallelism},
};

use serde_json::Value;

use super::{
    audience::{Audience, goes_one_by_one},
    tally::Tally,
};
use crate::revision::Revision;

/// More threads than this have too little to do each.
const MAX_THREADS: usize = 4;

/// Items go in together, as handing over takes longer than looking at a small one: so many, ...
const TOGETHER: usize = 64;
/// ... or as many as came in so many bytes, as what is on its way is in memory.
const BYTES_TOGETHER: u64 = 64 << 10;

/// Items under their streamed names, each the only element of an array.
type Items = Vec<(&'static str, Value)>;

/// Seats every rule that looks at what passes by, and gives the others back.
pub fn seat<'t, 'a>(
    tallies: impl Iterator<Item = &'t mut Tally<'a>>,
    revision: Revision,
) -> (Vec<Audience<'t, 'a>>, Vec<&'t mut Tally<'a>>) {
    let threads = available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    let mut audiences: Vec<Audience> = (0..threads).map(|_| Audience::new(revision)).collect();
    let mut others = Vec::new();
    let mut seated = 0;
    for tally in tallies {
        // Rules that keep what passes by may keep the same, and then sit together.
        let thread = if goes_one_by_one(tally.rule) { seated % threads } else { 0 };
        match audiences[thread].seat(tally) {
            Some(tally) => others.push(tally),
            None => seated += 1,
        }
    }
    (audiences, others)
}

/// Sends every item to every thread.
pub struct FanOut {
    threads: Vec<SyncSender<Arc<Items>>>,
    waiting: Items,
    bytes: u64,
    /// Items that may still be looked at. They are freed here, where they were made: what another thread frees is used
    /// again late.
    in_use: VecDeque<Arc<Items>>,
}

impl FanOut {
    /// Has each audience look at what comes; it ends when this is closed.
    pub fn open<'s, 't: 's, 'a: 's>(scope: &'s Scope<'s, '_>, audiences: Vec<Audience<'t, 'a>>) -> Self {
        let threads = audiences.into_iter().map(|audience| {
            let (sender, received) = sync_channel(1);
            scope.spawn(move || look(audience, &received));
            sender
        });
        Self { threads: threads.collect(), waiting: Vec::new(), bytes: 0, in_use: VecDeque::new() }
    }

    /// An item that came in so many bytes.
    pub fn pass(&mut self, root: &'static str, item: Value, bytes: u64) {
        self.waiting.push((root, Value::Array(vec![item])));
        self.bytes += bytes;
        if self.waiting.len() >= TOGETHER || self.bytes >= BYTES_TOGETHER {
            self.send_waiting();
        }
    }

    pub fn close(mut self) {
        self.send_waiting();
    }

    fn send_waiting(&mut self) {
        self.bytes = 0;
        let items = Arc::new(std::mem::take(&mut self.waiting));
        for sender in &self.threads {
            // A thread is only gone when its thread has panicked, and the scope says so.
            let _ = sender.send(Arc::clone(&items));
        }
        self.in_use.push_back(items);
        while self.in_use.front().is_some_and(|items| Arc::strong_count(items) == 1) {
            self.in_use.pop_front();
        }
    }
}

fn look(mut audience: Audience, received: &Receiver<Arc<Items>>) {
    for items in received {
        for (root, item) in items.iter() {
            audience.look(root, item);
        }
    }
    audience.leave();
}
