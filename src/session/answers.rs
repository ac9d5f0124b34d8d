//! What the client says of itself, and what it answers when a server of a legacy revision asks it something.

use serde_json::{Map, Value, json};

use crate::revision::Revision;

/// The client that the server gets to see. Settable, because what a server may ask depends on it.
#[derive(Clone, Debug)]
pub struct ClientFace {
    pub roots: Option<Vec<String>>,
    pub sampling: bool,
    pub elicitation: bool,
}

impl Default for ClientFace {
    fn default() -> Self {
        Self { roots: Some(vec!["file:///".into()]), sampling: true, elicitation: true }
    }
}

impl ClientFace {
    /// The capabilities as the revision spells them.
    pub fn capabilities(&self, revision: Revision) -> Value {
        let mut declared = Map::new();
        if self.roots.is_some() {
            let roots = if revision.is_modern() { json!({}) } else { json!({ "listChanged": false }) };
            declared.insert("roots".into(), roots);
        }
        if self.sampling {
            declared.insert("sampling".into(), json!({}));
        }
        if self.elicitation && revision >= Revision::V2025_06_18 {
            declared.insert("elicitation".into(), json!({}));
        }
        Value::Object(declared)
    }

    pub fn info() -> Value {
        json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") })
    }

    /// The response to a request of the server. What was not declared is an unknown method.
    pub fn answer(&self, request: &Value) -> Value {
        let id = request.get("id").cloned().unwrap_or(Value::Null);
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        let result = match (method, &self.roots) {
            ("ping", _) => json!({}),
            ("roots/list", Some(roots)) => {
                json!({ "roots": roots.iter().map(|uri| json!({ "uri": uri })).collect::<Vec<_>>() })
            }
            ("sampling/createMessage", _) if self.sampling => json!({
                "role": "assistant",
                "content": { "type": "text", "text": "A canned answer of the test client." },
                "model": env!("CARGO_PKG_NAME"),
                "stopReason": "endTurn",
            }),
            ("elicitation/create", _) if self.elicitation => json!({ "action": "decline" }),
            _ => {
                let message = format!("the test client does not offer {method}");
                return json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": message } });
            }
        };
        json!({ "jsonrpc": "2.0", "id": id, "result": result })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_only_what_was_declared() {
        let face = ClientFace { roots: None, sampling: false, elicitation: true };
        let ask = |method: &str| face.answer(&json!({ "jsonrpc": "2.0", "id": "a", "method": method }));
        assert_eq!(ask("ping"), json!({ "jsonrpc": "2.0", "id": "a", "result": {} }));
        assert_eq!(ask("roots/list")["error"]["code"], json!(-32601));
        assert_eq!(ask("sampling/createMessage")["error"]["code"], json!(-32601));
        assert_eq!(ask("elicitation/create")["result"]["action"], json!("decline"));
    }

    #[test]
    fn elicitation_is_declared_only_where_it_exists() {
        let face = ClientFace::default();
        assert!(face.capabilities(Revision::V2025_03_26).get("elicitation").is_none());
        assert!(face.capabilities(Revision::V2025_06_18).get("elicitation").is_some());
    }
}
