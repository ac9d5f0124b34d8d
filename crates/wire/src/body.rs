//! The body of an HTTP response: one message, a stream of messages, or something else that is recorded unchanged.

use reqwest::{
    Response, StatusCode,
    header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName},
};

use serde_json::Value;

use super::{
    Incoming,
    channel::Carrier,
    event_stream::{Block, EventStream},
    exchange::Role,
    failure,
    http::Core,
};
use conform_model::evidence::{Cause, Ended, Event, Reason};

/// How much is kept of an event stream before its first event.
const BEGINNING: usize = 4096;

/// `Err`: why the body was cut off, or why it is not an event stream although it has to be.
pub async fn take(core: &Core, response: Response, carrier: Carrier, role: &mut Role) -> Result<(), Reason> {
    let status = response.status();
    let media = text(&response, CONTENT_TYPE).map(|media| essence(&media));
    let refused = matches!(status.as_u16(), 401 | 403);
    let must_stream = matches!(role, Role::Stream(_));
    if media.as_deref() == Some("text/event-stream") && (status.is_success() || !must_stream) {
        return events(core, response, carrier, role).await;
    }
    let encoding = text(&response, CONTENT_ENCODING);
    let why = match (&encoding, media.as_deref()) {
        (Some(encoding), _) => Some(format!("encoded as {encoding}, which the client did not accept")),
        (None, Some("application/json")) => None,
        (None, Some(media)) => Some(format!("{media} is neither application/json nor text/event-stream")),
        (None, None) => Some("no content type".to_owned()),
    };
    let body = whole(core, response, carrier).await?;
    match why {
        _ if body.is_empty() => {}
        _ if matches!(role, Role::Document) => core.channel.document(carrier, &body).await,
        // A response that denies access can have any body.
        _ if refused && !core.channel.read(&body).as_ref().is_some_and(is_message) => {
            core.channel.document(carrier, &body).await;
        }
        None => _ = core.channel.received(carrier, &body, &[], None).await,
        // A message is accepted with any content type; a rule about content types reports the wrong one.
        _ if matches!(role, Role::Usual)
            && status.is_success()
            && encoding.is_none()
            && core.channel.read(&body).as_ref().is_some_and(answers) =>
        {
            core.channel.received(carrier, &body, &[], None).await;
        }
        Some(_) if matches!(role, Role::Message) && status.is_success() => {
            let beginning = core.channel.shown(&body, 100);
            core.channel.note(carrier, format!("the server added: {beginning}"), None);
        }
        Some(why) => {
            let why = Reason::new(Cause::WrongMedia, why);
            core.channel.junk(carrier, &body, body.len() as u64, why, None).await;
        }
    }
    if must_stream {
        let media = media.as_deref().unwrap_or("no content type");
        let cause = if status == StatusCode::UNAUTHORIZED { Cause::Unauthorized } else { Cause::Other };
        return Err(Reason::new(
            cause,
            format!("the response is not an event stream: status {}, {media}", status.as_u16()),
        ));
    }
    Ok(())
}

/// The complete body, up to the limit. What was received of an interrupted body is recorded.
async fn whole(core: &Core, mut response: Response, carrier: Carrier) -> Result<Vec<u8>, Reason> {
    let mut body = Vec::new();
    let (failure, why) = loop {
        match response.chunk().await {
            Ok(None) => return Ok(body),
            Ok(Some(chunk)) => {
                let room = core.limit - body.len();
                body.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if chunk.len() > room {
                    break (Reason::too_long(core.limit), Reason::too_long(core.limit));
                }
            }
            Err(error) => {
                let failure = failure::reason(&error);
                let why = Reason::new(Cause::CutOff, format!("the body was incomplete: {failure}"));
                break (failure, why);
            }
        }
    };
    if !body.is_empty() {
        core.channel.junk(carrier, &body, body.len() as u64, why, None).await;
    }
    Err(failure)
}

async fn events(core: &Core, mut response: Response, carrier: Carrier, role: &mut Role) -> Result<(), Reason> {
    let mut stream = EventStream::new(core.limit);
    // What arrived before the first event.
    let (mut beginning, mut has_events) = (Vec::new(), false);
    let outcome = loop {
        match response.chunk().await {
            Ok(None) => break Ok(()),
            Ok(Some(chunk)) => {
                let blocks = stream.feed(&chunk);
                has_events |= !blocks.is_empty();
                if !has_events {
                    beginning.extend_from_slice(&chunk[..chunk.len().min(BEGINNING - beginning.len())]);
                }
                for block in blocks {
                    event(core, carrier, role, block).await;
                }
            }
            Err(error) => break Err(failure::reason(&error)),
        }
    };
    if !has_events && beginning.trim_ascii_start().starts_with(b"{") {
        let why = Reason::new(Cause::NotAnEventStream, "the content type is text/event-stream, but the body is JSON");
        core.channel.junk(carrier, &beginning, beginning.len() as u64, why, None).await;
    }
    if let Some(Block { event, data, .. }) = stream.finish() {
        let data = data.unwrap_or_default();
        let why = Reason::new(Cause::CutOff, "the stream ended within this event");
        core.channel.junk(carrier, &data, data.len() as u64, why, Some(event)).await;
    }
    if outcome.is_ok() {
        core.channel.ended(carrier, "the event stream ended".to_owned(), Ended::Complete);
    }
    outcome
}

async fn event(core: &Core, carrier: Carrier, role: &mut Role, block: Block) {
    let Block { event, data, too_long: cut } = block;
    if let Some(post) = carrier.post {
        core.saw_event(post, &event);
    }
    let data = match data {
        None if !cut => return core.channel.note(carrier, "an event without data".to_owned(), Some(event)),
        Some(data) if data.is_empty() && !cut => {
            return core.channel.note(carrier, "an event with empty data".to_owned(), Some(event));
        }
        data => data.unwrap_or_default(),
    };
    if cut {
        return core.channel.junk(carrier, &data, data.len() as u64, Reason::too_long(core.limit), Some(event)).await;
    }
    match role {
        Role::Stream(waiting) if event.name.as_deref() == Some("endpoint") => {
            let endpoint = String::from_utf8_lossy(&data).into_owned();
            let event = Event { endpoint: Some(endpoint.clone()), ..event };
            core.channel.note(carrier, format!("the endpoint for messages: {endpoint}"), Some(event));
            if let Some(waiting) = waiting.take() {
                let _ = waiting.send(Ok(endpoint));
            }
        }
        Role::Usual if event.name.as_deref() == Some("endpoint") => {
            let url = String::from_utf8_lossy(&data).into_owned();
            let event = Event { endpoint: Some(url.clone()), ..event };
            core.channel.note(carrier, format!("the endpoint for messages: {url}"), Some(event));
            if let Some(post) = carrier.post {
                core.channel.hand_on(Incoming::Endpoint { post, url }).await;
            }
        }
        // Clients do not wait for such events, so a heartbeat may have any content.
        _ if event.name.as_deref().is_some_and(|name| name != "message") && !holds_message(&data) => {
            core.channel.note(carrier, "an event with another name, without a message".to_owned(), Some(event));
        }
        _ => _ = core.channel.received(carrier, &data, &[], Some(event)).await,
    }
}

fn holds_message(data: &[u8]) -> bool {
    serde_json::from_slice(data).is_ok_and(|value| is_message(&value))
}

fn text(response: &Response, name: HeaderName) -> Option<String> {
    response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// A media type without its parameters.
fn essence(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_message(body: &Value) -> bool {
    body.is_array() || body.get("jsonrpc").is_some()
}

fn answers(body: &Value) -> bool {
    body.get("jsonrpc").is_some() && body.get("id").is_some()
}
