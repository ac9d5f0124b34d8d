//! Traffic that is not recorded yet.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
};

use hyper::{body::Bytes, http::request, http::response};
use tokio::time::Instant;

use crate::evidence::{Ended, Exit, Side};

/// Maximum number of queued bytes. A disk that blocks for a second at 10,000 messages of 1 kB per second needs 13 MB.
const MOST: usize = 64 << 20;
/// Approximate size of an entry besides its bytes; the head of an HTTP request is the largest.
const ENTRY: usize = 1 << 10;

/// One event of the traffic.
pub enum Seen {
    /// A chunk over stdio.
    Chunk(Side, Vec<u8>),
    /// That side closed its output over stdio.
    Finished(Side),
    /// The process of the server exited.
    Exited(String, Ended, Exit),
    Note(Side, String),
    /// An HTTP request; requests on one TCP connection of the client share `connection`.
    Request {
        exchange: u64,
        connection: u64,
        peer: IpAddr,
        head: Box<request::Parts>,
    },
    RequestBody(u64, Bytes),
    RequestEnd(u64),
    Response(u64, Box<response::Parts>),
    ResponseBody(u64, Bytes),
    Over(u64, Ended),
    /// The client closed that TCP connection.
    Disconnected(u64),
    /// This many entries are missing here.
    Gap(u64),
    /// Nothing follows.
    Last,
}

impl Seen {
    fn cost(&self) -> usize {
        ENTRY
            + match self {
                Self::Chunk(_, bytes) => bytes.len(),
                Self::RequestBody(_, bytes) | Self::ResponseBody(_, bytes) => bytes.len(),
                _ => 0,
            }
    }
}

/// The sending end.
#[derive(Clone)]
pub struct Queue {
    sender: Sender<(Instant, Seen)>,
    held: Arc<AtomicUsize>,
    missed: Arc<AtomicU64>,
}

impl Queue {
    /// Never blocks: an entry that does not fit is counted as missing.
    pub fn note(&self, seen: Seen) {
        let cost = seen.cost();
        // `Last` ends the thread, so it is always accepted.
        let is_last = matches!(seen, Seen::Last);
        if self.held.fetch_add(cost, Ordering::Relaxed) + cost > MOST && !is_last {
            self.held.fetch_sub(cost, Ordering::Relaxed);
            self.missed.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let missed = self.missed.swap(0, Ordering::Relaxed);
        let now = Instant::now();
        if missed > 0 {
            self.held.fetch_add(ENTRY, Ordering::Relaxed);
            let _ = self.sender.send((now, Seen::Gap(missed)));
        }
        let _ = self.sender.send((now, seen));
    }
}

/// The receiving end.
pub struct Taken {
    receiver: Receiver<(Instant, Seen)>,
    held: Arc<AtomicUsize>,
}

impl Taken {
    /// The next entry. If there is none yet, first calls `idle`.
    pub fn next(&self, idle: impl FnOnce()) -> Option<(Instant, Seen)> {
        let (at, seen) = if let Ok(next) = self.receiver.try_recv() {
            next
        } else {
            idle();
            self.receiver.recv().ok()?
        };
        self.held.fetch_sub(seen.cost(), Ordering::Relaxed);
        Some((at, seen))
    }
}

pub fn queue() -> (Queue, Taken) {
    let (sender, receiver) = channel();
    let held = Arc::<AtomicUsize>::default();
    let queue = Queue { sender, held: Arc::clone(&held), missed: Arc::default() };
    (queue, Taken { receiver, held })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_counted_where_it_is_missing() {
        let (queue, taken) = queue();
        let chunk = || Seen::Chunk(Side::Client, vec![0; MOST / 2 - ENTRY]);
        for _ in 0..5 {
            queue.note(chunk());
        }
        assert!(matches!(taken.next(|| ()), Some((_, Seen::Chunk(..)))));
        queue.note(Seen::Last);
        assert!(matches!(taken.next(|| ()), Some((_, Seen::Chunk(..)))));
        assert!(matches!(taken.next(|| ()), Some((_, Seen::Gap(3)))));
        assert!(matches!(taken.next(|| ()), Some((_, Seen::Last))));
    }
}
