//! The items of `$passed`.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{
    differences::{LISTS, differences},
    isolation::SameId,
    matching::{Index, Matching, Pair},
    messages::{Kind, Message},
    told::notification,
};
use crate::evidence::Side;

/// The codes for a resource that does not exist, before and since the revision without a handshake.
const RESOURCE_NOT_FOUND: i64 = -32002;
const INVALID_PARAMS: i64 = -32602;

pub fn items(matching: &Matching) -> Vec<Value> {
    let cursors = cursors(matching);
    let mut items = Vec::new();
    for pair in &matching.calls {
        let SameId { in_use, other_result } = SameId::of(matching, pair);
        let (mut asked, mut returned) = (request(matching, pair, &cursors), response(matching, pair));
        asked["id_in_use"] = json!(in_use);
        if let Some(other_result) = other_result {
            asked["other_result"] = other_result;
            // It differs because it belongs to another request.
            if let Some(returned) = &mut returned {
                returned["differences"] = json!([]);
            }
        }
        items.push(asked);
        items.extend(returned);
    }
    for pair in &matching.asked {
        let mut item = request(matching, pair, &cursors);
        let expected = matching.meant_for(pair.sent);
        let elsewhere =
            pair.received.iter().filter(|index| expected.is_some_and(|link| matching.at(**index).link != link));
        item["others"] = json!(elsewhere.count());
        item["channel"] = json!(true);
        items.push(item);
        items.extend(response(matching, pair));
    }
    items.extend(matching.news.iter().map(|told| notification(matching, told)));
    items.extend(matching.said.iter().map(|told| notification(matching, told)));
    // A gateway between two revisions has to translate.
    for item in items.iter_mut().filter(|item| item["same_revision"] == false) {
        item["differences"] = json!([]);
    }
    items.sort_by_key(|item| item["origin"]["frame"].as_u64());
    items
}

/// Each cursor that a client received, with the upstream's cursor.
fn cursors(matching: &Matching) -> HashMap<String, Value> {
    let cursor = |index: Index| matching.at(index).message.pointer("/result/nextCursor").cloned();
    let pairs = matching.calls.iter().filter_map(|pair| {
        let (given, own) = (cursor(*pair.arrived.first()?)?, cursor(pair.returned?)?);
        Some((given.to_string(), own))
    });
    pairs.collect()
}

/// What all items have.
pub fn item(matching: &Matching, kind: &str, method: &str, sent: Index, received: &[Index]) -> Value {
    let message = matching.at(sent);
    let first = received.first().map(|index| matching.at(*index));
    let about = &message.message["params"];
    let mut params = json!({});
    for name in ["uri", "name"] {
        if let Some(value) = about.get(name) {
            params[name] = value.clone();
        }
    }
    let frames: Vec<u64> = received.iter().map(|index| matching.at(*index).frame).take(3).collect();
    let (front, behind) = if message.behind { (first, Some(message)) } else { (Some(message), first) };
    json!({
        "kind": kind,
        "method": method,
        "params": params,
        "from": if message.from == Side::Client { "client" } else { "server" },
        "message": message.message,
        "received": first.map(|first| &first.message),
        "received_kind": first.map_or("nothing", Message::word),
        "times": received.len(),
        "others": 0,
        "bytes": message.message.to_string().len(),
        "same_revision": same_revision(matching, front, behind),
        "link": front.map(|front| front.link),
        "channel": front.is_none_or(|front| matching.channels.contains(&front.link)),
        "frames": std::iter::once(message.frame).chain(frames).collect::<Vec<_>>(),
        "origin": origin(message, first),
        "differences": [],
    })
}

/// The message as it was received, after the one that was sent.
pub fn origin(sent: &Message, received: Option<&Message>) -> Value {
    match received {
        Some(received) => json!({ "frame": received.frame, "pointer": received.pointer, "to": sent.frame }),
        None => json!({ "frame": sent.frame, "pointer": sent.pointer }),
    }
}

/// Whether both sides use the same revision. Only then must all fields be passed on.
fn same_revision(matching: &Matching, front: Option<&Message>, behind: Option<&Message>) -> bool {
    let (Some(front), Some(behind)) = (front, behind) else { return true };
    let agreed = matching.messages.iter().filter(|message| message.behind && message.link == behind.link);
    let mut agreed = agreed.filter_map(|message| message.message.pointer("/result/protocolVersion")?.as_str());
    let spoken = agreed.find(|_| true).or_else(|| {
        behind.message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").and_then(Value::as_str)
    });
    spoken.is_none_or(|spoken| front.revision.is_none_or(|revision| revision.to_string() == spoken))
}

fn request(matching: &Matching, pair: &Pair, cursors: &HashMap<String, Value>) -> Value {
    let sent = matching.at(pair.sent);
    let mut item = item(matching, "request", sent.method(), pair.sent, &pair.received);
    let arrived = pair.arrived.first().map(|index| matching.at(*index));
    item["response"] = json!(arrived.map_or("nothing", Message::word));
    item["responses"] = json!(pair.arrived.len());
    item["not_found"] = json!(arrived.is_some_and(|arrived| is_not_found(sent, arrived)));
    let Some(received) = pair.received.first().map(|index| matching.at(*index)) else { return item };
    let mut found = differences(&sent.message, &received.message);
    if begins(sent) {
        found.retain(|difference| difference["part"] == "capabilities");
    }
    let given = sent.message.pointer("/params/cursor").map(Value::to_string).unwrap_or_default();
    if let Some(own) = cursors.get(&given) {
        found.retain(|difference| difference["part"] != "cursor");
        if received.message.pointer("/params/cursor") != Some(own) {
            found.push(json!({
                "what": "changed", "part": "cursor", "path": "params.cursor", "pointer": "/params/cursor",
                "sent": own, "received": received.message.pointer("/params/cursor"),
            }));
        }
    }
    item["differences"] = json!(found);
    item["token_lost"] = json!(sent.token().is_some() && received.token().is_none());
    let earlier = matching.messages.iter().take_while(|message| message.frame < received.frame);
    let repeats = earlier.filter(|message| {
        message.kind() == Kind::Request
            && message.from == received.from
            && message.is_beside(received)
            && message.id() == received.id()
    });
    item["id_repeated"] = json!(repeats.count() > 0);
    item
}

/// A gateway has a handshake of its own on each side.
fn begins(message: &Message) -> bool {
    matches!(message.method(), "initialize" | "server/discover")
}

/// Whether the error says that the resource does not exist. A gateway that knows the upstream's lists can return it
/// itself.
fn is_not_found(sent: &Message, arrived: &Message) -> bool {
    let stateless = sent.revision.is_some_and(|revision| revision.features().stateless);
    let code = if stateless { INVALID_PARAMS } else { RESOURCE_NOT_FOUND };
    sent.method() == "resources/read" && arrived.message["error"]["code"] == code
}

/// What was returned, if its sender had received the request.
fn response(matching: &Matching, pair: &Pair) -> Option<Value> {
    let returned = pair.returned?;
    let (sent, asked) = (matching.at(returned), matching.at(pair.sent));
    // A gateway may drop the response to a cancelled request, or for a client that disconnected.
    let gone = matching.left.get(&asked.link).is_some_and(|left| *left < sent.frame);
    if pair.arrived.is_empty() && (gone || matching.was_cancelled(asked, u64::MAX)) {
        return None;
    }
    let mut item = item(matching, sent.word(), asked.method(), returned, &pair.arrived);
    let params = request_params(asked);
    item["params"] = params;
    let Some(received) = pair.arrived.first().map(|index| matching.at(*index)) else { return Some(item) };
    item["origin"] = origin(sent, Some(received));
    if sent.word() != received.word() {
        return Some(item);
    }
    let mut found = differences(&sent.message, &received.message);
    if begins(asked) {
        found.retain(|difference| matches!(difference["part"].as_str(), Some("capabilities" | "instructions")));
    }
    // A gateway may collect the pages of its upstream.
    let count = |message: &Message, list: &str| message.message["result"][list].as_array().map(Vec::len);
    let collected = LISTS.iter().any(|list| count(received, list) > count(sent, list));
    found.retain(|difference| {
        let part = difference["part"].as_str().unwrap_or_default();
        let cursor = part == "nextCursor" && (collected || difference["what"] == "changed");
        !(cursor || collected && LISTS.contains(&part))
    });
    item["differences"] = json!(found);
    Some(item)
}

fn request_params(asked: &Message) -> Value {
    let mut params = json!({});
    for name in ["uri", "name"] {
        if let Some(value) = asked.message["params"].get(name) {
            params[name] = value.clone();
        }
    }
    params
}
