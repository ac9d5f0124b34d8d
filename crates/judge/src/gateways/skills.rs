//! The skills that clients of a gateway see, against those that its upstream lists.

use serde_json::{Value, json};

use super::{
    matching::{Matching, Pair},
    messages::Message,
};

/// Of a request for the last page of skills: the URIs that the upstream listed and no page of the gateway had.
pub fn missing(matching: &Matching, pair: &Pair) -> Option<Vec<Value>> {
    let asked = matching.at(pair.sent);
    let result = matching.at(*pair.arrived.first()?).message.get("result")?;
    let is_last = asked.method() == "skills/list" && !asked.behind && result["nextCursor"].is_null();
    // An entry may be served without being listed.
    let uris = |behind: bool| {
        let here = matching.messages.iter().filter(move |message| message.behind == behind);
        let listed = here.filter_map(|message| message.message["result"]["skills"].as_array()).flatten();
        listed.filter_map(|entry| entry["uri"].as_str())
    };
    let first = uris(true).next().filter(|_| is_last);
    first?;
    // A gateway in front of several servers puts a label before the path.
    let path = |uri: &str| uri.split_once("://").map_or_else(|| uri.to_owned(), |(_, path)| format!("/{path}"));
    let is_in_front = |uri: &str| uris(false).any(|front| front == uri || front.ends_with(&path(uri)));
    let mut missing: Vec<Value> = uris(true).filter(|uri| !is_in_front(uri)).map(|uri| json!(uri)).collect();
    missing.dedup();
    Some(missing)
}

/// Whether the client knew the URI of this request from an entry.
pub fn listed(matching: &Matching, request: &Message) -> bool {
    before(matching, request).any(|entry| entry["uri"] == request.message["params"]["uri"])
}

/// What the last entry that the client had says of the file that it reads.
pub fn file(matching: &Matching, request: &Message) -> Option<Value> {
    let files = before(matching, request).filter_map(|entry| entry["resources"].as_array()).flatten();
    files.filter(|file| file["uri"] == request.message["params"]["uri"]).last().cloned()
}

/// The entries of skills that the client had before it sent the request.
fn before<'a>(matching: &Matching<'a>, request: &Message) -> impl Iterator<Item = &'a Value> {
    let (frame, is_front) = (request.frame, !request.behind);
    let messages = matching.messages.iter().copied();
    let earlier = messages.filter(move |message| is_front && !message.behind && message.frame < frame);
    earlier.flat_map(|message| {
        let result = &message.message["result"];
        result["skills"].as_array().into_iter().flatten().chain(result.get("skill"))
    })
}
