//! The server over HTTP: Streamable HTTP of every revision at `/mcp`, and HTTP+SSE at `/sse` and `/messages`.

mod authority;
mod body;
mod by_id;
mod grants;
pub mod guard;
pub mod headers;
pub mod hub;
mod legacy;
mod modern;
pub mod request;
pub mod route;
mod sse;
mod streams;

pub use authority::{APP, CLIENT};
pub use body::{Body, Reply, empty, json};
pub use grants::{Lax, USER};

pub use request::whole_body;
pub use route::HungUp;

use std::{
    collections::HashMap,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
};

use hyper::{
    Request,
    body::{Bytes, Incoming},
    http::request::Parts,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, join, split},
    net::TcpListener,
    task::JoinSet,
};

use crate::{
    dispatch::Server,
    http::hub::{Hub, Shared, lock},
    oauth::{Authority, MCP, Origin, Secret},
    options::Options,
};

/// The tokens that a protected server knows, valid and invalid, by their purpose.
pub fn tokens() -> Vec<(&'static str, &'static str)> {
    guard::TOKENS.iter().map(|token| (token.name, token.value)).collect()
}

/// All clients of one server.
#[derive(Clone)]
pub struct Listening(Shared);

impl Listening {
    pub fn new(options: Options) -> Result<Self, String> {
        let mut guard = options.protected.then(guard::Guard::default);
        let server = Server::new(options)?;
        if let Some(guard) = &mut guard {
            guard.grants.lax = server.faults.lax();
        }
        Ok(Self(Arc::new(Mutex::new(Hub::new(server, guard)))))
    }

    /// Whether connections to all addresses of the machine are accepted.
    pub fn is_everywhere(&self) -> bool {
        lock(&self.0).server.faults.listens_everywhere()
    }

    /// The query in the URL that clients are given, with its question mark.
    pub fn query(&self) -> &'static str {
        lock(&self.0).server.faults.query()
    }

    /// Whether the world has authorization: then it has several origins.
    pub fn is_authorized(&self) -> bool {
        lock(&self.0).server.faults.oauth().is_some()
    }

    /// In a world with authorization: where its origins are.
    pub fn at(&self, origins: HashMap<Origin, String>) {
        let mut hub = lock(&self.0);
        hub.authority = hub.server.faults.oauth().map(|settings| Authority::new(settings, origins));
    }

    /// All tokens, codes and secrets that were issued.
    pub fn secrets(&self) -> Vec<Secret> {
        lock(&self.0).authority.as_ref().map(Authority::secrets).unwrap_or_default()
    }

    /// Whether a client has not ended its session.
    pub fn has_clients(&self) -> bool {
        let hub = lock(&self.0);
        !hub.clients.is_empty() || hub.pipes.values().any(|pipe| !pipe.events.is_closed())
    }

    /// The response to one request at one of the origins.
    pub async fn respond(&self, at: Origin, head: Parts, body: Bytes) -> Result<Reply, HungUp> {
        let authority = lock(&self.0).authority.clone();
        let Some(authority) = authority else { return route::respond(Arc::clone(&self.0), head, body).await };
        if let Some(reply) = authority.meet(at, &head, &body).await {
            return Ok(reply);
        }
        let mut reply = route::respond(Arc::clone(&self.0), head, body).await?;
        reply.extensions_mut().insert(MCP);
        Ok(reply)
    }

    /// Serves one connection until it ends.
    pub async fn serve(self, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        let Self(hub) = self;
        // The case of header names is only visible in the raw bytes; the parser converts them.
        let mut head = Vec::with_capacity(1024);
        if lock(&hub).server.faults.lower_case_only() {
            let _ = stream.read_buf(&mut head).await;
        }
        let odd = String::from_utf8_lossy(&head).contains("Mcp-Method:");
        let service = service_fn(|mut request: Request<Incoming>| {
            if odd {
                request.headers_mut().remove("mcp-method");
            }
            route::route(Arc::clone(&hub), request)
        });
        let (read, write) = split(stream);
        let stream = join(head.as_slice().chain(read), write);
        http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.ok();
    }
}

/// Serves until it is cancelled; `ready` gets the address once connections are accepted.
pub async fn http(options: Options, addr: SocketAddr, ready: impl FnOnce(SocketAddr)) -> Result<(), String> {
    let listening = Listening::new(options)?;
    let on = if listening.is_everywhere() { SocketAddr::from((Ipv4Addr::UNSPECIFIED, addr.port())) } else { addr };
    let listener = TcpListener::bind(on).await.map_err(|why| format!("cannot listen on {on}: {why}"))?;
    let port = listener.local_addr().map_err(|why| why.to_string())?.port();
    ready(SocketAddr::new(addr.ip(), port));
    // Connections end with the set, and the set ends with this function.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A connection that failed before it was accepted is not a reason to stop.
                let Ok((stream, _)) = accepted else { continue };
                stream.set_nodelay(true).ok();
                connections.spawn(listening.clone().serve(stream));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}
