//! The pages that a client requests: items of `$lists`. Also classifies the cursors that it sends.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::MessageContext;
use conform_model::evidence::{
    Kind, Link, Message, Side,
    conversation::{Related, RequestAt},
};

/// Parameters that restrict a list.
const SCOPES: [&str; 3] = ["uri", "prefix", "filter"];
/// Maximum number of cursors remembered per walk, and of walks per connection.
const MOST: usize = 10_000;

#[derive(Default)]
pub struct Lists {
    /// The latest walk of each list.
    walks: HashMap<String, Walk>,
    done: Vec<Walk>,
    /// The list and the cursor of each open request.
    open: HashMap<RequestAt, (String, Option<String>)>,
    /// How often each list was started, and each of its cursors was sent: several walks may be concurrent.
    begun: HashMap<String, usize>,
    sent: HashMap<(String, String), usize>,
    /// Until when a page may be cached, by list and cursor, if the result says so.
    fresh: HashMap<(String, String), u64>,
    /// Until when the page that gave a cursor may be cached.
    source_fresh: HashMap<(String, String), u64>,
    /// Each cursor that was given, with the list that it was given for.
    given: HashSet<(String, String)>,
    anywhere: HashSet<String>,
}

#[derive(Default)]
struct Walk {
    method: String,
    uri: Value,
    pages: usize,
    requests: usize,
    cursors: Vec<String>,
    repeated: usize,
    empty_cursor: bool,
    followed_empty: bool,
    items: usize,
    frames: Vec<u64>,
    /// The cursor on the last page, and whether the list ended there.
    next: Option<String>,
    ended: bool,
    failed: bool,
}

impl Lists {
    /// Classifies the cursor of a list request.
    pub fn take(&mut self, passing: &MessageContext) -> Option<&'static str> {
        let MessageContext { frame, kind, related, .. } = passing;
        match (frame.from, kind) {
            (Side::Client, Kind::Request) => self.requested(related.sent, &related.message),
            (Side::Server, Kind::Result | Kind::Error) => {
                self.responded(frame.frame, frame.at, related);
                None
            }
            _ => None,
        }
    }

    fn requested(&mut self, sent: RequestAt, message: &Message) -> Option<&'static str> {
        let RequestAt { frame, at, .. } = sent;
        let method = Some(message.method).filter(|method| method.ends_with("/list") && *method != "roots/list")?;
        let params = message.params();
        let scope: Vec<String> = SCOPES.iter().map(|name| params[*name].to_string()).collect();
        let key = format!("{method} {}", scope.join(" "));
        let cursor = params.get("cursor").and_then(Value::as_str).map(str::to_owned);
        if self.open.len() < MOST {
            self.open.insert(sent, (key.clone(), cursor.clone()));
        }
        let Some(cursor) = cursor else {
            let begun = Walk {
                method: method.to_owned(),
                uri: params["uri"].clone(),
                requests: 1,
                frames: vec![frame],
                ..Walk::default()
            };
            *self.begun.entry(key.clone()).or_default() += 1;
            let before = self.walks.insert(key, begun);
            self.done.extend(before.filter(|_| self.done.len() < MOST));
            return Some("first");
        };
        let place = (key.clone(), cursor.clone());
        let begun = self.begun.get(&key).copied().unwrap_or_default();
        let is_due =
            begun > 1 && self.given.contains(&place) && self.sent.get(&place).copied().unwrap_or_default() < begun;
        if self.sent.len() < MOST {
            *self.sent.entry(place.clone()).or_default() += 1;
        }
        let kind = match self.walks.get(&key) {
            Some(walk) if walk.next.as_deref() == Some(cursor.as_str()) => "next",
            // A client that caches pages requests stale ones again.
            Some(walk) if walk.ended && self.fresh.get(&place).is_some_and(|until| *until <= at) => "stale",
            // One that caches only some pages goes on after the last of them.
            Some(walk) if walk.ended && self.source_fresh.get(&place).is_some_and(|until| at < *until) => "stale",
            Some(_) if is_due => "next",
            Some(walk) if walk.ended && self.given.contains(&place) => "ended",
            _ if self.given.contains(&place) => "earlier",
            _ if self.anywhere.contains(&cursor) => "foreign",
            Some(walk) if walk.ended => "ended",
            _ => "unknown",
        };
        if let Some(walk) = self.walks.get_mut(&key) {
            walk.requests += 1;
            walk.repeated += usize::from(walk.cursors.contains(&cursor));
            walk.followed_empty |= cursor.is_empty();
            if walk.cursors.len() < MOST {
                walk.cursors.push(cursor);
                walk.frames.push(frame);
            }
        }
        Some(kind)
    }

    fn responded(&mut self, frame: u64, at: u64, related: &Related) {
        let request = related.responds_to().and_then(|asked| self.open.remove(&asked.place));
        let Some((key, cursor)) = request else { return };
        let Some(walk) = self.walks.get_mut(&key) else { return };
        let Some(result) = related.message.whole.get("result") else {
            walk.failed = true;
            return;
        };
        let ttl = result["ttlMs"].as_u64().filter(|ttl| *ttl > 0);
        if let (Some(cursor), Some(ttl)) = (cursor, ttl.filter(|_| self.fresh.len() < MOST)) {
            self.fresh.insert((key.clone(), cursor), at.saturating_add(ttl.saturating_mul(1000)));
        }
        walk.pages += 1;
        if walk.frames.len() < MOST {
            walk.frames.push(frame);
        }
        walk.items +=
            result.as_object().into_iter().flatten().find_map(|(_, value)| value.as_array()).map_or(0, Vec::len);
        let next = result.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        walk.ended = next.is_none();
        walk.empty_cursor |= next.as_deref() == Some("");
        if let Some(next) = next.clone().filter(|_| self.given.len() < MOST) {
            if let Some(ttl) = ttl {
                self.source_fresh.insert((key.clone(), next.clone()), at.saturating_add(ttl.saturating_mul(1000)));
            }
            self.given.insert((key, next.clone()));
            self.anywhere.insert(next);
        }
        walk.next = next;
    }

    pub fn rest(self, link: &Link) -> Vec<Value> {
        let mut all: Vec<Walk> = self.done.into_iter().chain(self.walks.into_values()).collect();
        all.sort_by_key(|walk| walk.frames.first().copied());
        let item = |walk: Walk| {
            let end = match () {
                () if walk.failed => "error",
                () if walk.ended => "complete",
                () if walk.next.is_some() => "stopped",
                () => "open",
            };
            // The last frames show how it continued.
            let frames = &walk.frames[walk.frames.len().saturating_sub(4)..];
            json!({
                "method": walk.method,
                "uri": walk.uri,
                "pages": walk.pages,
                "requests": walk.requests,
                "cursors": walk.cursors,
                "end": end,
                "repeated": walk.repeated,
                "empty_cursor": walk.empty_cursor,
                "followed_empty": walk.followed_empty,
                "items": walk.items,
                "frames": frames,
                "link": link.link,
            })
        };
        all.into_iter().map(item).collect()
    }
}
