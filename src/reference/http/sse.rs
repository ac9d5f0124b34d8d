//! HTTP+SSE of 2024-11-05: one stream for all that the server says, one address to post to.

use hyper::{HeaderMap, StatusCode};
use tokio::sync::mpsc::channel;

use crate::reference::{
    http::{
        body::{Reply, empty, event, events},
        hub::{Shared, in_time, lock},
        request::takes_events,
        streams::EVENTS_AHEAD,
    },
    options::Transport,
    session::Session,
    turn::Outgoing,
};

const NAME: &str = "session=";

pub fn get(hub: &Shared, headers: &HeaderMap) -> Reply {
    if !takes_events(headers) {
        return empty(StatusCode::NOT_ACCEPTABLE);
    }
    let (sender, receiver) = channel(EVENTS_AHEAD);
    let name = lock(hub).add_pipe(Session::new(Transport::Sse), sender.clone());
    sender.try_send(event("endpoint", None, format!("/messages?{NAME}{name}").as_bytes())).ok();
    events(receiver)
}

/// The answer to the POST says only that the message arrived; the answer to the message comes on the stream.
pub fn post(shared: &Shared, query: &str, body: &[u8]) -> Reply {
    let mut hub = lock(shared);
    let hub = &mut *hub;
    let name = query.split('&').find_map(|pair| pair.strip_prefix(NAME)).unwrap_or_default();
    let Some(pipe) = hub.pipes.get_mut(name).filter(|pipe| !pipe.events.is_closed()) else {
        return empty(StatusCode::NOT_FOUND);
    };
    let turn = hub.server.receive(&mut pipe.session, body);
    if let Some(request) = &turn.cancelled {
        pipe.jobs.stop(request);
    }
    hub.announce(&turn.changes);
    let Some(pipe) = hub.pipes.get_mut(name) else { return empty(StatusCode::NOT_FOUND) };
    if turn.takes_time() {
        let request = turn.out.iter().find_map(|out| out.id.clone()).unwrap_or_default();
        let events = pipe.events.clone();
        let say = move |out: &Outgoing| events.try_send(event("message", None, &out.bytes)).is_ok();
        pipe.jobs.add(request, 0, tokio::spawn(in_time(turn.out, say)).abort_handle());
    } else {
        for out in &turn.out {
            pipe.events.try_send(event("message", None, &out.bytes)).ok();
        }
    }
    empty(StatusCode::ACCEPTED)
}
