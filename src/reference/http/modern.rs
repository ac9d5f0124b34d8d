//! Streamable HTTP of 2026-07-28: POST alone, every request for itself.

use hyper::{HeaderMap, StatusCode};
use serde_json::Value;
use tokio::sync::mpsc::channel;

use crate::reference::{
    http::{
        body::{Reply, all_events, empty, event, events, json},
        headers,
        hub::{Shared, in_time, lock},
        legacy::is_asking,
        streams::EVENTS_AHEAD,
    },
    message::is_id,
    options::Transport,
    session::Session,
    turn::Outgoing,
};

pub fn post(shared: &Shared, headers: &HeaderMap, value: Value) -> Reply {
    let mut hub = lock(shared);
    let mut session = Session::new(Transport::Http);
    let asks = is_asking(&value);
    let turn = match headers::check(headers, &value, hub.server.faults.ignored_headers()) {
        Ok(()) => hub.server.message(&mut session, value),
        Err(fail) => {
            let id = value.get("id").filter(|id| is_id(id));
            hub.server.refuse(&session, Some(&value), id, fail)
        }
    };
    hub.announce(&turn.changes);
    match turn.out.as_slice() {
        [] if !asks => return empty(StatusCode::ACCEPTED),
        [answer] if answer.after.is_zero() && !turn.open => return json(answer.status, answer.bytes.clone()),
        several if !turn.open && !turn.takes_time() => return all_events(several),
        _ => {}
    }
    let (sender, receiver) = channel(EVENTS_AHEAD);
    if turn.open {
        for out in &turn.out {
            sender.try_send(event("message", None, &out.bytes)).ok();
        }
        hub.add_listener(session, sender);
    } else {
        // A client that closes the stream cancels the request.
        let say = move |out: &Outgoing| sender.try_send(event("message", None, &out.bytes)).is_ok();
        tokio::spawn(in_time(turn.out, say));
    }
    events(receiver)
}
