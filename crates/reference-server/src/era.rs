//! The revision of a message: the one in its `_meta`, or the one negotiated by the handshake.

use serde_json::{Map, Value};

use crate::{
    fail::Fail,
    handlers::{self, Params},
    message::is_id,
    options::Proposals,
    session::{Level, Session},
};
use conform_model::revision::Revision;

pub const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// What a request says about the client and the revision.
pub struct Era {
    pub revision: Revision,
    pub capabilities: Value,
    pub answers: Map<String, Value>,
    pub progress: Option<Value>,
    pub level: Option<Level>,
}

/// A message with any field that only modern requests have is modern, even in a legacy session.
pub fn is_modern(message: &Value) -> bool {
    message.pointer("/params/_meta").and_then(Value::as_object).is_some_and(has_modern_members)
}

fn has_modern_members(meta: &Map<String, Value>) -> bool {
    meta.contains_key(VERSION) || meta.contains_key(CAPABILITIES)
}

/// The revision that the response to a message has, even if the message is invalid.
pub fn spoken(message: &Value, session: &Session, revisions: &[Revision]) -> Revision {
    let newest = revisions.last().copied().unwrap_or(Revision::NEWEST);
    if is_modern(message) { newest } else { session.revision.unwrap_or(newest) }
}

pub fn of(params: &Map<String, Value>, session: &Session, revisions: &[Revision], method: &str) -> Result<Era, Fail> {
    let modern = revisions.last().is_some_and(|revision| revision.is_modern());
    let nothing = Map::new();
    let meta = Params(params).optional_object("_meta")?.unwrap_or(&nothing);
    let progress = progress(meta)?;
    match session.revision {
        Some(revision) if !(modern && has_modern_members(meta)) => {
            let (answers, capabilities) = (Map::new(), session.capabilities.clone());
            Ok(Era { revision, capabilities, answers, progress, level: session.level })
        }
        // Pings are allowed before the handshake.
        None if !modern || (method == "ping" && !has_modern_members(meta)) => early(method, revisions, progress),
        _ => stateless(Params(params), Params(meta), revisions, progress),
    }
}

/// Before `initialize` only a ping is allowed; an unknown method is still reported as unknown.
fn early(method: &str, revisions: &[Revision], progress: Option<Value>) -> Result<Era, Fail> {
    let revision = revisions.iter().copied().filter(|revision| !revision.is_modern()).max();
    let revision = revision.ok_or_else(|| Fail::method(method, Revision::NEWEST))?;
    let all = Proposals { metadata: true, prefix: true, versioned: true, skills: true, apps: true };
    if method == "ping" || handlers::find(method, revision, all).is_none() {
        return Ok(Era { revision, capabilities: Value::Null, answers: Map::new(), progress, level: None });
    }
    Err(Fail::request("The session begins with `initialize`.").with_status(200))
}

fn stateless(params: Params, meta: Params, revisions: &[Revision], progress: Option<Value>) -> Result<Era, Fail> {
    let incomplete = |fail: Fail| fail.with_status(400);
    let asked = meta.string(VERSION).map_err(incomplete)?;
    let capabilities = meta.object(CAPABILITIES).map_err(incomplete)?;
    let mut spoken = revisions.iter().copied().filter(|revision| revision.is_modern());
    let revision = spoken.find(|revision| revision.as_str() == asked);
    let revision = revision.ok_or_else(|| Fail::version(asked, revisions))?;
    if let Some(client) = meta.optional_object(CLIENT)?.map(Params) {
        client.string("name")?;
        client.string("version")?;
    }
    let level = meta.optional_string(LEVEL)?;
    if level.is_some_and(|level| Level::named(level).is_none()) {
        return Err(Fail::params("The log level is unknown."));
    }
    let answers = params.optional_object("inputResponses")?.cloned().unwrap_or_default();
    params.optional_string("requestState")?;
    let capabilities = capabilities.0.clone().into();
    Ok(Era { revision, capabilities, answers, progress, level: level.and_then(Level::named) })
}

fn progress(meta: &Map<String, Value>) -> Result<Option<Value>, Fail> {
    match meta.get("progressToken") {
        Some(token) if !is_id(token) => Err(Fail::params("A progress token is a string or an integer.")),
        token => Ok(token.cloned()),
    }
}
