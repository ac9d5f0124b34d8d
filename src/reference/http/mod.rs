//! The server over HTTP: Streamable HTTP of every revision at `/mcp`, and HTTP+SSE at `/sse` and `/messages`.

mod authority;
mod body;
pub(crate) mod guard;
pub(crate) mod headers;
pub(crate) mod hub;
mod legacy;
mod modern;
pub(crate) mod request;
pub(crate) mod route;
mod sse;
mod streams;

pub use authority::CLIENT;
pub use body::{Body, Reply, empty};

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
};

use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use crate::reference::{
    http::hub::{Hub, lock},
    options::Options,
    server::Server,
};

/// The tokens that a protected server knows of, good and bad, by what they show.
pub fn tokens() -> Vec<(&'static str, &'static str)> {
    guard::TOKENS.iter().map(|token| (token.name, token.value)).collect()
}

/// Serves until it is cancelled; `ready` is told the address once connections are accepted.
pub async fn http(options: Options, addr: SocketAddr, ready: impl FnOnce(SocketAddr)) -> Result<(), String> {
    let guard = options.protected.then(guard::Guard::default);
    let hub = Arc::new(Mutex::new(Hub::new(Server::new(options)?, guard)));
    let everywhere = lock(&hub).server.faults.listens_everywhere();
    let on = if everywhere { SocketAddr::from((Ipv4Addr::UNSPECIFIED, addr.port())) } else { addr };
    let listener = TcpListener::bind(on).await.map_err(|why| format!("cannot listen on {on}: {why}"))?;
    let port = listener.local_addr().map_err(|why| why.to_string())?.port();
    ready(SocketAddr::new(addr.ip(), port));
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
                    let odd = lock(&hub).server.faults.lower_case_only() && begins_in_title_case(&stream).await;
                    let service = service_fn(|mut request: Request<Incoming>| {
                        if odd {
                            request.headers_mut().remove("mcp-method");
                        }
                        route::route(Arc::clone(&hub), request)
                    });
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.ok();
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// How a client spells the names of headers shows in its first request; behind the parser nobody can tell any more.
async fn begins_in_title_case(stream: &TcpStream) -> bool {
    let mut head = [0; 1024];
    let length = stream.peek(&mut head).await.unwrap_or_default();
    String::from_utf8_lossy(&head[..length]).contains("Mcp-Method:")
}
