//! Faults in what HTTP adds to the messages: statuses, headers, requests that are not handled.

use hyper::{
    HeaderMap, StatusCode,
    header::{HeaderName, HeaderValue},
    http::request::Parts,
};
use serde_json::{Map, Value, json};

use crate::reference::{
    faults::{Committed, DataFault, Faults},
    http::{Body, Reply},
};

/// An HTTP request as the conditions of a fault see it: `method`, `path` and `headers`.
pub struct HttpRequest(Value);

impl HttpRequest {
    pub fn new(head: &Parts) -> Self {
        let headers = described(&head.headers);
        Self(json!({ "method": head.method.as_str(), "path": head.uri.path(), "headers": headers }))
    }
}

impl Faults {
    /// Headers that the server never looks at.
    pub fn ignored_headers(&self) -> &[String] {
        match &self.committed {
            Some(Committed::Data(fault)) => &fault.ignore_headers,
            _ => &[],
        }
    }

    /// The status that a request gets without being handled.
    pub fn unheard(&mut self, request: &HttpRequest) -> Option<StatusCode> {
        let fault = self.data().filter(|fault| fault.unheard)?;
        let status = fault.status.and_then(|status| StatusCode::from_u16(status).ok());
        fault.strikes(&request.0, None).then_some(status.unwrap_or(StatusCode::OK))
    }

    /// Changes the status, the headers or the whole body of a response.
    pub fn reword(&mut self, request: &HttpRequest, reply: &mut Reply) {
        let Some(fault) = self.data().filter(|fault| !fault.unheard) else { return };
        let response = json!({ "status": reply.status().as_u16(), "headers": described(reply.headers()) });
        if !fault.strikes(&request.0, Some(&response)) {
            return;
        }
        if let Some(status) = fault.status.and_then(|status| StatusCode::from_u16(status).ok()) {
            *reply.status_mut() = status;
        }
        for (name, value) in &fault.answer_headers {
            let Ok(name) = name.parse::<HeaderName>() else { continue };
            match value.as_deref().map(HeaderValue::from_str) {
                Some(Ok(value)) => drop(reply.headers_mut().insert(name, value)),
                Some(Err(_)) => {}
                None => drop(reply.headers_mut().remove(name)),
            }
        }
        if let Some(raw) = &fault.raw {
            *reply.body_mut() = Body::Whole(Some(raw.clone().into()));
        }
    }

    fn data(&mut self) -> Option<&mut DataFault> {
        match &mut self.committed {
            Some(Committed::Data(fault)) => Some(fault),
            _ => None,
        }
    }
}

fn described(headers: &HeaderMap) -> Value {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), json!(text(value)))).collect::<Map<_, _>>().into()
}
