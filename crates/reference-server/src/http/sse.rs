//! HTTP+SSE of 2024-11-05: one stream for all messages of the server, one URL for all messages of the client.

use hyper::{HeaderMap, StatusCode, body::Bytes};
use serde_json::Value;
use tokio::sync::mpsc::channel;

use crate::{
    faults::Misroute,
    http::{
        body::{Reply, accepted, empty, event, events, json},
        hub::{Hub, Shared, in_time, lock},
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
    let endpoint = format!("/messages?{NAME}{name}");
    let opening = lock(hub).server.faults.opening(&endpoint).map(Bytes::from);
    sender.try_send(opening.unwrap_or_else(|| event("endpoint", None, endpoint.as_bytes()))).ok();
    events(receiver)
}

/// The response to the POST only confirms that the message arrived; the response to the message is on the stream.
pub fn post(shared: &Shared, query: &str, body: &[u8]) -> Reply {
    let mut hub = lock(shared);
    let hub = &mut *hub;
    let name = query.split('&').find_map(|pair| pair.strip_prefix(NAME)).unwrap_or_default();
    let Some(name) = addressee(hub, name) else { return empty(StatusCode::NOT_FOUND) };
    if serde_json::from_slice(body).is_ok_and(|message| hub.server.faults.ends_stream(&message)) {
        hub.pipes.shift_remove(&name);
        return accepted();
    }
    let Some(pipe) = hub.pipes.get_mut(&name) else { return empty(StatusCode::ACCEPTED) };
    let mut turn = hub.server.receive(&mut pipe.session, body);
    turn.out.append(&mut turn.settled);
    turn.out.append(&mut turn.later);
    if let Some(request) = turn.cancelled.as_ref().filter(|_| !hub.server.faults.answers_cancelled()) {
        pipe.jobs.stop(request);
    }
    hub.announce(&turn.changes);
    let method = serde_json::from_slice::<Value>(body).unwrap_or_default()["method"].as_str().map(str::to_owned);
    let event_name =
        hub.server.faults.event_name().unwrap_or("message").replace("$method", &method.unwrap_or_default());
    if let (Some(Misroute::InBody), [answer]) = (hub.server.faults.misroutes(), turn.out.as_slice()) {
        return json(answer.status, answer.bytes.clone());
    }
    let Some(pipe) = hub.pipes.get_mut(&name) else { return empty(StatusCode::NOT_FOUND) };
    if turn.takes_time() {
        let request = turn.out.iter().find_map(|out| out.id.clone()).unwrap_or_default();
        let events = pipe.events.clone();
        let say = move |out: &Outgoing| events.try_send(event(&event_name, None, &out.bytes)).is_ok();
        pipe.jobs.add(request, 0, tokio::spawn(in_time(turn.out, say)).abort_handle());
    } else {
        for out in &turn.out {
            pipe.events.try_send(event(&event_name, None, &out.bytes)).ok();
        }
    }
    accepted()
}

/// The name of the stream of a message; `None` if it is closed.
fn addressee(hub: &Hub, name: &str) -> Option<String> {
    let live = |name: &&String| hub.pipes.get(*name).is_some_and(|pipe| !pipe.events.is_closed());
    let own = Some(name.to_owned()).filter(|name| live(&name));
    match hub.server.faults.misroutes() {
        None | Some(Misroute::InBody) => own,
        Some(Misroute::NoMore) => own.filter(|_| hub.pipes.values().all(|pipe| !pipe.events.is_closed())),
        Some(Misroute::Newest) => hub.pipes.keys().next_back().cloned(),
        Some(Misroute::Any) => own.or_else(|| hub.pipes.keys().find(live).cloned()),
        Some(Misroute::Nowhere) => Some(own.unwrap_or_default()),
    }
}
