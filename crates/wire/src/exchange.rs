//! One HTTP exchange, from sending the request to the end of the response.
//!
//! It reports its end exactly once, whatever happens before.

use std::sync::Arc;

use reqwest::{Body, Request, Response, header::HeaderMap};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};

use super::{Incoming, PutOff, body, channel::Carrier, client::Client, failure, http::Core};
use conform_model::evidence::{Cause, Ended, HttpHead, Reason};

/// What an exchange is for.
pub enum Role {
    /// All messages in the response belong to the request.
    Usual,
    /// A message to an HTTP+SSE server: the content of a 2xx response does not matter.
    Message,
    /// A request to another URL, such as metadata: the response cannot contain a message.
    Document,
    /// The event stream of HTTP+SSE, which is the connection. The receiver waits for the URL for messages.
    Stream(Option<oneshot::Sender<Result<String, Reason>>>),
}

pub async fn run(
    core: Arc<Core>,
    client: Client,
    request: Request,
    post: u64,
    mut role: Role,
    abandoned: oneshot::Receiver<()>,
) {
    let carrier = Carrier { post: Some(post), told: !matches!(role, Role::Stream(_)) };
    let (outcome, ended) = tokio::select! {
        biased;
        outcome = converse(&core, &client, request, carrier, &mut role) => (outcome, Ended::Broken),
        _ = abandoned => (Err(Reason::new(Cause::Other, "abandoned by the client")), Ended::Dropped),
    };
    core.ended(post);
    let ended = match ended {
        Ended::Broken if core.so_far(post).unsent => Ended::Unsent,
        Ended::Broken if core.so_far(post).fatal => Ended::Unasked,
        ended => ended,
    };
    let failure = outcome.err().map(|failure| core.channel.hide_reason(failure));
    if let Some(failure) = &failure {
        core.channel.ended(carrier, failure.words.clone(), ended);
    }
    let end = match role {
        Role::Usual | Role::Message | Role::Document => Incoming::PostDone { post, failure },
        Role::Stream(waiting) => {
            let why = failure.unwrap_or_else(|| Reason::new(Cause::Other, "the event stream ended"));
            if let Some(waiting) = waiting {
                let _ = waiting.send(Err(why.clone()));
            }
            Incoming::Closed { why: why.words, exit: None }
        }
    };
    core.channel.hand_on(end).await;
}

async fn converse(
    core: &Core,
    client: &Client,
    request: Request,
    carrier: Carrier,
    role: &mut Role,
) -> Result<(), Reason> {
    let response = accepted(core, client, request, carrier).await?;
    core.channel.http_response(carrier, head(&response)).await;
    body::take(core, response, carrier, role).await
}

/// The response to a request, which is repeated while the server is busy or may be restarting.
async fn accepted(core: &Core, client: &Client, mut request: Request, carrier: Carrier) -> Result<Response, Reason> {
    let mut put_off = PutOff::default();
    // Why the server did not respond when it received the request.
    let mut received: Option<Reason> = None;
    let is_call = calls_a_tool(&request);
    loop {
        let (again, sent) = (request.try_clone(), Instant::now());
        let response = client.execute(request).await;
        let (Some(post), Some(again)) = (carrier.post, again.filter(|_| core.repeats)) else {
            return response.map_err(|error| failure::reason(&*error));
        };
        let response = match response {
            Ok(response) => response,
            // Only the server under test may be restarting.
            Err(error) if again.url().origin() != core.url.origin() => return Err(failure::reason(&*error)),
            Err(error) => {
                let wait = if failure::is_connect(&*error) {
                    put_off.missed(core.channel.was_answered(), sent)
                } else if client.is_gone(again.url()).await {
                    put_off.fatal = true;
                    None
                } else if failure::is_closed(&*error) {
                    let wait = put_off.cut_off(post, sent, is_call);
                    if wait.is_some() {
                        received.get_or_insert_with(|| failure::reason(&*error));
                        core.channel.note(carrier, "its connection ended: sent again".to_owned(), None);
                    }
                    wait
                } else {
                    None
                };
                core.put_off(post, put_off);
                let Some(wait) = wait else {
                    let last = failure::reason(&*error);
                    return Err(match received.filter(|_| failure::is_connect(&*error)) {
                        Some(first) => Reason::new(first.cause, format!("{first}, then: {last}")),
                        None => last,
                    });
                };
                sleep(wait).await;
                request = again;
                continue;
            }
        };
        let Some(wait) = put_off.again(&response, sent, core.channel.unavailable()) else { return Ok(response) };
        core.put_off(post, put_off);
        let status = response.status().as_u16();
        core.channel.note(
            carrier,
            format!("rejected with status {status}: sent again in {} s", wait.as_secs_f32()),
            None,
        );
        drop(response);
        sleep(wait).await;
        request = again;
    }
}

/// Whether the request may have a side effect.
fn calls_a_tool(request: &Request) -> bool {
    const CALL: &[u8] = br#""tools/call""#;
    let body = request.body().and_then(Body::as_bytes).unwrap_or_default();
    body.windows(CALL.len()).any(|part| part == CALL)
}

fn head(response: &Response) -> HttpHead {
    HttpHead { method: None, url: None, status: Some(response.status().as_u16()), headers: listed(response.headers()) }
}

fn listed(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect()
}
