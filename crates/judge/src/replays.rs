//! Events that are replayed on a resumed stream. They were judged the first time.

use std::collections::HashSet;

use conform_model::evidence::{Frame, FrameKind};

#[derive(Default)]
pub struct Replays {
    /// Exchanges that resume a stream.
    resumed: HashSet<u64>,
    /// The ids of all events so far.
    events: HashSet<String>,
}

impl Replays {
    /// Whether this frame is a replay. Must be called for each frame, in order.
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
