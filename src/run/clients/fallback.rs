//! A client that began with 2026-07-28 and then fell back to `initialize`, although the server supports what it began
//! with. What it sent before the fallback shows why.

use std::sync::Arc;

use serde_json::Value;

use crate::evidence::{
    Frame, FrameKind, Kind, Recorder, Side,
    conversation::{Conversation, RequestAt},
};

/// The last frame of each connection before the fallback.
pub type Ends = Vec<(u32, u64)>;

/// What the client sent before `initialize`, if the server rejected it, or responded to server/discover as it should.
/// `None`: the client did not fall back, or the server was late, or the client may have chosen a version that the
/// server lists.
pub fn given_up(recorder: &Recorder, links: &[u32], may_choose: bool) -> Option<Ends> {
    let mut attempt = Attempt::default();
    let mut conversation = Conversation::default();
    for frame in recorder.frames_where(|index| links.contains(&index.link)) {
        if let Some((offer, at)) = attempt.take(&frame, &mut conversation) {
            let is_choice = may_choose && attempt.listed.contains(&offer);
            let served = !attempt.listed.is_empty();
            let is_judged = attempt.rejected || served && !is_choice;
            // After a result, it is the initialize that is wrong.
            attempt.ends.push((frame.link, if served { frame.frame } else { at }));
            return is_judged.then_some(attempt.ends);
        }
    }
    None
}

#[derive(Default)]
struct Attempt {
    /// The last frame of each connection so far.
    ends: Ends,
    requests: Vec<RequestAt>,
    /// Whether it sent anything.
    tried: bool,
    posts: Vec<u64>,
    /// The frame before the head of the latest HTTP request.
    before_post: u64,
    /// The versions in the result of server/discover.
    listed: Vec<Value>,
    rejected: bool,
}

impl Attempt {
    /// The version that `initialize` offers, and the frame before it, if this frame is a fallback.
    fn take(&mut self, frame: &Arc<Frame>, conversation: &mut Conversation) -> Option<(Value, u64)> {
        let status = frame.http.as_ref().and_then(|head| head.status);
        let answers = frame.post.is_some_and(|post| self.posts.contains(&post));
        self.rejected |= answers && status.is_some_and(|status| status >= 400);
        match (frame.kind, frame.from) {
            (FrameKind::HttpRequest, _) => self.before_post = frame.frame - 1,
            (FrameKind::Junk, Side::Client) => (self.tried, self.rejected) = (true, true),
            _ => {}
        }
        for related in conversation.take(frame).messages {
            let message = &related.message;
            match (frame.from, message.kind) {
                (Side::Client, _) if message.method == "initialize" => {
                    let before = if frame.post.is_some() { self.before_post } else { frame.frame - 1 };
                    return self.tried.then(|| (message.params()["protocolVersion"].clone(), before));
                }
                // A message that should be a request is one that the server does not serve.
                (Side::Client, kind) => {
                    self.tried = true;
                    self.requests.push(related.sent);
                    self.posts.extend(frame.post);
                    self.rejected |= kind != Kind::Request && !message.method.starts_with("notifications/");
                }
                (Side::Server, kind) => {
                    let responds = related.responds_to().is_some_and(|asked| self.requests.contains(&asked.place));
                    self.rejected |= kind == Kind::Error && (responds || answers || message.id.is_none());
                    let listed = message.result()["supportedVersions"].as_array().filter(|_| responds);
                    self.listed.extend(listed.into_iter().flatten().cloned());
                }
                _ => {}
            }
        }
        match self.ends.iter_mut().find(|(link, _)| *link == frame.link) {
            Some((_, end)) => *end = frame.frame,
            None => self.ends.push((frame.link, frame.frame)),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::{Sent, Transport};

    /// The messages on one connection over stdio.
    fn recorded(messages: &[(Side, Value)]) -> (Recorder, u32) {
        let recorder = Recorder::new(1 << 20, 1 << 20, 1000);
        let link = recorder.open_link(Transport::Stdio);
        let by = Sent { link, by: "client".to_owned(), post: None };
        for (from, message) in messages {
            match from {
                Side::Client => recorder.passed(&by, message, 0, Vec::new()),
                _ => recorder.received(link, None, message, 0, Vec::new(), None),
            };
        }
        (recorder, link)
    }

    fn probe() -> (Side, Value) {
        (Side::Client, json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover" }))
    }

    fn responds(field: &str, value: &Value) -> (Side, Value) {
        (Side::Server, json!({ "jsonrpc": "2.0", "id": 1, field: value }))
    }

    fn initialize() -> (Side, Value) {
        let params = json!({ "protocolVersion": "2025-11-25" });
        (Side::Client, json!({ "jsonrpc": "2.0", "id": 2, "method": "initialize", "params": params }))
    }

    fn ends(messages: &[(Side, Value)], may_choose: bool) -> Option<Vec<u64>> {
        let (recorder, link) = recorded(messages);
        let ends = given_up(&recorder, &[link], may_choose)?;
        Some(ends.into_iter().map(|(_, end)| end).collect())
    }

    #[test]
    fn what_precedes_a_fallback_is_judged_if_the_server_rejected_it() {
        let rejected = responds("error", &json!({ "code": -32602, "message": "Invalid params" }));
        // The last entry of a connection counts.
        assert_eq!(ends(&[probe(), rejected.clone(), initialize()], true), Some(vec![2, 2]));
        assert_eq!(ends(&[probe(), rejected], true), None);
        assert_eq!(ends(&[probe(), initialize()], true), None);
        assert_eq!(ends(&[initialize()], false), None);
    }

    #[test]
    fn initialize_after_a_result_is_judged_unless_the_client_may_choose_it() {
        let result = |versions: &[&str]| responds("result", &json!({ "supportedVersions": versions }));
        let both = [probe(), result(&["2026-07-28", "2025-11-25"]), initialize()];
        assert_eq!(ends(&both, true), None);
        assert_eq!(ends(&both, false), Some(vec![2, 3]));
        let modern = [probe(), result(&["2026-07-28"]), initialize()];
        assert_eq!(ends(&modern, true), Some(vec![2, 3]));
    }

    #[test]
    fn a_request_that_was_sent_as_a_notification_has_no_response() {
        let unanswered = (Side::Client, json!({ "jsonrpc": "2.0", "method": "server/discover" }));
        assert_eq!(ends(&[unanswered, initialize()], true), Some(vec![1, 1]));
    }
}
