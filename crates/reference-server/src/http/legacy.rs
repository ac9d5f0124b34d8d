//! Streamable HTTP of 2025-03-26 to 2025-11-25: sessions, resumable event streams, GET and DELETE.

use std::sync::Arc;

use crate::{
    fail::Fail,
    http::{
        body::{Reply, all_events, empty, events, json},
        headers::VERSION,
        hub::{Client, Hub, Shared, in_time, lock},
        request::{takes_events, text},
    },
    message,
    options::Transport,
    session::Session,
    turn::{Outgoing, Turn},
};
use hyper::{HeaderMap, StatusCode};
use serde_json::Value;

pub const SESSION: &str = "mcp-session-id";
/// Means no stream, because streams count from 1.
const NO_STREAM: u64 = 0;
/// Handles `initialize`, the only message that needs no session and may create one.
pub fn open(hub: &Shared, value: Value) -> Reply {
    let mut hub = lock(hub);
    let mut session = Session::new(Transport::Http);
    if hub.server.faults.ways().one_session && !hub.clients.is_empty() {
        return first(hub.server.refuse(&session, None, None, Fail::request("The server is initialized already.")));
    }
    let turn = hub.server.message(&mut session, value);
    let settled = session.revision.is_some();
    let mut reply = match turn.out.as_slice() {
        [answer] => json(answer.status, answer.bytes.clone()),
        several => all_events(several),
    };
    if settled {
        let id = hub.add_client(session);
        if let Ok(id) = id.parse() {
            reply.headers_mut().insert(SESSION, id);
        }
    }
    reply
}

/// Handles a body that is not JSON.
pub fn unreadable(hub: &Shared, headers: &HeaderMap, body: &[u8]) -> Reply {
    let hub = &mut *lock(hub);
    let fresh = Session::new(Transport::Http);
    let client = text(headers, SESSION).and_then(|id| hub.clients.get(id));
    first(hub.server.unreadable(client.map_or(&fresh, |client| &client.session), body))
}

/// Handles any other message.
pub fn post(hub: &Shared, headers: &HeaderMap, value: Value) -> Reply {
    let shared = hub;
    let mut hub = lock(hub);
    let hub = &mut *hub;
    let id = match known(hub, headers) {
        Ok(id) => id,
        Err(refusal) => return refusal.reply(hub),
    };
    let Some(client) = hub.clients.get_mut(&id) else { return empty(StatusCode::NOT_FOUND) };
    let asks = is_asking(&value);
    let mut turn = hub.server.message(&mut client.session, value);
    let cancelled = turn.cancelled.as_ref().filter(|_| !hub.server.faults.answers_cancelled());
    if let Some(stream) = cancelled.and_then(|request| client.resume(request)) {
        client.streams.finish(stream);
    }
    for answer in &turn.settled {
        if let Some(stream) = answer.id.as_ref().and_then(|request| client.resume(request)) {
            client.streams.say(stream, &answer.bytes);
            client.streams.finish(stream);
        }
    }
    hub.announce(&turn.changes);
    let Some(client) = hub.clients.get_mut(&id) else { return empty(StatusCode::NOT_FOUND) };
    follow_up(shared, &id, client, std::mem::take(&mut turn.later));
    if let Some(stream) = turn.resumed.as_ref().and_then(|request| client.resume(request)) {
        go_on(client, stream, &turn);
        return empty(StatusCode::ACCEPTED);
    }
    match turn.out.as_slice() {
        [] if !asks => empty(StatusCode::ACCEPTED),
        [answer] if answer.after.is_zero() && !turn.open => json(answer.status, answer.bytes.clone()),
        _ => stream(shared, id, client, turn),
    }
}

/// Sends messages after the response, on the stream for messages without a request.
fn follow_up(shared: &Shared, session: &str, client: &mut Client, later: Vec<Outgoing>) {
    let Some(request) = later.first().and_then(|out| out.id.clone()) else { return };
    let (hub, session) = (Arc::clone(shared), session.to_owned());
    let say = move |out: &Outgoing| match lock(&hub).clients.get_mut(&session) {
        Some(client) => {
            client.streams.say_generally(out.bytes.clone());
            true
        }
        None => false,
    };
    client.jobs.add(request, NO_STREAM, tokio::spawn(in_time(later, say)).abort_handle());
}

/// Responds with an event stream. The work continues when the client disconnects, because it may resume the stream.
fn stream(shared: &Shared, session: String, client: &mut Client, turn: Turn) -> Reply {
    let (number, receiver) = client.streams.open(false, primes(client));
    if turn.open || !turn.takes_time() {
        go_on(client, number, &turn);
        return events(receiver);
    }
    let request = turn.out.iter().find_map(|out| out.id.clone()).unwrap_or_default();
    let hub = Arc::clone(shared);
    let task = tokio::spawn(async move {
        let say = |out: &Outgoing| match lock(&hub).clients.get_mut(&session) {
            Some(client) => {
                client.streams.say(number, &out.bytes);
                true
            }
            None => false,
        };
        in_time(turn.out, say).await;
        if let Some(client) = lock(&hub).clients.get_mut(&session) {
            client.streams.finish(number);
        }
    });
    client.jobs.add(request, number, task.abort_handle());
    events(receiver)
}

/// Sends the messages of a request on its stream, which stays open while the client has to respond first.
fn go_on(client: &mut Client, stream: u64, turn: &Turn) {
    turn.out.iter().for_each(|out| client.streams.say(stream, &out.bytes));
    if turn.open {
        client.waiting.extend(turn.out.iter().find_map(|out| out.id.clone()).map(|request| (request, stream)));
    } else {
        client.streams.finish(stream);
    }
}

/// The stream for messages without a request, or a resumed one.
pub fn get(hub: &Shared, headers: &HeaderMap) -> Reply {
    let mut hub = lock(hub);
    let id = match known(&hub, headers) {
        Ok(id) => id,
        Err(refusal) => return refusal.reply(&mut hub),
    };
    let one_get_stream = hub.server.faults.ways().one_get_stream;
    let Some(client) = hub.clients.get_mut(&id) else { return empty(StatusCode::NOT_FOUND) };
    if !takes_events(headers) {
        return empty(StatusCode::NOT_ACCEPTABLE);
    }
    if one_get_stream && client.streams.is_listened_to() {
        return empty(StatusCode::CONFLICT);
    }
    let resumed = text(headers, "last-event-id").and_then(|last| client.streams.resume(last));
    events(resumed.unwrap_or_else(|| client.streams.open(true, primes(client)).1))
}

pub fn delete(hub: &Shared, headers: &HeaderMap) -> Reply {
    let mut hub = lock(hub);
    match known(&hub, headers) {
        Ok(id) => {
            hub.clients.shift_remove(&id);
            empty(StatusCode::OK)
        }
        Err(refusal) => refusal.reply(&mut hub),
    }
}

/// Why a request has no session.
enum Refusal {
    Malformed(&'static str),
    Ended,
}

impl Refusal {
    fn reply(&self, hub: &mut Hub) -> Reply {
        let Self::Malformed(why) = self else { return empty(StatusCode::NOT_FOUND) };
        let session = Session::new(Transport::Http);
        first(hub.server.refuse(&session, None, None, Fail::request(*why)))
    }
}

/// The session of a request, if its headers are valid.
fn known(hub: &Hub, headers: &HeaderMap) -> Result<String, Refusal> {
    let id = text(headers, SESSION).ok_or(Refusal::Malformed("The header Mcp-Session-Id is missing."))?;
    let client = hub.clients.get(id).ok_or(Refusal::Ended)?;
    // The header was added in 2025-06-18; sessions of older revisions do not have it.
    let revision = client.session.revision.filter(|revision| revision.features().version_header);
    match revision {
        Some(revision) if headers.get(VERSION).is_some_and(|version| version != revision.as_str()) => {
            Err(Refusal::Malformed("The header MCP-Protocol-Version names another version than the session has."))
        }
        _ => Ok(id.to_owned()),
    }
}

fn first(turn: Turn) -> Reply {
    turn.out.into_iter().next().map_or_else(|| empty(StatusCode::BAD_REQUEST), |out| json(out.status, out.bytes))
}

fn primes(client: &Client) -> bool {
    client.session.revision.is_some_and(|revision| revision.features().primed_streams)
}

/// Whether the message needs a response.
pub fn is_asking(value: &Value) -> bool {
    match value {
        Value::Array(batch) => batch.is_empty() || batch.iter().any(is_asking),
        value => match message::classify(value) {
            message::Incoming::Call(call) => call.id.is_some(),
            message::Incoming::Response => false,
            message::Incoming::Invalid { .. } => true,
        },
    }
}
