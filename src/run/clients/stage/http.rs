//! Serves the origins of a world over HTTP, and records every request.

use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::task::JoinSet;

use super::Listener;
use crate::{
    evidence::Ended,
    reference,
    reference::server::{Listening, http::HungUp, oauth::Origin},
    run::clients::oauth::Journal,
    tap::{Exchange, Tap, TappedBody},
};

/// The journal is kept in worlds with authorization.
pub async fn serve_http(at: Origin, mut listener: Listener, listening: Listening, tap: Tap, journal: Option<Journal>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok(stream) = accepted else { continue };
                let (listening, tap, journal) = (listening.clone(), tap.clone(), journal.clone());
                connections.spawn(async move {
                    let service = service_fn(|request| respond(at, listening.clone(), tap.clone(), journal.clone(), request));
                    let mut http = http1::Builder::new();
                    http.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service).await.ok();
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn respond(
    at: Origin,
    listening: Listening,
    tap: Tap,
    journal: Option<Journal>,
    request: Request<Incoming>,
) -> Result<Response<TappedBody<reference::server::http::Body>>, HungUp> {
    let (head, body) = request.into_parts();
    let bytes = reference::server::http::whole_body(body).await.ok_or(HungUp)?;
    let link = tap.link();
    let mut exchange = Exchange::begin(tap, &head, &bytes);
    let asked = journal.map(|journal| (journal, head.clone(), bytes.clone()));
    match listening.respond(at, head, bytes).await {
        Ok(reply) => {
            if let Some((journal, head, bytes)) = asked {
                journal.passed(at, (link, exchange.frame()), head, &bytes, &reply);
            }
            let (head, body) = reply.into_parts();
            exchange.respond(&head);
            Ok(Response::from_parts(head, TappedBody::new(body, exchange)))
        }
        Err(hung_up) => {
            exchange.end(Ended::Broken);
            Err(hung_up)
        }
    }
}
