//! The HTTP headers that a revision requires of a client, for one message.

use serde_json::Value;

use conform_model::revision::Revision;
use conform_wire::encoding::header_value;

/// Headers for `message` after the revision is negotiated. `initialize` has none, since it starts a new session.
pub fn protocol_headers(
    revision: Option<Revision>,
    session_id: Option<&str>,
    message: &Value,
) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    let method = message.get("method").and_then(Value::as_str);
    let Some(revision) = revision.filter(|_| method != Some("initialize")) else { return headers };
    if let Some(id) = session_id {
        headers.push(("Mcp-Session-Id".into(), id.into()));
    }
    if revision.features().version_header {
        headers.push(("MCP-Protocol-Version".into(), revision.as_str().into()));
    }
    if revision.is_modern() {
        if let Some(method) = method {
            headers.push(("Mcp-Method".into(), header_value(method)));
        }
        let named = match method {
            Some("tools/call" | "prompts/get") => message.pointer("/params/name"),
            Some("resources/read") => message.pointer("/params/uri"),
            Some("tasks/get" | "tasks/update" | "tasks/cancel") => message.pointer("/params/taskId"),
            _ => None,
        };
        if let Some(name) = named.and_then(Value::as_str) {
            headers.push(("Mcp-Name".into(), header_value(name)));
        }
    }
    headers
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(revision: Option<Revision>, message: &Value) -> Vec<String> {
        protocol_headers(revision, Some("s"), message).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn each_revision_gets_its_own() {
        let read = json!({ "method": "resources/read", "params": { "uri": "file:///é" } });
        assert_eq!(names(None, &read), [""; 0]);
        assert_eq!(names(Some(Revision::V2025_11_25), &json!({ "method": "initialize" })), [""; 0]);
        assert_eq!(names(Some(Revision::V2025_03_26), &read), ["Mcp-Session-Id"]);
        assert_eq!(names(Some(Revision::V2025_06_18), &read), ["Mcp-Session-Id", "MCP-Protocol-Version"]);
        let modern = protocol_headers(Some(Revision::V2026_07_28), None, &read);
        assert_eq!(modern[1], ("Mcp-Method".into(), "resources/read".into()));
        assert!(modern[2].1.starts_with("=?base64?"), "{modern:?}");
    }
}
