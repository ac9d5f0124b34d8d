//! The message that a step sends, as far as the suite determines it, and the parts of a complete one.

use serde_json::{Value, json};

use crate::model::{Template, Verb};
use conform_model::{evidence::Part, revision::Revision};

/// The headers of a complete request.
pub const HEADERS: [&str; 6] =
    ["Accept", "Authorization", "Content-Type", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Session-Id"];
pub const NAME: &str = "Mcp-Name";
/// The methods whose requests have that header.
const NAMED: [&str; 6] = ["tools/call", "prompts/get", "resources/read", "tasks/get", "tasks/update", "tasks/cancel"];

/// The part of a template at a path, if the template spells it out.
pub fn inner(template: &Template, place: &[&str]) -> Option<Template> {
    let Some((first, rest)) = place.split_first() else { return Some(template.clone()) };
    match template {
        Template::Object(members) => inner(&members.iter().find(|(name, _)| name == first)?.1, rest),
        Template::Literal(value) => inner(&Template::Literal(value.get(first)?.clone()), rest),
        _ => None,
    }
}

/// The message that a step sends.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    pub verb: &'static str,
    pub method: Option<&'a Template>,
    pub params: Option<&'a Template>,
    pub whole: Option<&'a Template>,
    /// The response is matched by the request's id.
    pub is_awaited: bool,
    pub has_headers: bool,
}

impl Message<'_> {
    pub fn of(verb: &Verb) -> Self {
        let (verb, is_awaited, has_headers) = match verb {
            Verb::Call(_) => ("call", true, true),
            Verb::Notify(_) => ("notify", true, false),
            Verb::Send(_) => ("send", false, false),
            _ => ("http", false, true),
        };
        Self { verb, method: None, params: None, whole: None, is_awaited, has_headers }
    }

    pub fn method(&self) -> Option<&str> {
        let method = match (self.method, self.whole) {
            (Some(Template::Literal(method)), _) => Some(method),
            (_, Some(Template::Literal(message))) => message.get("method"),
            (_, Some(Template::Object(members))) => {
                match members.iter().find(|(name, _)| name == "method").map(|(_, method)| method) {
                    Some(Template::Literal(method)) => Some(method),
                    _ => None,
                }
            }
            _ => None,
        };
        method.and_then(Value::as_str)
    }

    pub fn params(&self) -> Option<Template> {
        self.params.cloned().or_else(|| inner(self.whole?, &["params"]))
    }

    /// Whether a complete message has that part.
    pub fn has(&self, part: &Part, revision: Revision) -> bool {
        let method = self.method();
        let (handshake, modern) = (method == Some("initialize"), revision.is_modern());
        let notice = self.verb == "notify" || method.is_some_and(|method| method.starts_with("notifications/"));
        match part {
            Part::Jsonrpc | Part::Method => true,
            Part::Id => !notice,
            Part::Params => (modern && !notice) || handshake || self.params().is_some(),
            Part::Meta | Part::ClientCapabilities => modern && !handshake && !notice,
            Part::ProtocolVersion | Part::ClientInfo => handshake || (modern && !notice),
            Part::Capabilities => handshake,
            Part::Header(name) => match HEADERS.iter().find(|usual| usual.eq_ignore_ascii_case(name)).copied() {
                Some("MCP-Protocol-Version") => revision.features().version_header && !handshake,
                Some("Mcp-Method") => modern && !handshake,
                Some("Mcp-Session-Id") => !modern && !handshake,
                Some(_) => true,
                None => {
                    modern && method.is_none_or(|method| NAMED.contains(&method)) && name.eq_ignore_ascii_case(NAME)
                }
            },
        }
    }

    /// The value of the part in a complete message, where it is known.
    pub fn usual(&self, part: &Part, revision: Revision) -> Option<Value> {
        let is = |header: &str| matches!(part, Part::Header(name) if name.eq_ignore_ascii_case(header));
        match part {
            Part::Jsonrpc => Some(json!("2.0")),
            Part::ProtocolVersion if self.method() == Some("initialize") && revision.is_modern() => None,
            Part::ProtocolVersion => Some(json!(revision)),
            _ if is("MCP-Protocol-Version") => Some(json!(revision)),
            Part::Method => self.method().map(Value::from),
            _ if is("Mcp-Method") => self.method().map(Value::from),
            _ => None,
        }
    }
}
