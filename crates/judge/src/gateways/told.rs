//! The items of `$passed` that are notifications.

use serde_json::Value;

use super::{
    differences::differences,
    matching::{Matching, Pair, Told},
    messages::Message,
    passed::{OfNotification, Passed, item, origin},
};
use conform_model::revision::Revision;

/// A notification that was sent this long before a response, in microseconds, and is received with it was held back.
const HELD: u64 = 1_500_000;

pub fn notification<'a>(matching: &Matching<'a>, told: &Told) -> Passed<'a> {
    let sent = matching.at(told.sent);
    let mut item = item(matching, "notification", sent, told.sent, &told.received);
    let mut own = OfNotification::default();
    let receivers = |link: u32| told.received.iter().filter(|index| matching.at(**index).link == link).count();
    let meant = matching.meant_for(told.sent);
    let mut links: Vec<u32> = told.received.iter().map(|index| matching.at(*index).link).collect();
    links.sort_unstable();
    links.dedup();
    item.times = links.iter().map(|link| receivers(*link)).max().unwrap_or_default();
    let uri = &sent.message["params"]["uri"];
    let wanted = |link: &u32| match sent.method() {
        "notifications/resources/updated" => subscribed(matching, *link, uri, sent.frame),
        _ => meant.is_none_or(|meant| meant == *link),
    };
    item.others = links.iter().filter(|link| sent.behind && !wanted(link)).count();
    own.wanted = if sent.behind {
        matching.serves_clients(told.sent) && is_supported(matching, sent) && is_awaited(matching, sent)
    } else {
        // A slow gateway may have it still when the client leaves.
        let is_due = matching.ends.stayed(sent, sent.at) && is_open_behind(matching, sent);
        is_supported(matching, sent) && (!told.received.is_empty() || is_due)
    };
    if sent.behind && told.received.is_empty() {
        item.channel = has_channel(matching, sent, meant);
    }
    let to = told.received.iter().find(|index| !sent.behind || wanted(&matching.at(**index).link));
    if let Some(received) = to.or(told.received.first()).map(|index| matching.at(*index)) {
        item.received = Some(&received.message);
        item.origin = origin(sent, Some(received));
        item.differences = differences(&matching.expected(told.sent), &received.message);
        own.received(matching, told, received);
    }
    item.notification = Some(own);
    item
}

impl OfNotification {
    fn received(&mut self, matching: &Matching, told: &Told, received: &Message) {
        let sent = matching.at(told.sent);
        self.delay_ms = Some(received.at.saturating_sub(sent.at) / 1000);
        self.disordered = Some(is_disordered(matching, told, received));
        self.requested = matching.reported_on(sent).map(|pair| matching.at(pair.sent).token().is_some());
        let pair = match sent.method() {
            "notifications/progress" => matching.reported_on(sent),
            _ => matching.during(sent),
        };
        let ends = pair.filter(|_| sent.behind).and_then(|pair| pair.returned.zip(pair.arrived.first().copied()));
        let Some((returned, arrived)) = ends.map(|(returned, arrived)| (matching.at(returned), matching.at(arrived)))
        else {
            return;
        };
        if received.link == arrived.link && returned.frame > sent.frame {
            let early = returned.at.saturating_sub(sent.at) >= HELD;
            self.early = Some(early);
            self.held = Some(early && received.at >= returned.at);
            // Messages on two streams have no order.
            let one_stream = received.post == arrived.post;
            self.overtaken = Some(one_stream && received.frame > arrived.frame);
        }
    }
}

/// Whether earlier progress of the same request is received later, on the same streams.
fn is_disordered(matching: &Matching, told: &Told, received: &Message) -> bool {
    let sent = matching.at(told.sent);
    let token = |message: &Message| message.message.pointer("/params/progressToken").cloned();
    if sent.method() != "notifications/progress" {
        return false;
    }
    let same = |one: &Message, other: &Message| one.is_beside(other) && one.post == other.post;
    matching.news.iter().any(|other| {
        let earlier = matching.at(other.sent);
        earlier.frame < sent.frame
            && earlier.method() == sent.method()
            && same(earlier, sent)
            && token(earlier) == token(sent)
            && other
                .received
                .iter()
                .map(|index| matching.at(*index))
                .any(|later| same(later, received) && later.frame > received.frame && token(later) == token(received))
    })
}

/// Of a cancellation: whether the upstream works on the request. It may not have received it, or have responded.
fn is_open_behind(matching: &Matching, sent: &Message) -> bool {
    if sent.method() != "notifications/cancelled" {
        return true;
    }
    matching.cancelled(sent).is_some_and(|pair| {
        let is_over = pair.returned.is_some_and(|returned| matching.at(returned).frame < sent.frame);
        // Without a session, closing the HTTP exchange cancels it.
        let by_message = |copy: &Message| copy.post.is_none() || !copy.revision.is_some_and(Revision::is_modern);
        let copy = pair.received.first().map(|copy| matching.at(*copy));
        copy.is_some_and(|copy| copy.frame < sent.frame && by_message(copy)) && !is_over
    })
}

/// Whether there is a client that the notification is for.
fn is_awaited(matching: &Matching, sent: &Message) -> bool {
    let present = |link: u32| matching.ends.left(link).is_none_or(|left| sent.frame < left);
    let mut links: Vec<u32> =
        matching.messages.iter().filter(|message| !message.behind).map(|message| message.link).collect();
    links.dedup();
    match sent.method() {
        "notifications/resources/updated" => {
            let uri = &sent.message["params"]["uri"];
            links.into_iter().any(|link| present(link) && subscribed(matching, link, uri, sent.frame))
        }
        // A gateway may request progress for itself, and a client that cancelled needs no more of it.
        "notifications/progress" => matching.reported_on(sent).is_some_and(|pair| {
            let request = matching.at(pair.sent);
            request.token().is_some() && present(request.link) && !matching.was_cancelled(request, sent.frame)
        }),
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
pub fn declared<'a>(matching: &Matching<'a>, link: u32) -> Option<&'a Value> {
    let own = |pair: &&Pair| {
        let sent = matching.at(pair.sent);
        sent.link == link && sent.method() == "initialize"
    };
    let response = matching.at(*matching.calls.iter().find(own)?.arrived.first()?);
    response.message.pointer("/result/capabilities")
}

/// The capability of clients that a message is about, if one exists for it.
fn capability(method: &str) -> Option<&'static str> {
    match method {
        "notifications/roots/list_changed" => Some("/roots/listChanged"),
        "roots/list" => Some("/roots"),
        "sampling/createMessage" => Some("/sampling"),
        "elicitation/create" | "notifications/elicitation/complete" => Some("/elicitation"),
        _ => None,
    }
}

/// Whether the gateway declared to the upstream what a message is about, as far as a capability exists for it.
pub fn is_supported(matching: &Matching, message: &Message) -> bool {
    if message.method() == "notifications/cancelled" && message.behind {
        let pair = matching.cancelled(message);
        return pair.is_some_and(|pair| is_supported(matching, matching.at(pair.sent)));
    }
    let Some(capability) = capability(message.method()) else { return true };
    let mut handshakes = matching.messages.iter().filter(|message| message.behind && message.method() == "initialize");
    handshakes.any(|handshake| declares(handshake, capability))
}

/// Whether there is a client that declared the capability for a request of the upstream.
pub fn has_client_for(matching: &Matching, message: &Message, meant: Option<u32>) -> bool {
    let Some(capability) = capability(message.method()) else { return true };
    let mut handshakes = matching.messages.iter().filter(|message| !message.behind && message.method() == "initialize");
    handshakes.any(|handshake| meant.is_none_or(|link| link == handshake.link) && declares(handshake, capability))
}

/// Whether the client that received a request had declared the capability for it.
pub fn is_declared_by_client(matching: &Matching, received: &Message) -> bool {
    let Some(capability) = capability(received.method()) else { return true };
    let is_own = |message: &&&Message| message.link == received.link && message.method() == "initialize";
    matching.messages.iter().find(is_own).is_none_or(|handshake| declares(handshake, capability))
}

fn declares(handshake: &Message, capability: &str) -> bool {
    let declared = handshake.message["params"]["capabilities"].pointer(capability);
    declared.is_some_and(|declared| *declared == true || declared.is_object())
}

/// Whether the gateway had a stream to send it on.
fn has_channel(matching: &Matching, sent: &Message, meant: Option<u32>) -> bool {
    // A request that is open over HTTP has a stream of its own.
    let open = matching.calls.iter().any(|pair| {
        let began = matching.at(pair.sent).frame < sent.frame;
        began && pair.arrived.first().is_none_or(|arrived| matching.at(*arrived).frame > sent.frame)
    });
    let reported = sent.method() == "notifications/progress" && open;
    let is_own = |link: &&u32| matching.messages.iter().any(|message| !message.behind && message.link == **link);
    let mut open = matching.channels.iter().filter(|link| !matching.ends.had_closed(**link, sent.frame)).filter(is_own);
    reported || open.any(|link| meant.is_none_or(|meant| meant == *link))
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
