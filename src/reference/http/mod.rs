//! The server over HTTP: Streamable HTTP of every revision at `/mcp`, and HTTP+SSE at `/sse` and `/messages`.

mod body;
mod headers;
mod hub;
mod legacy;
mod modern;
mod request;
mod route;
mod sse;
mod streams;

pub use body::{Body, Reply};

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpListener, task::JoinSet};

use crate::reference::{http::hub::Hub, options::Options, server::Server};

/// Serves until it is cancelled; `ready` is told the address once connections are accepted.
pub async fn http(options: Options, addr: SocketAddr, ready: impl FnOnce(SocketAddr)) -> Result<(), String> {
    let hub = Arc::new(Mutex::new(Hub::new(Server::new(options)?)));
    let listener = TcpListener::bind(addr).await.map_err(|why| format!("cannot listen on {addr}: {why}"))?;
    ready(listener.local_addr().map_err(|why| why.to_string())?);
    // Connections end with the set, and the set with this function.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A connection that failed before it was accepted is no reason to stop.
                let Ok((stream, _)) = accepted else { continue };
                stream.set_nodelay(true).ok();
                let hub = Arc::clone(&hub);
                connections.spawn(async move {
                    let service = service_fn(|request| route::route(Arc::clone(&hub), request));
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.ok();
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}
