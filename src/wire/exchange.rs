//! One HTTP exchange, from the request on its way to the end of the response.
//!
//! Whatever happens in between, it tells of its end exactly once.

use std::sync::Arc;

use reqwest::{Client, Request, Response, header::HeaderMap};
use tokio::sync::oneshot;

use super::{Incoming, body, channel::Carrier, failure, http::Core};
use crate::evidence::{Ended, HttpHead};

/// What an exchange is for.
pub enum Role {
    /// All that comes belongs to the request.
    Usual,
    /// A message to a server of HTTP+SSE: what a 2xx says is of no matter.
    Message,
    /// Something beside the endpoint, such as metadata: no message can come.
    Document,
    /// The event stream of HTTP+SSE: it is the connection. Whoever opens it waits for the URL that takes messages.
    Stream(Option<oneshot::Sender<Result<String, String>>>),
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
        _ = abandoned => (Err("abandoned by the client".to_owned()), Ended::Dropped),
    };
    core.ended(post);
    let failure = outcome.err().map(|failure| core.channel.hide(failure));
    if let Some(failure) = &failure {
        core.channel.ended(carrier, failure.clone(), ended);
    }
    let end = match role {
        Role::Usual | Role::Message | Role::Document => Incoming::PostDone { post, failure },
        Role::Stream(waiting) => {
            let why = failure.unwrap_or_else(|| "the event stream ended".to_owned());
            if let Some(waiting) = waiting {
                let _ = waiting.send(Err(why.clone()));
            }
            Incoming::Closed { why }
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
) -> Result<(), String> {
    let again = request.try_clone();
    let response = match (client.execute(request).await, again) {
        // A connection that was kept open may be closed by the server just when it is used again.
        (Err(first), Some(again)) if failure::is_closed(&first) => client.execute(again).await.map_err(|_| first),
        (response, _) => response,
    };
    let response = response.map_err(|error| failure::words(&error))?;
    core.channel.http_response(carrier, head(&response)).await;
    body::take(core, response, carrier, role).await
}

fn head(response: &Response) -> HttpHead {
    HttpHead { method: None, url: None, status: Some(response.status().as_u16()), headers: listed(response.headers()) }
}

fn listed(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect()
}
