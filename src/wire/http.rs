//! A server behind a URL: requests go out, each as an exchange of its own.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use reqwest::{
    Method, Url,
    header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    Ending, Envelope, HttpRequest, Incoming, OpenError, Posted,
    channel::Channel,
    client::Clients,
    exchange::{self, Role},
    failure,
    secrets::{SHOWN_INSTEAD, Secrets},
};
use crate::{
    evidence::{Event, HttpHead, Recorder, Transport},
    target::Limits,
};

const POSTED: [(&str, &str); 2] =
    [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
const LISTENED: [(&str, &str); 1] = [("accept", "text/event-stream")];

pub struct Http {
    pub url: Url,
    pub core: Arc<Core>,
    close: watch::Sender<bool>,
}

/// What all exchanges of a connection share.
pub struct Core {
    pub channel: Channel,
    /// For one body or event.
    pub limit: usize,
    clients: Clients,
    user: Vec<(HeaderName, HeaderValue)>,
    /// Those under way; dropping the sender ends one.
    open: Mutex<HashMap<u64, oneshot::Sender<()>>>,
    /// The last id and reconnection time that each stream gave.
    last_events: Mutex<HashMap<u64, Event>>,
}

/// The body of a request.
#[derive(Clone, Copy)]
pub enum Body<'a> {
    None,
    Message(&'a Value),
    Raw(&'a [u8]),
}

impl Http {
    pub fn open(
        url: &str,
        headers: &[(String, String)],
        limits: &Limits,
        transport: Transport,
        recorder: &Recorder,
    ) -> Result<(Self, mpsc::Receiver<Incoming>), OpenError> {
        let failed = |came: String, cure: &str| OpenError {
            tried: format!("to reach {}", without_password(url)),
            came,
            cure: cure.to_owned(),
        };
        let url = Url::parse(url)
            .map_err(|error| failed(error.to_string(), "give a URL such as http://127.0.0.1:3000/mcp"))?;
        let user = headers
            .iter()
            .map(|(name, value)| header(name, value).map_err(|came| failed(came, "check its name and value")))
            .collect::<Result<_, _>>()?;
        let clients = Clients::new(limits.request);
        clients.speaking(url.scheme()).map_err(|came| failed(came, "give a URL such as http://127.0.0.1:3000/mcp"))?;
        let password = url.password().map(|password| (String::new(), password.to_owned()));
        let secrets = Secrets::of(headers.iter().chain(&password));
        let (channel, incoming, close) = Channel::open(transport, recorder, secrets);
        let core = Core {
            channel,
            limit: limits.frame_bytes,
            clients,
            user,
            open: Mutex::default(),
            last_events: Mutex::default(),
        };
        Ok((Self { url, core: Arc::new(core), close }, incoming))
    }

    pub fn send(&self, envelope: &Envelope, body: Body) -> Result<Posted, String> {
        self.post(&self.url, envelope, body, Role::Usual)
    }

    pub fn post(&self, url: &Url, envelope: &Envelope, body: Body, role: Role) -> Result<Posted, String> {
        let headers = with(&POSTED, &envelope.headers);
        self.start(&envelope.by, &Method::POST, url, &headers, body, role)
    }

    pub fn listen(&self, envelope: &Envelope, role: Role) -> Result<Posted, String> {
        let headers = with(&LISTENED, &envelope.headers);
        self.start(&envelope.by, &Method::GET, &self.url, &headers, Body::None, role)
    }

    pub fn request(&self, url: &Url, request: &HttpRequest) -> Result<Posted, String> {
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|_| format!("{:?} is no HTTP method", request.method))?;
        let url = match &request.url {
            Some(other) => url.join(other).map_err(|error| format!("{other}: {error}"))?,
            None => url.clone(),
        };
        let body = request.body.as_deref().map_or(Body::None, Body::Raw);
        self.start(&request.by, &method, &url, &request.headers, body, Role::Usual)
    }

    pub fn abandon(&self, post: u64) {
        lock(&self.core.open).remove(&post);
    }

    pub fn is_open(&self, post: u64) -> bool {
        lock(&self.core.open).contains_key(&post)
    }

    pub fn last_event(&self, post: u64) -> Option<Event> {
        lock(&self.core.last_events).get(&post).cloned()
    }

    pub fn shown_url(&self) -> String {
        without_password(self.url.as_str())
    }

    pub fn close(self) -> Ending {
        self.close.send_replace(true);
        Ending { how: "the client closed its connections".to_owned(), stderr_tail: String::new() }
    }

    /// Records the request and starts the exchange.
    fn start(
        &self,
        by: &str,
        method: &Method,
        url: &Url,
        headers: &[(String, String)],
        body: Body,
        role: Role,
    ) -> Result<Posted, String> {
        let core = &self.core;
        let client = core.clients.speaking(url.scheme())?.clone();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let (name, value) = header(name, value)?;
            map.append(name, value);
        }
        let mut shown: Vec<(String, String)> =
            headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
        if !map.contains_key(ACCEPT) {
            shown.push((ACCEPT.to_string(), "*/*".to_owned()));
        }
        // What the user entrusted is for this server only, and never replaces what a test sends on purpose.
        for (name, value) in core.user.iter().filter(|_| url.origin() == self.url.origin()) {
            if !headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name.as_str())) {
                map.append(name, value.clone());
                shown.push((name.to_string(), SHOWN_INSTEAD.to_owned()));
            }
        }
        let bytes = match body {
            Body::None => None,
            Body::Message(message) => Some(message.to_string().into_bytes()),
            Body::Raw(bytes) => Some(bytes.to_vec()),
        };
        let mut request = client.request(method.clone(), url.clone()).headers(map);
        if let Some(bytes) = &bytes {
            request = request.body(bytes.clone());
        }
        let request = request.build().map_err(|error| failure::words(&error))?;
        // A URL may hold a name and password.
        if request.headers().contains_key(AUTHORIZATION)
            && !shown.iter().any(|(name, _)| name == AUTHORIZATION.as_str())
        {
            shown.push((AUTHORIZATION.to_string(), SHOWN_INSTEAD.to_owned()));
        }
        let post = core.channel.next_post();
        let head = HttpHead {
            method: Some(method.to_string()),
            url: Some(without_password(url.as_str())),
            status: None,
            headers: shown,
        };
        let head = core.channel.http_request(by, post, head);
        let frame = match (body, &bytes) {
            (Body::Message(message), Some(bytes)) => core.channel.sent(by, Some(post), message.clone(), bytes.len()),
            (Body::Raw(_), Some(bytes)) => core.channel.sent_raw(by, Some(post), bytes),
            _ => head,
        };
        let (abandon, abandoned) = oneshot::channel();
        lock(&core.open).insert(post, abandon);
        tokio::spawn(exchange::run(core.clone(), client, request, post, role, abandoned));
        Ok(Posted { frame, post: Some(post) })
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        lock(&self.core.open).clear();
    }
}

impl Core {
    pub fn ended(&self, post: u64) {
        lock(&self.open).remove(&post);
    }

    pub fn saw_event(&self, post: u64, event: &Event) {
        /// An id that no request header could carry is not kept.
        const LONGEST: usize = 8 << 10;
        let id = event.id.as_ref().filter(|id| id.len() <= LONGEST);
        if id.is_some() || event.retry.is_some() {
            let mut last_events = lock(&self.last_events);
            let last = last_events.entry(post).or_default();
            last.id = id.cloned().or(last.id.take());
            last.retry = event.retry.or(last.retry);
        }
    }
}

fn with(base: &[(&str, &str)], more: &[(String, String)]) -> Vec<(String, String)> {
    let base = base.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    base.chain(more.iter().cloned()).collect()
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let refused = || format!("the header {name:?} cannot be sent");
    let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| refused())?;
    Ok((HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?, value))
}

fn without_password(url: &str) -> String {
    let Ok(mut url) = Url::parse(url) else { return url.to_owned() };
    let hidden = url.set_username("").and_then(|()| url.set_password(None));
    if hidden.is_ok() { url.to_string() } else { url.scheme().to_owned() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
