//! Clients over HTTP: Streamable HTTP at `/mcp`, HTTP+SSE at `/sse` and `/messages`.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http_body_util::BodyExt;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    http::request::Parts,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    net::TcpListener,
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        oneshot,
    },
    time::sleep,
};

use super::{
    Options,
    client::relay,
    clients::{Clients, Down},
    front::{Body, empty, event, events, number, rejected},
};

/// Maximum number of messages that wait for the stream for messages without a request.
const WAITING: usize = 1_000;
/// Longer than any call of the rules.
const KEPT: Duration = Duration::from_secs(15);
/// Headers with credentials of a client.
const CREDENTIALS: [&str; 2] = ["authorization", "cookie"];

#[derive(Clone)]
struct Gateway {
    options: Arc<Options>,
    clients: Clients,
    sessions: Arc<Mutex<HashMap<String, Session>>>,
}

#[derive(Clone)]
struct Session {
    up: UnboundedSender<Value>,
    streams: Arc<Mutex<Streams>>,
}

#[derive(Default)]
struct Streams {
    by_request: HashMap<String, UnboundedSender<Bytes>>,
    general: Option<UnboundedSender<Bytes>>,
    waiting: Vec<Bytes>,
    /// Whether the client sends only one request.
    is_one: bool,
}

pub async fn run(options: Options) -> Result<(), String> {
    let listener = TcpListener::bind(("127.0.0.1", options.port)).await.map_err(|why| why.to_string())?;
    let address = listener.local_addr().map_err(|why| why.to_string())?;
    eprintln!("the reference gateway listens at http://{address}");
    let gateway = Gateway { options: Arc::new(options), clients: Clients::default(), sessions: Arc::default() };
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        stream.set_nodelay(true).ok();
        let gateway = gateway.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| gateway.clone().respond(request));
            http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.ok();
        });
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gateway {
    async fn respond(self, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        let (head, body) = request.into_parts();
        let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
            return Ok(rejected(StatusCode::BAD_REQUEST, "the body is incomplete"));
        };
        Ok(match (self.options.front.capabilities().endpoint, &head.method, head.uri.path()) {
            (true, &Method::GET, "/sse") => self.open_pipe(&head),
            (true, &Method::POST, "/messages") => self.post_to_pipe(&head, &body),
            (false, &Method::POST, "/mcp") => self.post(&head, &body),
            (false, &Method::GET, "/mcp") => self.get(&head),
            (false, &Method::DELETE, "/mcp") => self.delete(&head),
            _ => rejected(StatusCode::NOT_FOUND, "there is nothing here"),
        })
    }

    /// Adds a client, until its session is removed.
    fn join(&self, id: &str, head: &Parts) -> Session {
        let (up, from_client) = unbounded_channel();
        let (down, for_client) = unbounded_channel();
        let session = Session { up, streams: Arc::default() };
        lock(&self.sessions).insert(id.to_owned(), session.clone());
        let named = CREDENTIALS.iter().filter_map(|name| {
            let value = head.headers.get(*name)?.to_str().ok()?;
            Some(((*name).to_owned(), value.to_owned()))
        });
        let relayed = relay(Arc::clone(&self.options), named.collect(), from_client, down, self.clients.clone());
        let (sessions, own) = (Arc::clone(&self.sessions), id.to_owned());
        tokio::spawn(async move {
            if let Err(why) = relayed.await {
                eprintln!("{why}");
            }
            lock(&sessions).remove(&own);
        });
        tokio::spawn(distribute(Arc::clone(&session.streams), for_client));
        session
    }

    // A response is made once for each request.
    #[expect(clippy::result_large_err)]
    fn session(&self, head: &Parts) -> Result<(String, Session), Response<Body>> {
        let id = head.headers.get("mcp-session-id").and_then(|id| id.to_str().ok());
        let id = id.ok_or_else(|| rejected(StatusCode::BAD_REQUEST, "Mcp-Session-Id is missing"))?;
        let session = lock(&self.sessions).get(id).cloned();
        let session = session.ok_or_else(|| rejected(StatusCode::NOT_FOUND, "there is no such session"))?;
        Ok((id.to_owned(), session))
    }

    fn post(&self, head: &Parts, body: &[u8]) -> Response<Body> {
        let Ok(message) = serde_json::from_slice::<Value>(body) else {
            return rejected(StatusCode::BAD_REQUEST, "the body is not JSON");
        };
        let begins = message["method"] == "initialize";
        let id = number();
        if message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").is_some() {
            return self.post_alone(&id, head, message);
        }
        let session = match self.session(head) {
            _ if begins => self.join(&id, head),
            Ok((_, session)) => session,
            Err(response) => return response,
        };
        if message.get("method").is_none() || message.get("id").is_none() {
            let _ = session.up.send(message);
            return empty(StatusCode::ACCEPTED);
        }
        let (sender, receiver) = unbounded_channel();
        lock(&session.streams).by_request.insert(message["id"].to_string(), sender);
        let _ = session.up.send(message);
        let mut response = events(receiver, None);
        if begins && let Ok(id) = id.parse() {
            response.headers_mut().insert("mcp-session-id", id);
        }
        response
    }

    /// A message without a session. If its client disconnects, the gateway disconnects from the upstream, too.
    fn post_alone(&self, id: &str, head: &Parts, message: Value) -> Response<Body> {
        let session = self.join(id, head);
        let (sender, receiver) = unbounded_channel();
        let is_request = message.get("id").is_some();
        {
            let mut streams = lock(&session.streams);
            streams.is_one = true;
            streams.by_request.insert(message["id"].to_string(), sender);
        }
        let _ = session.up.send(message);
        let (end, ended) = oneshot::channel::<()>();
        let (sessions, id, fault) = (Arc::clone(&self.sessions), id.to_owned(), self.options.fault);
        tokio::spawn(async move {
            let _ = ended.await;
            if fault.keeps_closed {
                sleep(KEPT).await;
            }
            drop(session);
            lock(&sessions).remove(&id);
        });
        if is_request { events(receiver, Some(end)) } else { empty(StatusCode::ACCEPTED) }
    }

    fn get(&self, head: &Parts) -> Response<Body> {
        let (_, session) = match self.session(head) {
            Ok(session) => session,
            Err(response) => return response,
        };
        let (sender, receiver) = unbounded_channel();
        let mut streams = lock(&session.streams);
        for waiting in streams.waiting.drain(..) {
            let _ = sender.send(waiting);
        }
        streams.general = Some(sender);
        events(receiver, None)
    }

    fn delete(&self, head: &Parts) -> Response<Body> {
        match self.session(head) {
            Ok((id, _)) => {
                let mut sessions = lock(&self.sessions);
                sessions.retain(|other, _| *other != id && !self.options.fault.ends_all_sessions);
                empty(StatusCode::NO_CONTENT)
            }
            Err(response) => response,
        }
    }

    fn open_pipe(&self, head: &Parts) -> Response<Body> {
        let id = number();
        let session = self.join(&id, head);
        let (sender, receiver) = unbounded_channel();
        let _ = sender.send(event("endpoint", &format!("/messages?session={id}")));
        lock(&session.streams).general = Some(sender.clone());
        let sessions = Arc::clone(&self.sessions);
        tokio::spawn(async move {
            // The session ends with its stream.
            sender.closed().await;
            lock(&sessions).remove(&id);
        });
        events(receiver, None)
    }

    fn post_to_pipe(&self, head: &Parts, body: &[u8]) -> Response<Body> {
        let id = head.uri.query().and_then(|query| query.strip_prefix("session=")).unwrap_or_default();
        let Some(session) = lock(&self.sessions).get(id).cloned() else {
            return rejected(StatusCode::NOT_FOUND, "there is no such session");
        };
        match serde_json::from_slice::<Value>(body) {
            Ok(message) => {
                let _ = session.up.send(message);
                empty(StatusCode::ACCEPTED)
            }
            Err(_) => rejected(StatusCode::BAD_REQUEST, "the body is not JSON"),
        }
    }
}

/// Sends each message on its stream.
async fn distribute(streams: Arc<Mutex<Streams>>, mut from: UnboundedReceiver<Down>) {
    while let Some(Down { message, belongs_to }) = from.recv().await {
        let responds = message.get("method").is_none();
        let bytes = event("message", &message.to_string());
        let mut streams = lock(&streams);
        let own = belongs_to.and_then(|id| {
            if responds { streams.by_request.remove(&id) } else { streams.by_request.get(&id).cloned() }
        });
        let only = || streams.by_request.values().next().cloned().filter(|_| streams.is_one);
        let general = streams.general.clone().or_else(only).filter(|general| !general.is_closed());
        match own.filter(|own| !own.is_closed()).or(general) {
            Some(stream) => drop(stream.send(bytes)),
            None if streams.waiting.len() < WAITING => streams.waiting.push(bytes),
            None => {}
        }
    }
    *lock(&streams) = Streams::default();
}
