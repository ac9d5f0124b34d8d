//! Whether a client received the result of another client's request that had the same id.
//!
//! Only what is certain counts. The upstream's results of both requests are known and differ, and what the client received
//! has the value of the other result wherever they do. A gateway that changes results, returns an error of its own, or
//! keeps what the upstream once returned, shows nothing.

use serde_json::{Value, json};

use super::{
    differences::differences,
    matching::{Index, Matching, Pair},
    messages::Message,
};
use conform_model::evidence::Kind;

/// A request whose id another client used at the same time.
#[derive(Default)]
pub struct SameId {
    /// Whether there was such a request with another result.
    pub in_use: bool,
    /// The other client's request and its result, if the client of this request received that.
    pub other_result: Option<Value>,
}

impl SameId {
    pub fn of(matching: &Matching, pair: &Pair) -> Self {
        let mut found = Self::default();
        for other in matching.calls.iter().filter(|other| overlap(matching, pair, other)) {
            let (Some(own), Some(others)) = (result(matching, pair), result(matching, other)) else { continue };
            let [own, others] = [own, others].map(|index| matching.at(index));
            let places = places(own, others);
            if places.is_empty() {
                continue;
            }
            found.in_use = true;
            let has_others = |index: &&Index| {
                let received = &matching.at(**index).message;
                places.iter().all(|place| received.pointer(place) == others.message.pointer(place))
            };
            if let Some(received) = pair.arrived.iter().find(has_others) {
                found.other_result = Some(described(matching, [pair.sent, other.sent], others, *received));
                break;
            }
        }
        found
    }
}

/// Whether both are requests of different clients that had the same id and were open at the same time.
fn overlap(matching: &Matching, pair: &Pair, other: &Pair) -> bool {
    let [one, another] = [pair, other].map(|pair| matching.at(pair.sent));
    let end = |pair: &Pair| {
        let arrived = pair.arrived.first().map(|arrived| matching.at(*arrived).frame);
        arrived.or_else(|| matching.ends.left(matching.at(pair.sent).link))
    };
    let began_in = |request: &Message, pair: &Pair| end(pair).is_none_or(|end| request.frame < end);
    one.link != another.link && one.id() == another.id() && began_in(one, other) && began_in(another, pair)
}

/// The upstream's result of a request, or of an equal one if nothing shows which of its responses belongs to this one.
fn result(matching: &Matching, pair: &Pair) -> Option<Index> {
    let asked = matching.at(pair.sent);
    let equal = |other: &&Pair| {
        let other = matching.at(other.sent);
        other.method() == asked.method() && parameters(other) == parameters(asked)
    };
    own_result(matching, pair)
        .or_else(|| matching.calls.iter().filter(equal).find_map(|other| own_result(matching, other)))
}

/// The params, without what belongs to one request or to one connection.
fn parameters(request: &Message) -> Value {
    let mut params = request.message["params"].clone();
    if let Some(params) = params.as_object_mut() {
        params.shift_remove("_meta");
    }
    params
}

fn own_result(matching: &Matching, pair: &Pair) -> Option<Index> {
    let [copy] = pair.received.as_slice() else { return None };
    let copy_of = |pair: &Pair| matching.likeness(pair, matching.at(*copy));
    // A gateway that changes params can make two requests equal.
    let is_of_another = matching.calls.iter().any(|other| {
        let is_other = other.sent != pair.sent && matching.may_be(other, matching.at(*copy));
        is_other && copy_of(other) >= copy_of(pair)
    });
    let returned = if is_of_another { None } else { response(matching, *copy) };
    returned.filter(|returned| matching.at(*returned).message.get("result").is_some())
}

/// The response to a request to the upstream. Where the gateway uses an id for several requests at the same time, only
/// the HTTP exchange shows to which of them a response belongs.
fn response(matching: &Matching, request: Index) -> Option<Index> {
    let asked = matching.at(request);
    let with_id = |is_response: bool| {
        (0..matching.messages.len()).filter(move |index| {
            let message = matching.at(*index);
            let fits = if is_response { message.is_response() } else { message.kind() == Kind::Request };
            fits && (message.from != asked.from) == is_response
                && message.is_beside(asked)
                && message.id() == asked.id()
        })
    };
    let in_exchange = |index: &Index| *index > request && matching.at(*index).post == asked.post;
    if let Some(response) = asked.post.and_then(|_| with_id(true).find(in_exchange)) {
        return Some(response);
    }
    let response = with_id(true).find(|index| *index > request)?;
    let before = |is_response: bool, end: Index| with_id(is_response).filter(|index| *index < end).count();
    let is_only = before(false, response) == before(true, response) + 1;
    is_only.then_some(response)
}

/// The places of values that are in both results and differ, and then of all others that differ.
fn places(own: &Message, others: &Message) -> Vec<String> {
    let found = differences(&own.message, &others.message);
    let is_changed = found.iter().any(|difference| difference.what == "changed");
    found.into_iter().filter(|_| is_changed).map(|difference| difference.pointer).collect()
}

/// Of the requests the first is that of the client that received the other's result.
fn described(matching: &Matching, requests: [Index; 2], returned: &Message, received: Index) -> Value {
    let [own, other] = requests.map(|index| matching.at(index));
    let received = matching.at(received);
    let mut frames = vec![own.frame, other.frame];
    // The response to an equal request was an earlier one.
    frames.extend(Some(returned.frame).filter(|frame| *frame > other.frame));
    frames.sort_unstable();
    frames.push(received.frame);
    json!({ "request": other.message, "result": received.message["result"], "link": other.link, "frames": frames })
}
