//! The parts of a complete message and of its HTTP request in which a probe may deviate.

use serde_json::{Map, Value};

use crate::outcome::excerpt::{columns, middle};

/// One part, named as in the specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Jsonrpc,
    Id,
    Method,
    Params,
    Meta,
    ProtocolVersion,
    /// In `initialize`.
    Capabilities,
    /// In each request since 2026-07-28.
    ClientCapabilities,
    ClientInfo,
    /// In the HTTP request.
    Header(String),
}

/// The names of the parts of a message. Any other name is a header.
pub const PARTS: [(&str, Part); 9] = [
    ("jsonrpc", Part::Jsonrpc),
    ("id", Part::Id),
    ("method", Part::Method),
    ("params", Part::Params),
    ("_meta", Part::Meta),
    ("protocolVersion", Part::ProtocolVersion),
    ("capabilities", Part::Capabilities),
    ("clientCapabilities", Part::ClientCapabilities),
    ("clientInfo", Part::ClientInfo),
];

/// Maximum number of columns of a value or an input in a name.
const SHOWN: usize = 60;

/// The name of input that is not a request, for a finding about it.
pub fn input_name(text: &str, bytes: u64) -> String {
    match text {
        text if text.contains(char::REPLACEMENT_CHARACTER) => "bytes that are not UTF-8".to_owned(),
        text if columns(text) > SHOWN => format!("{} ({bytes} bytes)", middle(text, SHOWN)),
        text => text.to_owned(),
    }
}

impl Part {
    pub fn named(name: &str) -> Self {
        let known = PARTS.iter().find(|(known, _)| *known == name);
        known.map_or_else(|| Self::Header(name.to_owned()), |(_, part)| part.clone())
    }

    /// How a request deviates with this value of the part, or without the part.
    pub fn unlike(&self, value: Option<&Value>) -> String {
        let name = match self {
            Self::Header(name) => name,
            known => PARTS.iter().find(|(_, part)| part == known).map_or("", |(name, _)| name),
        };
        match value {
            None => format!("without `{name}`"),
            Some(Value::Null) if matches!(self, Self::Header(_)) => format!("without `{name}`"),
            // It may be a token.
            Some(_) if name.eq_ignore_ascii_case("authorization") => format!("with `{name}`"),
            Some(value) => format!("with `{name}` {}", middle(&value.to_string(), SHOWN)),
        }
    }

    /// Its path in a message with this method; empty for a header.
    fn place(&self, method: Option<&str>) -> Vec<&'static str> {
        let place = |bare: &'static str, in_meta: &'static str| {
            if method == Some("initialize") { vec!["params", bare] } else { vec!["params", "_meta", in_meta] }
        };
        match self {
            Self::Jsonrpc => vec!["jsonrpc"],
            Self::Id => vec!["id"],
            Self::Method => vec!["method"],
            Self::Params => vec!["params"],
            Self::Meta => vec!["params", "_meta"],
            Self::ProtocolVersion => place("protocolVersion", "io.modelcontextprotocol/protocolVersion"),
            Self::Capabilities => vec!["params", "capabilities"],
            Self::ClientCapabilities => vec!["params", "_meta", "io.modelcontextprotocol/clientCapabilities"],
            Self::ClientInfo => place("clientInfo", "io.modelcontextprotocol/clientInfo"),
            Self::Header(_) => Vec::new(),
        }
    }

    /// Its value in the message.
    pub fn of<'m>(&self, message: &'m Value) -> Option<&'m Value> {
        let place = self.place(message.get("method").and_then(Value::as_str));
        let (last, outer) = place.split_last()?;
        outer.iter().try_fold(message, |value, name| value.get(name))?.get(last)
    }

    /// Replaces it in a message, or removes it if there is no value.
    pub fn replace(&self, message: &mut Value, value: Option<Value>) {
        let place = self.place(message.get("method").and_then(Value::as_str));
        let Some((last, outer)) = place.split_last() else { return };
        let mut inner = message;
        for name in outer {
            let Some(members) = inner.as_object_mut() else { return };
            inner = members.entry(*name).or_insert_with(|| Value::Object(Map::new()));
        }
        let Some(members) = inner.as_object_mut() else { return };
        match value {
            Some(value) => _ = members.insert((*last).to_owned(), value),
            None => _ = members.shift_remove(*last),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_is_where_the_method_has_it() {
        let mut first = json!({ "method": "initialize", "params": { "clientInfo": {}, "protocolVersion": "a" } });
        Part::ClientInfo.replace(&mut first, None);
        Part::ProtocolVersion.replace(&mut first, Some(json!("b")));
        assert_eq!(first, json!({ "method": "initialize", "params": { "protocolVersion": "b" } }));

        let mut list = json!({ "method": "tools/list" });
        Part::ProtocolVersion.replace(&mut list, Some(json!("c")));
        assert_eq!(Part::ProtocolVersion.of(&list), Some(&json!("c")));
        Part::Meta.replace(&mut list, None);
        Part::Id.replace(&mut list, Some(Value::Null));
        assert_eq!(list, json!({ "method": "tools/list", "params": {}, "id": null }));
        assert_eq!(Part::named("Mcp-Method"), Part::Header("Mcp-Method".into()));
    }
}
