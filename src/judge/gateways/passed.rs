//! The items of `$passed`.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{
    differences::{LISTS, differences},
    matching::{Index, Matching, Pair, Told},
    messages::{Kind, Message},
};
use crate::evidence::Side;

/// A notification that arrives with a response, and was sent at least this many microseconds before it, was held back:
/// no normal delay is that long.
const HELD: u64 = 1_500_000;

pub fn items(matching: &Matching) -> Vec<Value> {
    let cursors = cursors(matching);
    let mut items = Vec::new();
    for pair in &matching.calls {
        items.push(request(matching, pair, &cursors));
        items.extend(response(matching, pair));
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

/// The fields of all items.
fn item(matching: &Matching, kind: &str, method: &str, sent: Index, received: &[Index]) -> Value {
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

/// The location of the received message, with the sent one before it.
fn origin(sent: &Message, received: Option<&Message>) -> Value {
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
    let Some(received) = pair.received.first().map(|index| matching.at(*index)) else { return item };
    let mut found = differences(&sent.message, &received.message);
    if sent.method() == "initialize" {
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

/// The response item, if the recipient responded.
fn response(matching: &Matching, pair: &Pair) -> Option<Value> {
    let returned = pair.returned?;
    let (sent, asked) = (matching.at(returned), matching.at(pair.sent));
    // A gateway may drop the response to a cancelled request, or for a client that disconnected.
    let gone = matching.left.get(&asked.link).is_some_and(|left| *left < sent.frame);
    let cancelled = matching.messages.iter().any(|message| {
        message.method() == "notifications/cancelled"
            && message.is_beside(asked)
            && message.message.pointer("/params/requestId") == Some(asked.id())
    });
    if pair.arrived.is_empty() && (gone || cancelled) {
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
    if asked.method() == "initialize" {
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

fn notification(matching: &Matching, told: &Told) -> Value {
    let sent = matching.at(told.sent);
    let mut item = item(matching, "notification", sent.method(), told.sent, &told.received);
    let expected = matching.expected(told.sent);
    let receivers = |link: u32| told.received.iter().filter(|index| matching.at(**index).link == link).count();
    let meant = matching.meant_for(told.sent);
    let mut links: Vec<u32> = told.received.iter().map(|index| matching.at(*index).link).collect();
    links.sort_unstable();
    links.dedup();
    item["times"] = json!(links.iter().map(|link| receivers(*link)).max().unwrap_or_default());
    let uri = &sent.message["params"]["uri"];
    let wanted = |link: &u32| match sent.method() {
        "notifications/resources/updated" => subscribed(matching, *link, uri, sent.frame),
        _ => meant.is_none_or(|meant| meant == *link),
    };
    item["others"] = json!(links.iter().filter(|link| sent.behind && !wanted(link)).count());
    item["wanted"] = json!(if sent.behind {
        matching.serves_clients(told.sent) && is_awaited(matching, sent, meant)
    } else {
        is_supported(matching, sent)
    });
    if sent.behind && told.received.is_empty() {
        item["channel"] = json!(has_channel(matching, sent, meant));
    }
    let to = told.received.iter().find(|index| !sent.behind || wanted(&matching.at(**index).link));
    let Some(received) = to.or(told.received.first()).map(|index| matching.at(*index)) else { return item };
    item["received"] = received.message.clone();
    item["origin"] = origin(sent, Some(received));
    item["differences"] = json!(differences(&expected, &received.message));
    item["delay_ms"] = json!(received.at.saturating_sub(sent.at) / 1000);
    let pair = match sent.method() {
        "notifications/progress" => matching.reported_on(sent),
        _ => matching.during(sent),
    };
    if let Some(pair) = pair.filter(|_| sent.behind)
        && let (Some(returned), Some(arrived)) = (pair.returned, pair.arrived.first())
    {
        let (returned, arrived) = (matching.at(returned), matching.at(*arrived));
        if received.link == arrived.link && returned.frame > sent.frame {
            let early = returned.at.saturating_sub(sent.at) >= HELD;
            item["early"] = json!(early);
            item["held"] = json!(early && received.at >= returned.at);
            // Two streams have no common order.
            let one_stream = received.post == arrived.post;
            item["overtaken"] = json!(one_stream && received.frame > arrived.frame);
        }
    }
    item
}

/// Whether a client should receive the notification.
fn is_awaited(matching: &Matching, sent: &Message, meant: Option<u32>) -> bool {
    let present = |link: u32| matching.left.get(&link).is_none_or(|left| sent.frame < *left);
    let mut links: Vec<u32> =
        matching.messages.iter().filter(|message| !message.behind).map(|message| message.link).collect();
    links.dedup();
    match sent.method() {
        "notifications/resources/updated" => {
            let uri = &sent.message["params"]["uri"];
            links.into_iter().any(|link| present(link) && subscribed(matching, link, uri, sent.frame))
        }
        "notifications/progress" => meant.is_some_and(present),
        method => links.into_iter().any(|link| {
            let declared = declared(matching, link);
            let is_declared = match method.strip_prefix("notifications/").unwrap_or_default().split_once('/') {
                Some((list, "list_changed")) => declared.is_some_and(|known| known[list]["listChanged"] == true),
                None if method == "notifications/message" => declared.is_some_and(|known| known["logging"].is_object()),
                _ => true,
            };
            present(link) && is_declared
        }),
    }
}

/// The capabilities that the gateway declared to a client.
fn declared<'a>(matching: &Matching<'a>, link: u32) -> Option<&'a Value> {
    let own = |pair: &&Pair| {
        let sent = matching.at(pair.sent);
        sent.link == link && sent.method() == "initialize"
    };
    let response = matching.at(*matching.calls.iter().find(own)?.arrived.first()?);
    response.message.pointer("/result/capabilities")
}

/// Whether the gateway declared the capability for a client's notification to the upstream.
fn is_supported(matching: &Matching, sent: &Message) -> bool {
    if sent.method() != "notifications/roots/list_changed" {
        return true;
    }
    let mut handshakes = matching.messages.iter().filter(|message| message.behind && message.method() == "initialize");
    handshakes.any(|message| message.message["params"]["capabilities"]["roots"]["listChanged"] == true)
}

/// Whether the gateway had a stream on which to send it.
fn has_channel(matching: &Matching, sent: &Message, meant: Option<u32>) -> bool {
    // Over HTTP, an open request has its own stream.
    let open = matching.calls.iter().any(|pair| {
        let began = matching.at(pair.sent).frame < sent.frame;
        began && pair.arrived.first().is_none_or(|arrived| matching.at(*arrived).frame > sent.frame)
    });
    let reported = sent.method() == "notifications/progress" && open;
    reported || meant.map_or_else(|| !matching.channels.is_empty(), |link| matching.channels.contains(&link))
}

fn subscribed(matching: &Matching, link: u32, uri: &Value, before: u64) -> bool {
    let mut changes = matching.calls.iter().filter_map(|pair| {
        let sent = matching.at(pair.sent);
        let is_change = sent.method() == "resources/subscribe" || sent.method() == "resources/unsubscribe";
        (is_change && sent.link == link && sent.frame < before && &sent.message["params"]["uri"] == uri)
            .then(|| sent.method() == "resources/subscribe")
    });
    let mut last = None;
    for change in changes.by_ref() {
        last = Some(change);
    }
    last.unwrap_or(false)
}
