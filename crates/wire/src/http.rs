//! A server at a URL: each request is a separate exchange.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use percent_encoding::percent_decode_str;
use reqwest::{
    Method, Url,
    header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    Ending, Envelope, HttpRequest, Incoming, OpenError, Posted, PutOff,
    channel::Channel,
    client::{Client, Clients},
    exchange::{self, Role},
    failure, login,
    secrets::{Secrets, in_headers},
};
use crate::target::{Limits, Login, Target, Token, shown_url};
use conform_model::evidence::{Event, HttpHead, Recorder, SHOWN_INSTEAD, Transport};

const POSTED: [(&str, &str); 2] =
    [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
const LISTENED: [(&str, &str); 1] = [("accept", "text/event-stream")];

pub struct Http {
    pub core: Arc<Core>,
    close: watch::Sender<bool>,
}

/// The shared state of all exchanges of a connection.
pub struct Core {
    pub channel: Channel,
    /// The URL of the server under test; metadata may be elsewhere.
    pub url: Url,
    /// The limit of one body or event.
    pub limit: usize,
    /// Whether requests are sent again if the server was busy or the connection ended.
    pub repeats: bool,
    clients: Clients,
    user: Vec<(HeaderName, HeaderValue)>,
    /// A placeholder in a request is replaced by its token when the request is sent.
    tokens: Vec<Token>,
    /// The timeout of a request.
    pub patience: Duration,
    pub login: Option<Arc<Login>>,
    pub logins: tokio::sync::Mutex<login::State>,
    /// Open exchanges; dropping the sender closes one.
    open: Mutex<HashMap<u64, oneshot::Sender<()>>>,
    /// Delays of exchanges whose requests were repeated.
    put_off: Mutex<HashMap<u64, PutOff>>,
    /// The last id and reconnection time of each stream.
    last_events: Mutex<HashMap<u64, Event>>,
}

/// The body of a request.
#[derive(Clone, Copy)]
pub enum Body<'a> {
    None,
    Message(&'a Value),
    Raw(&'a [u8]),
}

/// How names of headers are written.
#[derive(Clone, Copy)]
enum Spelling {
    Lower,
    Title,
}

impl Spelling {
    fn written(self, name: &str) -> String {
        let name = name.to_ascii_lowercase();
        let titled = |part: &str| part[..1.min(part.len())].to_uppercase() + part.get(1..).unwrap_or_default();
        match self {
            Self::Lower => name,
            Self::Title => name.split('-').map(titled).collect::<Vec<_>>().join("-"),
        }
    }
}

/// A request without the user's headers.
#[derive(Clone, Copy)]
struct Draft<'a> {
    spelling: Spelling,
    envelope: &'a Envelope,
    method: &'a Method,
    url: &'a Url,
    without: &'a [String],
}

impl Http {
    pub fn open(
        url: &str,
        headers: &[(String, String)],
        target: &Target,
        limits: &Limits,
        transport: Transport,
        recorder: &Recorder,
    ) -> Result<(Self, mpsc::Receiver<Incoming>), OpenError> {
        let failed = |came: String, help: &str| OpenError {
            tried: format!("to reach {}", shown_url(url)),
            came,
            help: help.to_owned(),
            cause: None,
        };
        let url = Url::parse(url)
            .map_err(|error| failed(error.to_string(), "use a URL such as http://127.0.0.1:3000/mcp"))?;
        let user = headers
            .iter()
            .map(|(name, value)| header(name, value).map_err(|came| failed(came, "check its name and value")))
            .collect::<Result<_, _>>()?;
        let clients = Clients::new(limits.request, target.inside.as_ref());
        clients.speaking(url.scheme()).map_err(|came| failed(came, "use a URL such as http://127.0.0.1:3000/mcp"))?;
        // A user name without a password is a token.
        let password = url.password().or(Some(url.username()));
        let password =
            password.map(|password| (String::new(), percent_decode_str(password).decode_utf8_lossy().into_owned()));
        let entrusted = target.secrets.iter().chain(target.tokens.iter().map(|token| &token.value));
        let secrets = Secrets::of(in_headers(headers.iter().chain(&password)).into_iter().chain(entrusted.cloned()));
        let (channel, incoming, close) = Channel::open(transport, recorder, secrets, limits.message_values);
        let core = Core {
            channel,
            url,
            limit: limits.message_bytes,
            repeats: limits.repeats,
            clients,
            user,
            tokens: target.tokens.clone(),
            patience: limits.request,
            login: target.login.clone(),
            logins: tokio::sync::Mutex::default(),
            open: Mutex::default(),
            put_off: Mutex::default(),
            last_events: Mutex::default(),
        };
        Ok((Self { core: Arc::new(core), close }, incoming))
    }

    pub fn send(&self, envelope: &Envelope, body: Body) -> Result<Posted, String> {
        self.post(&self.core.url, envelope, body, Role::Usual)
    }

    pub fn post(&self, url: &Url, envelope: &Envelope, body: Body, role: Role) -> Result<Posted, String> {
        let envelope = &with(&POSTED, envelope);
        self.start(&Draft { spelling: Spelling::Lower, envelope, method: &Method::POST, url, without: &[] }, body, role)
    }

    pub fn listen(&self, envelope: &Envelope, role: Role) -> Result<Posted, String> {
        let (envelope, url) = (&with(&LISTENED, envelope), &self.core.url);
        let draft = Draft { spelling: Spelling::Lower, envelope, method: &Method::GET, url, without: &[] };
        self.start(&draft, Body::None, role)
    }

    pub fn request(&self, url: &Url, request: &HttpRequest) -> Result<Posted, String> {
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|_| format!("{:?} is not an HTTP method", request.method))?;
        let place = |url: &Url| (url.origin(), url.path().to_owned());
        let endpoints = [place(url), place(&self.core.url)];
        let mut url = match &request.url {
            // Suites know the URL without its secrets.
            Some(shown) if *shown == shown_url(&without_password(self.core.url.as_str())) => self.core.url.clone(),
            Some(other) => url.join(other).map_err(|error| format!("{other}: {error}"))?,
            None => url.clone(),
        };
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        let role = if endpoints.contains(&place(&url)) { Role::Usual } else { Role::Document };
        let body = request.body.as_deref().map_or(Body::None, Body::Raw);
        // Messages have lower case names of headers, so the server receives both spellings.
        let envelope = &Envelope { by: request.by.clone(), headers: request.headers.clone() };
        let (spelling, without) = (Spelling::Title, request.without.as_slice());
        self.start(&Draft { spelling, envelope, method: &method, url: &url, without }, body, role)
    }

    pub fn abandon(&self, post: u64) {
        lock(&self.core.open).remove(&post);
    }

    pub fn is_open(&self, post: u64) -> bool {
        lock(&self.core.open).contains_key(&post)
    }

    pub fn put_off(&self, post: u64) -> PutOff {
        self.core.so_far(post)
    }

    pub fn last_event(&self, post: u64) -> Option<Event> {
        lock(&self.core.last_events).get(&post).cloned()
    }

    pub fn shown_url(&self) -> String {
        self.core.channel.hide(shown_url(self.core.url.as_str()))
    }

    pub fn close(self) -> Ending {
        self.close.send_replace(true);
        Ending { how: "the client closed its connections".to_owned(), ended: None }
    }

    /// Records the request and starts the exchange.
    fn start(&self, draft: &Draft, body: Body, role: Role) -> Result<Posted, String> {
        let core = &self.core;
        let Draft { spelling, envelope: Envelope { by, headers }, method, url, without } = *draft;
        let client = match spelling {
            Spelling::Lower => core.clients.speaking(url.scheme())?,
            Spelling::Title => core.clients.titled(url.scheme())?,
        };
        // Credentials of the user are sent only to this server.
        let trusted = url.origin() == core.url.origin();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let (name, value) = header(name, &if trusted { core.with_tokens(value) } else { value.clone() })?;
            map.append(name, value);
        }
        let mut shown: Vec<(String, String)> =
            headers.iter().map(|(name, value)| (spelling.written(name), value.clone())).collect();
        if !map.contains_key(ACCEPT) {
            shown.push((spelling.written(ACCEPT.as_str()), "*/*".to_owned()));
        }
        let left_out = |name: &HeaderName| without.iter().any(|other| other.eq_ignore_ascii_case(name.as_str()));
        // The user's headers never replace those that a test sends on purpose.
        for (name, value) in core.user.iter().filter(|(name, _)| trusted && !left_out(name)) {
            if !headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name.as_str())) {
                map.append(name, value.clone());
                shown.push((spelling.written(name.as_str()), SHOWN_INSTEAD.to_owned()));
            }
        }
        let mut target = url.clone();
        if left_out(&AUTHORIZATION) {
            // This fails only for a URL without a host.
            let _ = target.set_username("").and_then(|()| target.set_password(None));
        }
        if trusted && core.tokens.iter().any(|token| url.as_str().contains(&token.stand_in())) {
            let filled: Vec<(String, String)> =
                url.query_pairs().map(|(name, value)| (name.into_owned(), core.with_tokens(&value))).collect();
            target.query_pairs_mut().clear().extend_pairs(filled);
        }
        let bytes = match body {
            Body::None => None,
            Body::Message(message) => Some(message.to_string().into_bytes()),
            Body::Raw(bytes) => Some(core.channel.received.filled_form(bytes)),
        };
        let mut request = client.request(method.clone(), target).headers(map);
        if let Some(bytes) = &bytes {
            request = request.body(bytes.clone());
        }
        let request = request.build().map_err(|error| failure::reason(&error).words)?;
        // A URL may contain a user name and password.
        if request.headers().contains_key(AUTHORIZATION)
            && !shown.iter().any(|(name, _)| name.eq_ignore_ascii_case(AUTHORIZATION.as_str()))
        {
            shown.push((spelling.written(AUTHORIZATION.as_str()), SHOWN_INSTEAD.to_owned()));
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
            (Body::Raw(bytes), _) => core.channel.sent_raw(by, Some(post), bytes, 1),
            _ => head,
        };
        let (abandon, abandoned) = oneshot::channel();
        lock(&core.open).insert(post, abandon);
        tokio::spawn(exchange::run(core.clone(), client.clone(), request, post, role, abandoned));
        Ok(Posted { frame, post: Some(post) })
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        lock(&self.core.open).clear();
    }
}

impl Core {
    /// The text with every placeholder replaced by its token.
    fn with_tokens(&self, text: &str) -> String {
        let text =
            self.tokens.iter().fold(text.to_owned(), |text, token| text.replace(&token.stand_in(), &token.value));
        self.channel.received.filled(text)
    }

    pub fn client(&self, scheme: &str) -> Result<&Client, String> {
        self.clients.speaking(scheme)
    }

    pub fn ended(&self, post: u64) {
        lock(&self.open).remove(&post);
    }

    pub fn put_off(&self, post: u64, so_far: PutOff) {
        lock(&self.put_off).insert(post, so_far);
    }

    pub fn so_far(&self, post: u64) -> PutOff {
        lock(&self.put_off).get(&post).copied().unwrap_or_default()
    }

    pub fn saw_event(&self, post: u64, event: &Event) {
        /// Longer ids do not fit in a request header and are not kept.
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

fn with(base: &[(&str, &str)], envelope: &Envelope) -> Envelope {
    // The envelope replaces what is usual.
    let is_given = |name: &str| envelope.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    let base =
        base.iter().filter(|(name, _)| !is_given(name)).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Envelope { by: envelope.by.clone(), headers: base.chain(envelope.headers.iter().cloned()).collect() }
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
