//! Faults in the HTTP layer: statuses, headers, requests that are not handled.

use hyper::{
    HeaderMap, StatusCode,
    header::{HeaderName, HeaderValue},
    http::request::Parts,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    faults::{Committed, DataFault, Faults},
    http::{Body, Lax, Reply, empty},
    oauth::Settings,
};
use conform_faults::apply;
use conform_model::revision::Revision;

/// The stream to which a server of HTTP+SSE assigns a message that was posted for one of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Misroute {
    /// The stream that was opened last.
    Newest,
    /// Any other stream, if that one is closed.
    Any,
    /// None if that stream is closed, without an error.
    Nowhere,
    /// Once a stream is closed, none for any message.
    NoMore,
    /// The right stream, but the response is in the body of the response to the POST.
    InBody,
}

/// How messages are sent over Streamable HTTP.
#[derive(Clone, Copy)]
pub struct HttpWays {
    pub bodies: Bodies,
    /// Legacy requests need no session, and there is none.
    pub stateless: bool,
    /// While one session is open, no other can be opened.
    pub one_session: bool,
    /// While one stream that was opened by GET is open, no other can be opened in its session.
    pub one_get_stream: bool,
    /// Changes each event.
    pub event: Option<Rewrite>,
    /// Responses are sent to the client that last used their id.
    pub by_id: bool,
}

/// Changes the bytes of an event.
pub type Rewrite = fn(&[u8]) -> Vec<u8>;

impl HttpWays {
    pub const USUAL: Self = Self {
        bodies: Bodies::AsNeeded,
        stateless: false,
        one_session: false,
        one_get_stream: false,
        event: None,
        by_id: false,
    };
}

/// What happens to an HTTP request before it is handled.
pub enum Met {
    Served,
    /// It gets this response and is not handled.
    Answered(Reply),
    /// Its connection is closed.
    HungUp,
}

/// The form of a response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bodies {
    /// JSON if the response is ready, otherwise an event stream.
    AsNeeded,
    /// Always an event stream.
    Events,
    /// Always JSON, without the messages that would accompany the response.
    Json,
}

/// An HTTP request as the conditions of a fault see it: `method`, `path`, `query` and its
/// parameters as `parameters`, `headers`, the parameters of its body as `form` and, if that is JSON, `message`.
pub struct HttpRequest(Value);

impl HttpRequest {
    pub fn new(head: &Parts, body: &[u8]) -> Self {
        let headers = described(&head.headers);
        let mut request = json!({ "method": head.method.as_str(), "path": head.uri.path(), "headers": headers });
        if let Some(query) = head.uri.query() {
            request["query"] = json!(query);
        }
        if let Ok(message) = serde_json::from_slice::<Value>(body) {
            request["message"] = message;
        }
        for (name, text) in [("parameters", head.uri.query().unwrap_or_default().as_bytes()), ("form", body)] {
            let pairs = form_urlencoded::parse(text).map(|(name, value)| (name.into_owned(), json!(value)));
            request[name] = Value::Object(pairs.collect());
        }
        Self(request)
    }

    pub fn message(&self) -> &Value {
        &self.0["message"]
    }

    /// The text with the address that the client used.
    fn filled(&self, text: &str) -> String {
        let host = self.0["headers"]["host"].as_str().unwrap_or_default();
        text.replace("$origin", &format!("http://{host}"))
    }
}

impl Faults {
    /// Headers of this request that the server ignores.
    pub fn overlooked_headers(&self, request: &HttpRequest) -> Vec<String> {
        match &self.committed {
            Some(Committed::Data(fault)) if fault.edit.fits(Some(&request.0), None) => fault.ignore_headers.clone(),
            _ => Vec::new(),
        }
    }

    /// The id of the session that is opened as number `n`.
    pub fn session_id(&self, n: usize) -> Option<String> {
        match &self.committed {
            Some(Committed::Data(fault)) => fault.session_id.as_ref().map(|id| id.replace("$n", &n.to_string())),
            _ => None,
        }
    }

    /// Whether a new session ends all others.
    pub fn lax(&self) -> Vec<Lax> {
        match &self.committed {
            Some(Committed::Data(fault)) => fault.lax.clone(),
            _ => Vec::new(),
        }
    }

    pub fn keeps_one_client(&self) -> bool {
        matches!(&self.committed, Some(Committed::Data(fault)) if fault.one_client)
    }

    /// The revisions that the server speaks in place of the configured ones.
    pub fn speaks(&self) -> Option<Vec<Revision>> {
        match &self.committed {
            Some(Committed::Data(fault)) => fault.speaks.clone(),
            _ => None,
        }
    }

    /// Whether the server listens on all addresses of the machine.
    pub fn listens_everywhere(&self) -> bool {
        matches!(&self.committed, Some(Committed::Data(fault)) if fault.listens_everywhere)
    }

    /// Whether names of headers are recognized in lower case only.
    pub fn lower_case_only(&self) -> bool {
        matches!(&self.committed, Some(Committed::Data(fault)) if fault.lower_case_only)
    }

    /// The query in the URL that clients are given.
    pub fn query(&self) -> &'static str {
        match &self.committed {
            Some(Committed::Behaviour(behaviour)) => behaviour.query,
            _ => "",
        }
    }

    /// The authorization of the world.
    pub fn oauth(&self) -> Option<&'static Settings> {
        match &self.committed {
            Some(Committed::Behaviour(behaviour)) => behaviour.oauth,
            _ => None,
        }
    }

    /// The beginning of a stream of HTTP+SSE.
    pub fn opening(&self, endpoint: &str) -> Option<String> {
        match &self.committed {
            Some(Committed::Data(fault)) => {
                fault.opening.as_ref().map(|opening| opening.replace("$endpoint", endpoint))
            }
            Some(Committed::Behaviour(behaviour)) => {
                behaviour.opening.map(|opening| opening.replace("$endpoint", endpoint))
            }
            None => None,
        }
    }

    /// The name of the events that carry messages over HTTP+SSE.
    pub fn event_name(&self) -> Option<&str> {
        match &self.committed {
            Some(Committed::Data(fault)) => fault.event_name.as_deref(),
            _ => None,
        }
    }

    /// The stream for a posted message.
    pub fn misroutes(&self) -> Option<Misroute> {
        match &self.committed {
            Some(Committed::Data(fault)) => fault.misroutes,
            _ => None,
        }
    }

    /// The response to a request that is not handled.
    pub fn unheard(&mut self, request: &HttpRequest) -> Option<Reply> {
        let fault = self.data().filter(|fault| fault.unheard)?;
        let mut reply = empty(StatusCode::OK);
        fault.affects(&request.0, None).then(|| fault.dress(request, &mut reply))?;
        Some(reply)
    }

    /// Whether the connection is closed in place of a response.
    pub fn hangs_up(&mut self, request: &HttpRequest) -> bool {
        self.data().is_some_and(|fault| fault.hangs_up && fault.affects(&request.0, None))
    }

    /// Whether the client waits forever for a response.
    pub fn keeps_waiting(&mut self, request: &HttpRequest) -> bool {
        self.data().is_some_and(|fault| fault.keeps_waiting && fault.affects(&request.0, None))
    }

    /// Whether a request without access is accepted.
    pub fn unguarded(&mut self, request: &HttpRequest) -> bool {
        self.data().is_some_and(|fault| fault.unguarded && fault.affects(&request.0, None))
    }

    /// What happens to a request before it is handled.
    pub fn meet(&mut self, request: &HttpRequest) -> Met {
        let meet = self.behaviour().and_then(|behaviour| behaviour.meet);
        meet.map_or(Met::Served, |meet| meet(&mut self.memory, &request.0))
    }

    /// Whether a message ends its stream of HTTP+SSE.
    pub fn ends_stream(&self, message: &Value) -> bool {
        self.behaviour().and_then(|behaviour| behaviour.breaks).is_some_and(|breaks| breaks(message))
    }

    /// Changes the status, the headers or the whole body of a response.
    pub fn reword(&mut self, request: &HttpRequest, reply: &mut Reply) {
        if let Some(change) = self.behaviour().and_then(|behaviour| behaviour.reply) {
            change(&mut self.memory, &request.0, reply);
        }
        let Some(fault) =
            self.data().filter(|fault| !fault.unheard && !fault.unguarded && !fault.hangs_up && !fault.keeps_waiting)
        else {
            return;
        };
        let mut response = json!({ "status": reply.status().as_u16(), "headers": described(reply.headers()) });
        if let Body::Whole(Some(bytes)) = reply.body() {
            response["body"] = serde_json::from_slice(bytes).unwrap_or_default();
        }
        if !fault.affects(&request.0, Some(&response)) {
            return;
        }
        fault.dress(request, reply);
        if let (Some(operations), Body::Whole(Some(bytes))) = (&fault.edit.patch, reply.body())
            && let Ok(mut document) = serde_json::from_slice(bytes)
        {
            apply(&mut document, operations);
            *reply.body_mut() = Body::Whole(Some(document.to_string().into()));
        }
    }

    fn data(&mut self) -> Option<&mut DataFault> {
        match &mut self.committed {
            Some(Committed::Data(fault)) => Some(fault),
            _ => None,
        }
    }
}

impl DataFault {
    /// Changes the status, the headers and the body of a response, where they are set.
    fn dress(&self, request: &HttpRequest, reply: &mut Reply) {
        if let Some(status) = self.edit.status.and_then(|status| StatusCode::from_u16(status).ok()) {
            *reply.status_mut() = status;
        }
        for (name, value) in &self.edit.headers {
            let Ok(name) = name.parse::<HeaderName>() else { continue };
            match value.as_deref().map(|value| HeaderValue::from_str(&request.filled(value))) {
                Some(Ok(value)) => drop(reply.headers_mut().insert(name, value)),
                Some(Err(_)) => {}
                None => drop(reply.headers_mut().remove(name)),
            }
        }
        if let Some(raw) = &self.edit.raw {
            let id = request.0.pointer("/message/id").unwrap_or(&Value::Null);
            *reply.body_mut() = Body::Whole(Some(request.filled(&raw.replace("$id", &id.to_string())).into()));
        }
    }
}

fn described(headers: &HeaderMap) -> Value {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), json!(text(value)))).collect::<Map<_, _>>().into()
}
