//! Events that come again on a stream that was taken up: they were judged when they came first.

use std::collections::HashSet;

use crate::evidence::{Frame, FrameKind};

#[derive(Default)]
pub struct Replays {
    /// Exchanges that take up a stream.
    resumed: HashSet<u64>,
    /// The ids of all events so far.
    events: HashSet<String>,
}

impl Replays {
    /// Whether this frame is one. Each frame has to pass, in order.
    pub fn hold(&mut self, frame: &Frame) -> bool {
        let Some(post) = frame.post else { return false };
        if let (FrameKind::HttpRequest, Some(head)) = (frame.kind, &frame.http)
            && head.value("last-event-id").is_some()
        {
            self.resumed.insert(post);
        }
        let id = frame.event.as_ref().and_then(|event| event.id.clone());
        id.is_some_and(|id| !self.events.insert(id)) && self.resumed.contains(&post)
    }
}
