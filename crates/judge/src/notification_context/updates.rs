//! Updates of resources until revision 2025-11-25: whether a resource was subscribed to, and whether that has ended.

use serde_json::Value;

use super::{Relation, is_within, uri_in};

/// After a subscription ended, updates in transit may arrive for this long, in microseconds.
const ON_ITS_WAY: u64 = 25_000;

#[derive(Default)]
pub(super) struct Watched {
    resources: Vec<Resource>,
    /// Requests that should end a subscription, by their frames.
    ending: Vec<(u64, String)>,
}

struct Resource {
    uri: String,
    /// The number of subscriptions minus the number of ended ones.
    times: usize,
    ended: Option<Ended>,
}

/// The end of the last subscription.
struct Ended {
    frame: u64,
    at: u64,
    /// Whether a later request got a response: then the server has read the unsubscribe request.
    followed: bool,
}

impl Watched {
    /// A request was sent in this frame.
    pub(super) fn asked(&mut self, frame: u64, method: &str, params: &Value) {
        match method {
            "resources/subscribe" => {
                // Some servers accept several URIs at once.
                let named = std::iter::once(&params["uri"]).chain(params["uris"].as_array().into_iter().flatten());
                named.filter_map(Value::as_str).for_each(|uri| self.subscribed(uri));
            }
            "resources/unsubscribe" => {
                self.ending.extend(uri_in(params).map(|uri| (frame, bare(uri).to_owned())));
            }
            _ => {}
        }
    }

    fn subscribed(&mut self, uri: &str) {
        match self.resources.iter_mut().find(|known| known.uri == bare(uri)) {
            Some(known) => (known.times, known.ended) = (known.times + 1, None),
            None => self.resources.push(Resource { uri: bare(uri).to_owned(), times: 1, ended: None }),
        }
    }

    /// The request in frame `request` got its response in frame `answer`.
    pub(super) fn answered(&mut self, request: u64, answer: u64, at: u64, agreed: bool) {
        for ended in self.resources.iter_mut().filter_map(|known| known.ended.as_mut()) {
            ended.followed |= request > ended.frame;
        }
        let Some(index) = self.ending.iter().position(|(frame, _)| *frame == request) else { return };
        let (_, uri) = self.ending.swap_remove(index);
        if let Some(known) = self.resources.iter_mut().find(|known| agreed && known.uri == uri) {
            known.times = known.times.saturating_sub(1);
            known.ended = (known.times == 0).then_some(Ended { frame: answer, at, followed: false });
        }
    }

    /// Adds to an update at that time what it relates to.
    pub(super) fn describe(&self, uri: &str, at: u64, relation: &mut Relation) {
        let mut meant = self.resources.iter().filter(|known| is_within(uri, &known.uri)).peekable();
        relation.subscribed = Some(Some(meant.peek().is_some()));
        let is_over = |ended: &Ended| ended.followed && at.saturating_sub(ended.at) > ON_ITS_WAY;
        if meant.peek().is_some() {
            relation.unsubscribed = Some(meant.all(|known| known.ended.as_ref().is_some_and(is_over)));
        }
    }
}

fn bare(uri: &str) -> &str {
    uri.trim_end_matches('/')
}
