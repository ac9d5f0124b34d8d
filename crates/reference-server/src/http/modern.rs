//! Streamable HTTP of 2026-07-28: only POST, and every request is independent.

use std::{sync::Arc, time::Duration};

use hyper::{HeaderMap, StatusCode};
use serde_json::Value;
use tokio::{sync::mpsc::channel, time::sleep};

use crate::{
    faults::Streaming,
    http::{
        body::{Reply, all_events, empty, event, events, json},
        headers,
        hub::{Shared, in_time, lock},
        legacy::is_asking,
        request::text,
        streams::EVENTS_AHEAD,
    },
    message::is_id,
    options::Transport,
    session::Session,
    turn::{Outgoing, Turn},
};
use conform_model::revision::Revision;

/// How long a stream that should be closed stays open.
const LINGERING: Duration = Duration::from_secs(10);

pub fn post(shared: &Shared, headers: &HeaderMap, value: Value, overlooked: &[String]) -> Reply {
    let mut hub = lock(shared);
    let mut session = Session::new(Transport::Http);
    let asks = is_asking(&value);
    let turn = match headers::check(headers, &value, overlooked) {
        Ok(()) => hub.server.message(&mut session, value),
        Err(fail) => {
            let id = value.get("id").filter(|id| is_id(id));
            hub.server.refuse(&session, Some(&value), id, fail)
        }
    };
    drop(hub);
    carry(shared, session, turn, asks)
}

/// A legacy message to a server without sessions: each creates and ends a session.
pub fn sessionless(shared: &Shared, headers: &HeaderMap, value: Value) -> Reply {
    let mut session = Session::new(Transport::Http);
    if value["method"] != "initialize" {
        let named = text(headers, headers::VERSION).map_or(Ok(Revision::V2025_03_26), str::parse);
        let Ok(revision) = named else { return empty(StatusCode::BAD_REQUEST) };
        session.revision = Some(revision);
    }
    let asks = is_asking(&value);
    let turn = lock(shared).server.message(&mut session, value);
    carry(shared, session, turn, asks)
}

fn carry(shared: &Shared, session: Session, turn: Turn, asks: bool) -> Reply {
    let mut hub = lock(shared);
    hub.announce(&turn.changes);
    if turn.open && hub.server.faults.cuts_streams() {
        return all_events(&turn.out);
    }
    let streaming = hub.server.faults.streaming();
    match turn.out.as_slice() {
        [] if !asks => return empty(StatusCode::ACCEPTED),
        [answer] if answer.after.is_zero() && !turn.open => return json(answer.status, answer.bytes.clone()),
        several if !turn.open && !turn.takes_time() && streaming.is_none() => return all_events(several),
        _ => {}
    }
    let (sender, receiver) = channel(EVENTS_AHEAD);
    if turn.open {
        for out in &turn.out {
            sender.try_send(event("message", None, &out.bytes)).ok();
        }
        hub.add_listener(session, sender);
    } else {
        let hub = Arc::clone(shared);
        tokio::spawn(async move {
            let say = |out: &Outgoing| match sender.try_send(event("message", None, &out.bytes)) {
                Err(_) if streaming == Some(Streaming::Redirects) => {
                    lock(&hub).tell_listeners(&out.bytes);
                    true
                }
                // A client that closes the stream cancels the request.
                said => said.is_ok() && streaming != Some(Streaming::Breaks),
            };
            in_time(turn.out, say).await;
            if streaming == Some(Streaming::Lingers) {
                sleep(LINGERING).await;
            }
        });
    }
    events(receiver)
}
