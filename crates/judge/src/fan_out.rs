//! Judges the same items on several threads, each with a part of the rules.

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
use conform_model::revision::Revision;

/// More threads would have too little work each.
const MAX_THREADS: usize = 4;

/// Items are sent in batches, since sending takes longer than judging a small item: up to this many items, ...
const TOGETHER: usize = 64;
/// ... or up to this many bytes of input, since queued items are in memory.
const BYTES_TOGETHER: u64 = 64 << 10;

/// Items under their streamed names, each the only element of an array.
type Items = Vec<(&'static str, Value)>;

/// Assigns every rule over streamed items to an audience, and returns the other rules.
pub fn assign<'t, 'a>(
    tallies: impl Iterator<Item = &'t mut Tally<'a>>,
    revision: Revision,
) -> (Vec<Audience<'t, 'a>>, Vec<&'t mut Tally<'a>>) {
    let threads = available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    let mut audiences: Vec<Audience> = (0..threads).map(|_| Audience::new(revision)).collect();
    let mut others = Vec::new();
    let mut assigned = 0;
    for tally in tallies {
        // Rules that keep items may keep the same ones, so they share a thread.
        let thread = if goes_one_by_one(tally.rule) { assigned % threads } else { 0 };
        match audiences[thread].add_rule(tally) {
            Some(tally) => others.push(tally),
            None => assigned += 1,
        }
    }
    (audiences, others)
}

/// Sends every item to every thread.
pub struct FanOut {
    threads: Vec<SyncSender<Arc<Items>>>,
    waiting: Items,
    bytes: u64,
    /// Items that threads may still use. They are freed on the thread that allocated them, since the allocator is slow
    /// to reuse memory that another thread frees.
    in_use: VecDeque<Arc<Items>>,
}

impl FanOut {
    /// Starts a thread for each audience. The threads end when this is closed.
    pub fn open<'s, 't: 's, 'a: 's>(scope: &'s Scope<'s, '_>, audiences: Vec<Audience<'t, 'a>>) -> Self {
        let threads = audiences.into_iter().map(|audience| {
            let (sender, received) = sync_channel(1);
            scope.spawn(move || look(audience, &received));
            sender
        });
        Self { threads: threads.collect(), waiting: Vec::new(), bytes: 0, in_use: VecDeque::new() }
    }

    /// Adds an item that arrived as this many bytes.
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
            // A thread stops receiving only if it panicked, and the scope reports that.
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
