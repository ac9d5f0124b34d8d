//! Dispatches incoming messages: replies to their waiters, notifications to the log, and responses to server requests.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{
    headers::protocol_headers,
    resume,
    shared::{Shared, is_chatter},
    subscription::{Subscription, tag},
    waiter::{Arrived, Outcome, Seen, Waiter},
};
use conform_model::evidence::{
    HttpStatus, Manner, Reason,
    correlate::{Circumstances, correlate, id_of},
};
use conform_wire::{Envelope, Incoming};

/// Maximum number of notifications kept for `await`; further ones are only in the transcript.
const NOTIFICATIONS_KEPT: usize = 10_000;

/// Maximum number of server requests kept per request.
const WANTED_KEPT: usize = 100;
/// A model that requests tools repeatedly stops after this many.
const TIRED_AFTER: usize = 60;
/// A user who repeatedly gets the same form cancels after this many.
const GONE_AFTER: usize = 30;

/// Maximum number of responses kept without an open request; only the handshake uses them.
const UNCLAIMED_KEPT: usize = 8;

/// Runs until the wire closes.
pub async fn pump(shared: Arc<Shared>, mut inbox: mpsc::Receiver<Incoming>) {
    while let Some(incoming) = inbox.recv().await {
        match incoming {
            Incoming::Message { frame, message: Value::Array(batch), post } => {
                for message in batch {
                    take(&shared, frame, message, post);
                }
            }
            Incoming::Message { frame, message, post } => take(&shared, frame, message, post),
            Incoming::Junk { frame, post: None, why, id } => unread(&shared, frame, &why, id.as_ref()),
            Incoming::Junk { frame, post, why, .. } => {
                // Over HTTP+SSE, many servers acknowledge a message with text.
                let says_accepted = |waiter: &&mut Waiter| {
                    shared.wire.transport().capabilities().endpoint
                        && waiter.seen.http.as_ref().is_some_and(|http| http.status < 300)
                };
                let mut state = shared.state();
                let carried = state.waiters.iter_mut().find(|waiter| waiter.post == post);
                if let Some(waiter) = carried.filter(|waiter| !says_accepted(waiter)) {
                    waiter.seen.junk = Some((frame, why));
                }
            }
            Incoming::Head { post, status, .. } => head(&shared, post, status),
            Incoming::Endpoint { post, url } => begun(&shared, post, |seen| seen.endpoint = Some(url)),
            Incoming::Document { frame, post, document } => {
                if let Some(waiter) = shared.state().waiters.iter_mut().find(|w| post.is_some() && w.post == post) {
                    waiter.seen.document = Some((frame, document));
                }
            }
            Incoming::PostDone { post, failure } => done(&shared, post, failure),
            Incoming::Closed { why, exit } => {
                shared.state().exit = exit;
                close(&shared, &why);
                break;
            }
        }
    }
    close(&shared, "the connection ended");
}

/// Ends every wait: nothing more will arrive.
pub fn close(shared: &Shared, why: &str) {
    let mut state = shared.state();
    let why = state.closed.get_or_insert_with(|| why.to_owned()).clone();
    for waiter in state.waiters.drain(..) {
        // The receiver is dropped if its timeout expired first.
        let _ = waiter.tell.send((Outcome::Closed(why.clone()), waiter.seen));
    }
    drop(state);
    shared.arrived.notify_waiters();
}

fn head(shared: &Shared, post: u64, status: HttpStatus) {
    let media = status.headers.get("content-type").map(|media| media.trim_start().to_ascii_lowercase());
    let streams = status.status < 300 && media.is_some_and(|media| media.starts_with("text/event-stream"));
    if let Some(waiter) = shared.state().waiters.iter_mut().find(|waiter| waiter.post == Some(post)) {
        waiter.seen.http = Some(status);
    }
    // An HTTP+SSE stream begins when it names its endpoint.
    if streams && shared.wire.transport().capabilities().stream_per_request {
        begun(shared, post, |_| {});
    }
}

/// An event stream has begun. A waiter that only waits for that is finished, and closes the stream.
fn begun(shared: &Shared, post: u64, note: impl FnOnce(&mut Seen)) {
    let mut state = shared.state();
    let Some(index) = state.waiters.iter().position(|waiter| waiter.post == Some(post) && waiter.opens) else { return };
    let Waiter { mut seen, tell, .. } = state.waiters.swap_remove(index);
    drop(state);
    note(&mut seen);
    shared.wire.abandon(post);
    let _ = tell.send((Outcome::Open, seen));
}

fn take(shared: &Shared, frame: u64, message: Value, post: Option<u64>) {
    let (has_id, method) = (message.get("id").is_some(), message.get("method").and_then(Value::as_str));
    match method {
        Some(_) if has_id => answer(shared, frame, &message, post),
        Some(_) => note(shared, frame, message, post),
        None => respond(shared, frame, message, post),
    }
}

/// Responds to a server request. Not in a revision without server requests, and not to a null id: the server's error
/// for such a response would have no id, and look like an error for another request.
fn answer(shared: &Shared, frame: u64, request: &Value, post: Option<u64>) {
    let mut state = shared.state();
    let (revision, session_id) = (state.revision, state.session_id.clone());
    let wanted = json!({ "method": request["method"], "params": request["params"] });
    // Over stdio, it cannot be attributed to one of the open requests.
    let tied = post.is_some() && state.waiters.iter().any(|waiter| waiter.post == post);
    let keeps = state.may_keep(request);
    for waiter in state.waiters.iter_mut().filter(|waiter| keeps && (!tied || waiter.post == post)) {
        if waiter.seen.wanted.len() < WANTED_KEPT {
            waiter.seen.wanted.push(wanted.clone());
        }
    }
    let manner = state.manner.map(|manner| match manner {
        Manner::Accept => manner,
        Manner::Tireless if state.before < TIRED_AFTER => manner,
        Manner::Tireless => Manner::Accept,
        _ if state.before < GONE_AFTER => manner,
        _ => Manner::Cancel,
    });
    let before = state.before;
    state.before += 1;
    if keeps && state.notifications.len() < NOTIFICATIONS_KEPT {
        state.notifications.push(Arrived { frame, message: request.clone() });
    }
    drop(state);
    shared.arrived.notify_waiters();
    if revision.is_some_and(conform_model::revision::Revision::is_modern) || request["id"].is_null() {
        return;
    }
    let answer = shared.profile.respond(request, manner, before);
    let headers = protocol_headers(revision, session_id.as_deref(), &answer);
    // If the connection is closed by now, its waiters notice.
    let _ = shared.wire.send(&Envelope { by: "answer".into(), headers }, &answer);
}

/// Handles a line that exceeds a limit and may be a response. Without its id, it may be that of any request that times
/// out.
fn unread(shared: &Shared, frame: u64, why: &Reason, id: Option<&Value>) {
    if !why.is_limit() {
        return;
    }
    let mut state = shared.state();
    let Some(index) = state.waiters.iter().position(|waiter| id.is_some() && waiter.id.as_ref() == id) else {
        state.waiters.iter_mut().for_each(|waiter| waiter.seen.junk = Some((frame, why.clone())));
        return;
    };
    state.answered += 1;
    state.silent = false;
    let waiter = state.waiters.swap_remove(index);
    let _ = waiter.tell.send((Outcome::Done { junk: Some((frame, why.clone())), failure: None }, waiter.seen));
}

fn note(shared: &Shared, frame: u64, message: Value, post: Option<u64>) {
    let mut state = shared.state();
    let acknowledges =
        message.get("method").and_then(Value::as_str) == Some("notifications/subscriptions/acknowledged");
    let tag = tag(&message);
    let exact = state.waiters.iter().position(|waiter| match post {
        Some(_) => waiter.post == post,
        None => {
            (waiter.subscription && tag.is_some() && tag == waiter.id.as_ref()) || tag_of_progress(&message, waiter)
        }
    });
    // An acknowledgement with a wrong tag still belongs to the subscription that waits for it.
    let waited_for = || state.waiters.iter().position(|waiter| acknowledges && waiter.subscription && post.is_none());
    let owner = exact.or_else(waited_for);
    let keeps = state.may_keep(&message);
    if let Some(index) = owner {
        let seen = &mut state.waiters[index].seen;
        if keeps {
            seen.notifications.push(message.clone());
            seen.frames.push(frame);
        }
        if acknowledges && state.waiters[index].subscription {
            let waiter = state.waiters.swap_remove(index);
            state.subscriptions.push(Subscription::of(&waiter, true));
            let _ = waiter.tell.send((Outcome::Open, waiter.seen));
        }
    } else if keeps {
        state.subscriptions.iter_mut().for_each(|subscription| subscription.note(frame, &message, post));
    }
    let room = if is_chatter(&message) { NOTIFICATIONS_KEPT / 2 } else { NOTIFICATIONS_KEPT };
    if keeps && state.notifications.len() < room {
        state.notifications.push(Arrived { frame, message });
    }
    drop(state);
    shared.arrived.notify_waiters();
}

/// Over stdio, only a progress token links a notification to its request.
fn tag_of_progress(message: &Value, waiter: &Waiter) -> bool {
    let token = message.pointer("/params/progressToken");
    token.is_some() && (token == waiter.id.as_ref() || token == waiter.token.as_ref())
}

fn respond(shared: &Shared, frame: u64, message: Value, post: Option<u64>) {
    let mut state = shared.state();
    // A waiter that timed out must not take the response to another request.
    state.waiters.retain(|waiter| !waiter.tell.is_closed());
    let id = id_of(&message);
    if id.is_none() && shared.profile.needs_ids {
        return;
    }
    let waited_for = |w: &Waiter| (post.is_some() && w.post == post) || (id.is_some() && w.id.as_ref() == id);
    if !state.waiters.iter().any(waited_for)
        && state.subscriptions.iter_mut().any(|subscription| subscription.respond(frame, &message, post))
    {
        return;
    }
    let given_up = state.given_up.iter().find(|(given_up, _)| Some(given_up) == id);
    if given_up.is_some_and(|(_, awaited)| *awaited) {
        shared.known.unanswered.late();
    }
    let circumstances = Circumstances {
        transport: shared.wire.transport(),
        exchange: post,
        late: given_up.is_some(),
        strange: id.is_none_or(|id| !state.used.contains(&id.to_string())),
    };
    let old = state.set_aside();
    let requests: Vec<_> = state.waiters.iter().map(Waiter::request).collect();
    let found = correlate(&message, &requests, &state.loose, circumstances);
    if found.is_none() {
        state.loose.take(&message);
    }
    state.loose.unreadable += old;
    let Some((index, _)) = found else {
        if state.unclaimed.len() < UNCLAIMED_KEPT && state.may_keep(&message) {
            state.unclaimed.push(message);
        }
        return;
    };
    state.answered += 1;
    state.silent = false;
    let Waiter { number, unidentified, whole_exchange, .. } = state.waiters[index];
    state.loose.responded(number, number);
    state.loose.unreadable -= usize::from(unidentified.is_some() && state.loose.unreadable > 0);
    if whole_exchange {
        state.waiters[index].seen.response = Some((frame, message));
        return;
    }
    let waiter = state.waiters.swap_remove(index);
    let _ = waiter.tell.send((Outcome::Response { frame, message }, waiter.seen));
}

fn done(shared: &Arc<Shared>, post: u64, failure: Option<Reason>) {
    let mut state = shared.state();
    let Some(index) = state.waiters.iter().position(|waiter| waiter.post == Some(post)) else {
        state.subscriptions.iter_mut().for_each(|subscription| subscription.done(post));
        return;
    };
    let accepted = state.waiters[index].seen.http.as_ref().is_none_or(|http| http.status < 300) && failure.is_none();
    if shared.wire.transport().capabilities().endpoint && accepted && !state.waiters[index].whole_exchange {
        // The reply arrives on the event stream.
        return;
    }
    let (revision, in_order) = (state.revision, failure.is_none());
    if let Some(place) = resume::leave(&mut state.waiters[index], post, in_order, revision, &shared.wire) {
        tokio::spawn(resume::resume(Arc::downgrade(shared), place));
        return;
    }
    let Waiter { mut seen, tell, .. } = state.waiters.swap_remove(index);
    let outcome = match seen.response.take() {
        Some((frame, message)) => Outcome::Response { frame, message },
        None => Outcome::Done { junk: seen.junk.take(), failure },
    };
    let _ = tell.send((outcome, seen));
}
