//! The items of `$passed`.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    differences::{Difference, LISTS, differences},
    isolation::SameId,
    lists,
    matching::{Index, Matching, Pair},
    messages::Message,
    opaque::Opaque,
    open::{has_failed, has_waited, is_kept, is_unanswered, lacks_id},
    skills,
    told::{declared, has_client_for, is_declared_by_client, is_supported, notification},
};
use crate::exchange::Origin;
use conform_model::evidence::{Kind, Side};

/// A message that one end sent, with its copy at the other end.
#[derive(Serialize)]
pub struct Passed<'a> {
    kind: &'static str,
    method: &'a str,
    params: Value,
    from: Side,
    message: &'a Value,
    pub received: Option<&'a Value>,
    received_kind: &'static str,
    pub times: usize,
    pub others: usize,
    bytes: usize,
    same_revision: bool,
    link: Option<u32>,
    pub channel: bool,
    frames: Vec<u64>,
    pub origin: Origin,
    pub differences: Vec<Difference>,
    #[serde(flatten)]
    request: Option<OfRequest<'a>>,
    #[serde(flatten)]
    pub notification: Option<OfNotification>,
}

/// What only a request has.
#[derive(Serialize)]
struct OfRequest<'a> {
    response: &'static str,
    responses: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<&'a Value>,
    failed: bool,
    /// Whether the client got a result although the upstream failed.
    invented: bool,
    /// Of a client's request: whether the process of the upstream had exited before.
    exited: bool,
    not_found: bool,
    unanswered: bool,
    waited: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<bool>,
    /// Of a client's request for a list that has changed: whether the client received the old one.
    #[serde(skip_serializing_if = "Option::is_none")]
    outdated: Option<bool>,
    /// Of a request of the upstream: whether the gateway declared the capability for it.
    wanted: bool,
    /// Whether its sender cancelled it.
    cancelled: bool,
    /// Of a request that a client received: whether that client had declared the capability for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    declared: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_in_use: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_lost: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_repeated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Vec<Value>>,
    /// Whether an entry in front had its URI.
    listed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<Value>,
}

/// What only a notification has.
#[derive(Default, Serialize)]
pub struct OfNotification {
    pub wanted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disordered: Option<bool>,
    /// Of progress: whether the client's request had a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overtaken: Option<bool>,
}

pub fn items<'a>(matching: &Matching<'a>) -> Vec<Passed<'a>> {
    let opaque = Opaque::of(matching);
    let mut items = Vec::new();
    for pair in &matching.calls {
        let SameId { in_use, other_result } = SameId::of(matching, pair);
        let (mut asked, mut returned) = (request(matching, pair, &opaque), response(matching, pair));
        // It differs because it belongs to another request.
        returned.iter_mut().filter(|_| other_result.is_some()).for_each(|returned| returned.differences.clear());
        if let Some(request) = &mut asked.request {
            (request.id_in_use, request.other_result) = (Some(in_use), other_result);
        }
        items.push(asked);
        items.extend(returned);
    }
    for pair in &matching.asked {
        let expected = matching.meant_for(pair.sent);
        let elsewhere =
            pair.received.iter().filter(|index| expected.is_some_and(|link| matching.at(**index).link != link));
        items.push(Passed { others: elsewhere.count(), channel: true, ..request(matching, pair, &opaque) });
        items.extend(response(matching, pair));
    }
    items.extend(matching.news.iter().map(|told| notification(matching, told)));
    items.extend(matching.said.iter().map(|told| notification(matching, told)));
    // A gateway between two revisions has to translate.
    items.iter_mut().filter(|item| !item.same_revision).for_each(|item| item.differences.clear());
    items.sort_by_key(|item| item.origin.frame);
    items
}

/// What all items have.
pub fn item<'a>(
    matching: &Matching<'a>,
    kind: &'static str,
    about: &'a Message,
    sent: Index,
    received: &[Index],
) -> Passed<'a> {
    let message = matching.at(sent);
    let first = received.first().map(|index| matching.at(*index));
    let mut params = json!({});
    for name in ["uri", "name"] {
        if let Some(value) = about.message["params"].get(name) {
            params[name] = value.clone();
        }
    }
    let frames = received.iter().map(|index| matching.at(*index).frame).take(3);
    let (front, behind) = if message.behind { (first, Some(message)) } else { (Some(message), first) };
    Passed {
        kind,
        method: about.method(),
        params,
        from: message.from,
        message: &message.message,
        received: first.map(|first| &first.message),
        received_kind: first.map_or("nothing", Message::word),
        times: received.len(),
        others: 0,
        bytes: message.message.to_string().len(),
        same_revision: same_revision(matching, front, behind),
        link: front.map(|front| front.link),
        channel: front.is_none_or(|front| matching.channels.contains(&front.link)),
        frames: std::iter::once(message.frame).chain(frames).collect(),
        origin: origin(message, first),
        differences: Vec::new(),
        request: None,
        notification: None,
    }
}

/// The message as it was received, after the one that was sent.
pub fn origin(sent: &Message, received: Option<&Message>) -> Origin {
    let Message { frame, pointer, .. } = received.unwrap_or(sent);
    Origin { frame: *frame, pointer: pointer.clone(), to: received.map(|_| sent.frame) }
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

fn request<'a>(matching: &Matching<'a>, pair: &Pair, opaque: &Opaque) -> Passed<'a> {
    let sent = matching.at(pair.sent);
    let mut item = item(matching, "request", sent, pair.sent, &pair.received);
    let arrived = pair.arrived.first().map(|index| matching.at(*index));
    let request = item.request.insert(OfRequest {
        response: arrived.map_or("nothing", Message::word),
        responses: pair.arrived.len(),
        reply: arrived.map(|arrived| &arrived.message),
        failed: has_failed(matching, pair),
        invented: has_failed(matching, pair) && arrived.is_some_and(is_success),
        exited: matching.ends.upstream_had_exited(sent, !pair.received.is_empty()),
        not_found: arrived
            .is_some_and(|arrived| arrived.is_not_found(sent) || lists::is_unlisted(matching, sent, arrived))
            || matching.ends.ended_session(sent),
        unanswered: is_unanswered(matching, pair),
        waited: has_waited(matching, pair),
        kept: is_kept(matching, pair),
        outdated: lists::is_outdated(matching, pair),
        wanted: !sent.behind
            || is_supported(matching, sent) && has_client_for(matching, sent, matching.meant_for(pair.sent)),
        cancelled: matching.was_cancelled(sent, u64::MAX),
        declared: None,
        id_in_use: None,
        other_result: None,
        token_lost: None,
        id_repeated: None,
        missing: skills::missing(matching, pair),
        listed: skills::listed(matching, sent),
        file: skills::file(matching, sent),
    });
    let Some(received) = pair.received.first().map(|index| matching.at(*index)) else { return item };
    let failed = pair.received.iter().filter(|index| matching.ends.has_failed(matching.at(**index))).count();
    item.times = (pair.received.len() - failed).max(1);
    // What the gateway did not declare, the upstream should not have sent.
    let is_due = sent.behind && is_supported(matching, sent);
    request.declared = is_due.then(|| is_declared_by_client(matching, received));
    request.token_lost = Some(sent.token().is_some() && received.token().is_none());
    // Each copy counts, besides one that is sent again because it got an error status. A party that repeats its own ids
    // shows nothing.
    let repeats = |message: &Message| {
        let mut earlier = matching.messages.iter().take_while(|earlier| earlier.frame < message.frame);
        earlier.any(|earlier| {
            earlier.kind() == Kind::Request
                && earlier.from == message.from
                && earlier.is_beside(message)
                && earlier.id() == message.id()
                && !matching.ends.has_failed(earlier)
        })
    };
    let is_repeated = pair.received.iter().any(|index| repeats(matching.at(*index)));
    request.id_repeated = Some(is_repeated && !repeats(sent));
    let mut found = differences(&sent.message, &received.message);
    if begins(sent) {
        found.retain(|difference| difference.part == "capabilities");
    }
    opaque.correct(&mut found, sent, received);
    item.differences = found;
    item
}

/// Whether it is a result of something that did not fail.
fn is_success(response: &Message) -> bool {
    response.message.get("result").is_some_and(|result| result["isError"] != true)
}

/// A gateway has a handshake of its own on each side.
pub fn begins(message: &Message) -> bool {
    matches!(message.method(), "initialize" | "server/discover")
}

/// What was returned, if its sender had received the request.
fn response<'a>(matching: &Matching<'a>, pair: &Pair) -> Option<Passed<'a>> {
    let returned = pair.returned?;
    let (sent, asked) = (matching.at(returned), matching.at(pair.sent));
    // A gateway may drop the response for a client that disconnected. One that is slow may have it still.
    let gone = matching.ends.left(asked.link).is_some_and(|left| left < sent.frame);
    let client = if asked.behind { sent } else { asked };
    let is_over = gone || !matching.ends.stayed(client, sent.at);
    // What a client receives for a request that it cancelled may be the gateway's own.
    if matching.was_cancelled(asked, u64::MAX) || pair.arrived.is_empty() && is_over && !lacks_id(matching, asked) {
        return None;
    }
    // In revisions with a handshake the body of an error status need not be the response to a request.
    let is_modern = sent.revision.is_some_and(|revision| revision.features().stateless);
    if !pair.arrived.is_empty() && matching.ends.has_failed(sent) && !is_modern {
        return None;
    }
    let mut item = item(matching, sent.word(), asked, returned, &pair.arrived);
    let received = pair.arrived.first().map(|index| matching.at(*index));
    let Some(received) = received.filter(|received| sent.word() == received.word()) else { return Some(item) };
    let mut found = differences(&sent.message, &received.message);
    // Without tasks, how a tool is run as one says what the gateway cannot do.
    if sent.behind && declared(matching, asked.link).is_some_and(|declared| declared.get("tasks").is_none()) {
        found.retain(|difference| !lists::is_of_tasks(&difference.path));
    }
    if begins(asked) {
        found.retain(|difference| matches!(difference.part.as_str(), "capabilities" | "instructions"));
    }
    // A gateway may collect the pages of its upstream.
    let count = |message: &Message, list: &str| message.message["result"][list].as_array().map(Vec::len);
    let collected = LISTS.iter().any(|list| count(received, list) > count(sent, list));
    found.retain(|difference| {
        let is_page = collected && (difference.part == "nextCursor" || LISTS.contains(&difference.part.as_str()));
        !is_page && !Opaque::is_replaced(difference)
    });
    item.differences = found;
    Some(item)
}
