//! Completes messages with the fields that each revision requires, and applies the deviations of probes.

use serde_json::{Map, Value, json};

use super::{answers::ClientProfile, negotiated::Session};
use conform_model::{
    evidence::{Part, Transport},
    revision::Revision,
};

const HANDSHAKE: &str = "initialize";

/// The parts of a message that deviate, each with its replacement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deviation(pub Vec<(Part, Option<Value>)>);

impl Deviation {
    pub fn change(&self, message: &mut Value) {
        // The location of the other parts depends on the method.
        let (last, first): (Vec<_>, Vec<_>) = self.0.iter().partition(|(part, _)| *part == Part::Method);
        for (part, value) in first.into_iter().chain(last) {
            part.replace(message, value.clone());
        }
    }

    /// What is unlike the usual request, to be appended to its name. Over stdio no headers are sent.
    pub fn in_words(&self, transport: Transport) -> String {
        let is_sent = |part: &Part| !(transport.capabilities().process && matches!(part, Part::Header(_)));
        let sent = self.0.iter().filter(|(part, _)| is_sent(part));
        let parts: Vec<String> = sent.map(|(part, value)| part.unlike(value.as_ref())).collect();
        if parts.is_empty() { String::new() } else { format!(" {}", parts.join(" and ")) }
    }

    /// The headers that replace usual ones, and the names of omitted ones.
    pub fn headers(&self) -> (Vec<(String, String)>, Vec<String>) {
        let (mut headers, mut without) = (Vec::new(), Vec::new());
        for (part, value) in &self.0 {
            match (part, value) {
                (Part::Header(name), None | Some(Value::Null)) => without.push(name.clone()),
                (Part::Header(name), Some(Value::String(text))) => headers.push((name.clone(), text.clone())),
                (Part::Header(name), Some(other)) => headers.push((name.clone(), other.to_string())),
                _ => {}
            }
        }
        (headers, without)
    }
}

impl Session {
    /// Adds all fields that the revision requires. Existing fields are kept.
    pub fn completed(&self, message: Value) -> Value {
        let Value::Object(mut given) = message else {
            let Value::Array(batch) = message else { return message };
            return batch.into_iter().map(|message| self.completed(message)).collect();
        };
        let mut complete = Map::from_iter([("jsonrpc".to_owned(), json!("2.0"))]);
        let method = given.get("method").and_then(Value::as_str).map(str::to_owned);
        let asks = method.as_ref().is_some_and(|method| !method.starts_with("notifications/"));
        if asks {
            let id = given.shift_remove("id").unwrap_or_else(|| json!(format!("mcp-conform-{}", self.next_id())));
            complete.insert("id".to_owned(), id);
        }
        let params = given.shift_remove("params");
        let params = method.filter(|_| asks).map_or(params.clone(), |method| self.complete(&method, params));
        complete.append(&mut given);
        complete.extend(params.map(|params| ("params".to_owned(), params)));
        Value::Object(complete)
    }

    /// Adds all fields that the revision requires to the params of a request.
    pub(super) fn complete(&self, method: &str, params: Option<Value>) -> Option<Value> {
        complete(&self.shared.profile, self.revision(), method, params)
    }
}

/// As [`Session::complete`], if the revision may not be negotiated yet.
pub(super) fn complete(
    profile: &ClientProfile,
    revision: Option<Revision>,
    method: &str,
    params: Option<Value>,
) -> Option<Value> {
    let modern = revision.is_some_and(Revision::is_modern);
    if method != HANDSHAKE && !modern {
        return params;
    }
    let mut params = match params {
        None => Map::new(),
        Some(Value::Object(members)) => members,
        Some(other) => return Some(other),
    };
    if method == HANDSHAKE {
        // `initialize` belongs to earlier revisions, even if the session uses this one.
        let asked = revision.filter(|revision| !revision.is_modern()).unwrap_or(Revision::NEWEST_LEGACY);
        params.entry("protocolVersion").or_insert_with(|| json!(asked));
        params.entry("capabilities").or_insert_with(|| profile.capabilities(asked));
        params.entry("clientInfo").or_insert_with(ClientProfile::info);
        return Some(Value::Object(params));
    }
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    if let (Value::Object(meta), Some(revision)) = (meta, revision) {
        let required = [
            ("protocolVersion", json!(revision)),
            ("clientCapabilities", profile.capabilities(revision)),
            ("clientInfo", ClientProfile::info()),
        ];
        for (name, value) in required {
            meta.entry(format!("io.modelcontextprotocol/{name}")).or_insert(value);
        }
    }
    Some(Value::Object(params))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_over_stdio_has_no_name_of_a_header() {
        let [version, header] = ["protocolVersion", "MCP-Protocol-Version"].map(Part::named);
        let deviation = Deviation(vec![(version, Some(json!("1900"))), (header, Some(json!("1900")))]);
        assert_eq!(deviation.in_words(Transport::Stdio), r#" with `protocolVersion` "1900""#);
        let both = r#" with `protocolVersion` "1900" and with `MCP-Protocol-Version` "1900""#;
        assert_eq!(deviation.in_words(Transport::Http), both);
    }

    #[test]
    fn each_revision_asks_for_its_own() {
        let profile = ClientProfile::default();
        let complete = |revision, method, params: Value| complete(&profile, Some(revision), method, Some(params));
        let old = Revision::V2025_06_18;
        assert_eq!(complete(old, "tools/list", json!({})), Some(json!({})));
        let list = complete(Revision::V2026_07_28, "tools/list", json!({ "cursor": "a" })).unwrap();
        let meta: Vec<&String> = list["_meta"].as_object().unwrap().keys().collect();
        assert_eq!((&list["cursor"], meta.len()), (&json!("a"), 3));
        for revision in [old, Revision::V2026_07_28] {
            let hello = complete(revision, "initialize", json!({ "capabilities": {} })).unwrap();
            assert_eq!((&hello["capabilities"], hello.get("_meta")), (&json!({}), None));
            assert!(hello["clientInfo"].is_object() && hello["protocolVersion"] != json!(Revision::V2026_07_28));
        }
    }

    #[test]
    fn a_deviation_changes_what_it_names_and_nothing_else() {
        let part = |name: &str, value: Option<Value>| (Part::named(name), value);
        let deviation = Deviation(vec![
            part("method", Some(json!("tools/list"))),
            part("clientInfo", None),
            part("Mcp-Method", None),
            part("Mcp-Name", Some(json!("a"))),
        ]);
        let mut message = json!({ "method": "initialize", "params": { "clientInfo": {}, "capabilities": {} } });
        deviation.change(&mut message);
        assert_eq!(message, json!({ "method": "tools/list", "params": { "capabilities": {} } }));
        let expected = (vec![("Mcp-Name".to_owned(), "a".to_owned())], vec!["Mcp-Method".to_owned()]);
        assert_eq!(deviation.headers(), expected);
    }
}
