//! An HTTP proxy: requests are forwarded to the server as they arrive, and its responses are forwarded back.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use super::{
    body::{Ending, RequestBody, ResponseBody},
    endpoint::Rewrite,
    queue::{Queue, Seen},
    upstream::{Failed, NoResponse, Own, Upstream, without_connection},
};
use crate::{evidence::Ended, run::process::console};

type Reply = Response<BoxBody<Bytes, Failed>>;

#[derive(Clone)]
pub struct Proxy {
    upstream: Upstream,
    queue: Queue,
    exchanges: Arc<AtomicU64>,
}

/// Binds the address, so that a failure shows at once.
pub async fn listen(address: SocketAddr) -> std::io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

impl Proxy {
    pub fn new(upstream: Upstream, queue: Queue) -> Self {
        Self { upstream, queue, exchanges: Arc::default() }
    }

    /// Serves until it is dropped.
    pub async fn serve(self, listener: TcpListener) {
        let mut connections = JoinSet::new();
        let mut count = 0;
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    // A connection that failed before it was accepted is not a reason to stop.
                    let Ok((stream, peer)) = accepted else { continue };
                    count += 1;
                    connections.spawn(self.clone().connection(stream, peer.ip(), count));
                }
                Some(_) = connections.join_next() => {}
            }
        }
    }

    async fn connection(self, stream: TcpStream, peer: IpAddr, number: u64) {
        stream.set_nodelay(true).ok();
        let own = Own::default();
        let service = service_fn(|request| self.pass(&own, number, peer, request));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).preserve_header_case(true);
        http.serve_connection(TokioIo::new(stream), service).await.ok();
        self.queue.note(Seen::Disconnected(number));
    }

    async fn pass(
        &self,
        own: &Own,
        connection: u64,
        peer: IpAddr,
        request: Request<Incoming>,
    ) -> Result<Reply, Failed> {
        let exchange = self.exchanges.fetch_add(1, Ordering::Relaxed);
        let (mut head, body) = request.into_parts();
        let noted = Box::new(head.clone());
        self.queue.note(Seen::Request { exchange, connection, peer, head: noted });
        let mut ending = Ending::new(exchange, self.queue.clone());
        let opens_stream = head.method == Method::GET && !head.headers.contains_key("mcp-session-id");
        // A compressed body could not be judged.
        if head.headers.contains_key(ACCEPT_ENCODING) {
            head.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        let body = RequestBody::new(body, exchange, self.queue.clone());
        match self.upstream.send(own, Request::from_parts(head, body)).await {
            Ok(response) => {
                let (mut head, body) = response.into_parts();
                self.queue.note(Seen::Response(exchange, Box::new(head.clone())));
                without_connection(&mut head.headers);
                let is_stream = head
                    .headers
                    .get(CONTENT_TYPE)
                    .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
                let rewrite = (opens_stream && is_stream).then(|| Rewrite::new(self.upstream.origin()));
                let body = ResponseBody::new(body, ending, rewrite).map_err(Failed::from).boxed();
                Ok(Response::from_parts(head, body))
            }
            // The client sees what it would see without the recording: its connection is closed.
            Err(NoResponse::Closed(why)) => {
                ending.end(Ended::Broken);
                Err(why)
            }
            Err(NoResponse::Unreachable(why)) => {
                ending.end(Ended::Unsent);
                Ok(unreachable(&self.upstream, &*why))
            }
        }
    }
}

/// The response for a client if the server cannot be reached.
fn unreachable(upstream: &Upstream, why: &dyn std::error::Error) -> Reply {
    let mut reason = why.to_string();
    let mut inner = why.source();
    while let Some(why) = inner {
        reason = format!("{reason}: {why}");
        inner = why.source();
    }
    let text = format!("mcp-conform record: {} cannot be reached: {reason}", upstream.origin());
    console::complain(&text);
    let body = Full::new(Bytes::from(text + "\n")).map_err(|never| match never {}).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}
