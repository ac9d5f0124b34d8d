//! One message on one side of the gateway.

use serde_json::Value;

use conform_model::{
    evidence::{self, Frame, Kind, Link, Side},
    revision::Revision,
};

/// The codes for a resource that does not exist, before and since the revision without a handshake.
const RESOURCE_NOT_FOUND: i64 = -32002;
pub const INVALID_PARAMS: i64 = -32602;

// The names that frames use.
#[expect(clippy::struct_field_names)]
pub struct Message {
    pub frame: u64,
    pub at: u64,
    pub link: u32,
    /// For messages of the upstream over HTTP: the session.
    pub session: String,
    pub revision: Option<Revision>,
    pub scenario: Option<String>,
    pub behind: bool,
    pub from: Side,
    pub post: Option<u64>,
    pub pointer: String,
    pub message: Value,
}

impl Message {
    pub fn new(frame: &Frame, link: &Link, pointer: String, message: Value) -> Self {
        Self {
            frame: frame.frame,
            at: frame.at,
            link: link.link,
            session: String::new(),
            revision: link.revision,
            scenario: link.scenario.clone(),
            behind: link.behind,
            from: frame.from,
            post: frame.post,
            pointer,
            message,
        }
    }

    pub fn kind(&self) -> Kind {
        evidence::Message::of(&self.message).kind
    }

    pub fn is_response(&self) -> bool {
        evidence::Message::of(&self.message).is_response()
    }

    pub fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    pub fn id(&self) -> &Value {
        &self.message["id"]
    }

    pub fn token(&self) -> Option<&Value> {
        self.message.pointer("/params/_meta/progressToken")
    }

    /// Whether it is an error that says that the resource of this request does not exist. A gateway that knows the upstream's
    /// lists can return it itself.
    pub fn is_not_found(&self, request: &Self) -> bool {
        let stateless = request.revision.is_some_and(|revision| revision.features().stateless);
        let code = if stateless { INVALID_PARAMS } else { RESOURCE_NOT_FOUND };
        request.method() == "resources/read" && self.message["error"]["code"] == code
    }

    /// Whether both belong to the same conversation.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.link == other.link && self.session == other.session
    }

    /// `request`, `notification`, `result` or `error`.
    pub fn word(&self) -> &'static str {
        match self.kind() {
            Kind::Request => "request",
            Kind::Notification => "notification",
            Kind::Error => "error",
            Kind::Result | Kind::Other => "result",
        }
    }
}
