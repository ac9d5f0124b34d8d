//! What a JSON-RPC message is: the only place that decides it.

use serde::Serialize;
use serde_json::Value;

/// The kind of a message by the fields that it has, whatever their values: a defective request is still a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Request,
    Notification,
    Result,
    Error,
    Other,
}

/// A message with its kind.
#[derive(Clone, Copy, Debug)]
pub struct Message<'m> {
    pub kind: Kind,
    pub id: Option<&'m Value>,
    /// Empty if it has none, or one that is not a string.
    pub method: &'m str,
    pub whole: &'m Value,
}

impl<'m> Message<'m> {
    pub fn of(whole: &'m Value) -> Self {
        let (id, method) = (whole.get("id"), whole.get("method"));
        let kind = match (method.is_some(), id.is_some()) {
            (true, true) => Kind::Request,
            (true, false) => Kind::Notification,
            _ if whole.get("error").is_some() => Kind::Error,
            _ if whole.get("result").is_some() => Kind::Result,
            _ => Kind::Other,
        };
        Self { kind, id, method: method.and_then(Value::as_str).unwrap_or_default(), whole }
    }

    /// The messages of a frame, each with its pointer: those of a batch, or only one.
    pub fn all(whole: &'m Value) -> impl Iterator<Item = (String, Self)> {
        let one = if whole.is_array() { None } else { Some((String::new(), Self::of(whole))) };
        let batch = whole.as_array().into_iter().flatten().enumerate();
        one.into_iter().chain(batch.map(|(index, message)| (format!("/{index}"), Self::of(message))))
    }

    /// Its kind if the fields of no other kind are there and the method is a string; else `Other`.
    pub fn exact_kind(&self) -> Kind {
        let has = |name: &str| self.whole.get(name).is_some();
        let is_exact = match self.kind {
            Kind::Request | Kind::Notification => self.whole["method"].is_string() && !has("result") && !has("error"),
            Kind::Error => !has("result"),
            Kind::Result | Kind::Other => true,
        };
        if is_exact { self.kind } else { Kind::Other }
    }

    /// Whether it can only be a response: it has no method. One without an id and without a result may be anything.
    pub fn is_response(&self) -> bool {
        matches!(self.kind, Kind::Result | Kind::Error | Kind::Other)
    }

    /// Whether it has requests of a server for the client, itself or in its result.
    pub fn asks(&self) -> bool {
        self.kind == Kind::Request || self.whole.pointer("/result/inputRequests").is_some()
    }

    pub fn is_version_2(&self) -> bool {
        self.whole["jsonrpc"] == "2.0"
    }

    pub fn params(&self) -> &'m Value {
        self.whole.get("params").unwrap_or(&Value::Null)
    }

    pub fn result(&self) -> &'m Value {
        self.whole.get("result").unwrap_or(&Value::Null)
    }

    /// The token by which a request wants progress.
    pub fn token(&self) -> Option<&'m Value> {
        self.whole.pointer("/params/_meta/progressToken")
    }

    /// The id of the request that a cancellation names.
    pub fn cancels(&self) -> Option<&'m Value> {
        self.whole.pointer("/params/requestId").filter(|_| self.method == "notifications/cancelled")
    }
}
