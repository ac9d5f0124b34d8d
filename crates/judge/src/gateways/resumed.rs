//! When event streams of the upstream ended, and the time in `retry` and the event with which the gateway resumes them.

use std::collections::HashMap;

use crate::events::Events;
use conform_model::evidence::{Frame, Link};

/// The event streams of the upstream.
#[derive(Default)]
pub struct Resumed {
    streams: HashMap<u64, Stream>,
    /// The last `retry` on each connection, in milliseconds.
    retry: HashMap<u32, u64>,
    /// The event ids on each connection.
    ids: HashMap<u32, Events>,
}

#[derive(Default)]
struct Stream {
    link: u32,
    /// The id of its last event that had one.
    last: Option<String>,
    ended: Option<u64>,
}

/// What a gateway knows when it resumes a stream, in milliseconds.
pub struct Pause {
    pub retry: Option<u64>,
    pub since_end: u64,
}

impl Resumed {
    pub fn take(&mut self, frame: &Frame, link: &Link) {
        let Some(post) = frame.post.filter(|_| link.behind) else { return };
        if let Some(event) = &frame.event {
            if let Some(retry) = event.retry {
                self.retry.insert(link.link, retry);
            }
            if let Some(id) = &event.id {
                self.ids.entry(link.link).or_default().gave(post, id);
            }
            let stream = self.streams.entry(post).or_default();
            stream.link = link.link;
            stream.last = event.id.clone().or(stream.last.take());
        }
        if frame.ended.is_some()
            && let Some(stream) = self.streams.get_mut(&post)
        {
            stream.ended.get_or_insert(frame.at);
        }
    }

    /// Whether a request that resumes a stream with this event names the last one that the upstream sent on it.
    pub fn resume(&mut self, link: u32, event: &str, post: u64) -> bool {
        let ids = self.ids.entry(link).or_default();
        let is_last = ids.last_beside(event).is_some_and(|last| last == event);
        ids.resumed(post, event);
        is_last
    }

    /// The pause before a request at this time that resumes the stream with this event.
    pub fn pause(&self, link: u32, event: &str, at: u64) -> Option<Pause> {
        let ended = |stream: &Stream| {
            let is_it = stream.link == link && stream.last.as_deref() == Some(event);
            stream.ended.filter(|ended| is_it && *ended <= at)
        };
        let ended = self.streams.values().filter_map(ended).max()?;
        Some(Pause { retry: self.retry.get(&link).copied(), since_end: (at - ended) / 1000 })
    }
}
