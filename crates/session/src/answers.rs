//! What the client declares about itself, and how it responds to requests of a server.

use serde_json::{Map, Value, json};

use super::filling::{filled, misfit};
use conform_model::{evidence::Manner, revision::Revision};

/// The settings that a client declares for an extension.
fn settings(extension: &str) -> Value {
    match extension {
        "io.modelcontextprotocol/ui" => json!({ "mimeTypes": ["text/html;profile=mcp-app"] }),
        _ => json!({}),
    }
}

/// A response, or the code and message of an error.
pub type Answer = Result<Value, (i64, String)>;

/// Maximum number of tool requests by a normal model, if the server never returns their results.
const MAX_TOOL_REQUESTS: usize = 20;
/// A path that no machine has.
const NOWHERE: &str = "file:///mcp-conform-no-such-place-7d1c";

/// The client as the server sees it. Configurable, because a server may only request what the client declares.
#[derive(Clone, Debug)]
pub struct ClientProfile {
    pub roots: Option<Vec<String>>,
    pub sampling: bool,
    pub elicitation: bool,
    /// Declares details of the capabilities: forms and URLs, tools and context.
    pub details: bool,
    /// Responses have optional fields: `_meta`, and names of roots.
    pub decorated: bool,
    /// An error without the id of its request does not end the wait for the response.
    pub needs_ids: bool,
    /// The identifier of an extension that is declared.
    pub extension: Option<String>,
}

impl Default for ClientProfile {
    fn default() -> Self {
        Self {
            roots: Some(vec!["file:///".into()]),
            sampling: true,
            elicitation: true,
            details: true,
            decorated: false,
            needs_ids: false,
            extension: None,
        }
    }
}

impl ClientProfile {
    pub fn bare() -> Self {
        Self { roots: None, sampling: false, elicitation: false, details: false, ..Self::default() }
    }

    /// The capabilities in the format of the revision.
    pub fn capabilities(&self, revision: Revision) -> Value {
        let detailed =
            |details: Value| if self.details && revision.features().capability_details { details } else { json!({}) };
        let mut declared = Map::new();
        if self.roots.is_some() {
            let roots = if revision.is_modern() { json!({}) } else { json!({ "listChanged": true }) };
            declared.insert("roots".into(), roots);
        }
        if self.sampling {
            declared.insert("sampling".into(), detailed(json!({ "tools": {}, "context": {} })));
        }
        if self.elicitation && revision.features().elicitation {
            declared.insert("elicitation".into(), detailed(json!({ "form": {}, "url": {} })));
        }
        if let Some(extension) = &self.extension {
            declared.insert("extensions".into(), json!({ extension: settings(extension) }));
        }
        Value::Object(declared)
    }

    /// The capabilities of a client with this extension.
    pub fn with_extension(&self, extension: &str, revision: Revision) -> Value {
        Self { extension: Some(extension.to_owned()), ..self.clone() }.capabilities(revision)
    }

    /// The capabilities of a client of a later revision, or with an extension of its own.
    pub fn with_unknown(&self, revision: Revision) -> Value {
        let mut declared = self.capabilities(revision);
        declared["experimental"] = json!({ "mcp-conform": {} });
        declared["mcp-conform/unknown"] = json!({ "kinds": ["any"] });
        declared
    }

    pub fn info() -> Value {
        json!({ "name": conform_model::PROGRAM, "version": conform_model::VERSION })
    }

    /// The response to a request of the server.
    pub fn respond(&self, request: &Value, manner: Option<Manner>, before: usize) -> Value {
        let id = request.get("id").cloned().unwrap_or(Value::Null);
        match self.answer(request, manner, before) {
            Ok(mut result) => {
                if self.decorated && request["method"] != "ping" {
                    result["_meta"] = decoration();
                }
                json!({ "jsonrpc": "2.0", "id": id, "result": result })
            }
            Err((code, message)) => {
                let mut error = json!({ "code": code, "message": message });
                if self.decorated {
                    error["data"] = decoration();
                }
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
        }
    }

    /// The response to `{ method, params }`. An undeclared method is unknown. Without a manner, there are roots and a
    /// model's text, but no user. `before` is the number of earlier requests.
    pub fn answer(&self, request: &Value, manner: Option<Manner>, before: usize) -> Answer {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        let params = request.get("params").unwrap_or(&Value::Null);
        match method {
            "ping" => Ok(json!({})),
            "roots/list" | "sampling/createMessage" | "elicitation/create" if manner == Some(Manner::Refuse) => {
                Err((-32603, "rejected by the test client".into()))
            }
            "roots/list" if self.roots.is_some() => Ok(self.list_roots(manner)),
            "sampling/createMessage" if self.sampling => sample(params, manner, before),
            "elicitation/create" if self.elicitation => Ok(elicit(params, manner)),
            _ => Err((-32601, format!("the test client does not support {method}"))),
        }
    }

    fn list_roots(&self, manner: Option<Manner>) -> Value {
        let given = match manner {
            Some(Manner::Wrong) => return json!({ "roots": "none" }),
            Some(Manner::Unfit) => vec![NOWHERE.to_owned()],
            _ => self.roots.clone().unwrap_or_default(),
        };
        let root = |(index, uri): (usize, &String)| {
            let mut root = json!({ "uri": uri });
            if self.decorated {
                root["name"] = json!(format!(" Root {index} Größe "));
                root["_meta"] = decoration();
            }
            root
        };
        json!({ "roots": given.iter().enumerate().map(root).collect::<Vec<_>>() })
    }
}

/// Values and names that programs often drop or change.
pub fn decoration() -> Value {
    json!({ "com.example/trace": "4bf92f3577b34da6", "com.example/odd": {
        "none": null, "no": false, "zero": 0, "text": " Ü e\u{301} 🦀 ", "nothing": "", "list": [], "object": {}, "equal": ["b", "a", "b"],
        "title": "T", "icons": [{ "src": "x" }], "size": 7, "mimeType": "text/plain", "annotations": { "priority": 0 },
        "_own": 1, "$ref": "#/a", "part": 0.1, "large": 1_099_511_627_776_u64, "Capital": "UPPER lower", "escaped": "%2F%20+&amp;",
        "control": "\u{1}\u{7f}", "lines": "a\r\nb\rc\n", "long": "x".repeat(1500),
    } })
}

/// A model that continues a conversation with text or, if allowed, first requests tools.
fn sample(params: &Value, manner: Option<Manner>, before: usize) -> Answer {
    let said = |content: Value, stop: &str| {
        Ok(json!({ "role": "assistant", "content": content, "model": conform_model::PROGRAM, "stopReason": stop }))
    };
    let tools = params["tools"].as_array().filter(|tools| !tools.is_empty() && params["toolChoice"]["mode"] != "none");
    match (manner, tools) {
        (Some(Manner::Decline | Manner::Cancel), _) => Err((-1, "User rejected sampling request".into())),
        (Some(Manner::Wrong), _) => Ok(json!({ "role": "assistant", "model": conform_model::PROGRAM })),
        (Some(Manner::Unfit), _) => said(json!({ "type": "mcp-conform-unknown" }), "endTurn"),
        (Some(Manner::Tireless), Some(tools)) => said(wishes(tools, before), "toolUse"),
        (Some(Manner::Accept), Some(tools)) if before < MAX_TOOL_REQUESTS && !had_tools(params) => {
            said(wishes(tools, before), "toolUse")
        }
        _ => said(json!({ "type": "text", "text": "A fixed response of the test client." }), "endTurn"),
    }
}

fn had_tools(params: &Value) -> bool {
    let messages = params["messages"].as_array().into_iter().flatten();
    messages.filter_map(|message| message["content"].as_array()).flatten().any(|block| block["type"] == "tool_result")
}

/// Two concurrent tool uses.
fn wishes(tools: &[Value], before: usize) -> Value {
    let pair = tools.iter().cycle().take(2).enumerate();
    let wish = |(number, tool): (usize, &Value)| {
        let id = format!("use-{before}-{number}");
        json!({ "type": "tool_use", "id": id, "name": tool["name"], "input": filled(&tool["inputSchema"]) })
    };
    pair.map(wish).collect()
}

fn elicit(params: &Value, manner: Option<Manner>) -> Value {
    let content = |filled: Value| match params["mode"].as_str() {
        Some("url") => json!({ "action": "accept" }),
        _ => json!({ "action": "accept", "content": filled }),
    };
    match manner {
        None | Some(Manner::Decline | Manner::Refuse) => json!({ "action": "decline" }),
        Some(Manner::Cancel) => json!({ "action": "cancel" }),
        Some(Manner::Wrong) => json!({ "action": "mcp-conform-perhaps" }),
        Some(Manner::Unfit) => content(misfit(&params["requestedSchema"])),
        Some(Manner::Empty) => content(json!({})),
        Some(_) => content(filled(&params["requestedSchema"])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_only_what_was_declared() {
        let profile = ClientProfile { roots: None, sampling: false, ..ClientProfile::default() };
        let ask = |method: &str| profile.respond(&json!({ "jsonrpc": "2.0", "id": "a", "method": method }), None, 0);
        assert_eq!(ask("ping"), json!({ "jsonrpc": "2.0", "id": "a", "result": {} }));
        assert_eq!(ask("roots/list")["error"]["code"], json!(-32601));
        assert_eq!(ask("sampling/createMessage")["error"]["code"], json!(-32601));
        assert_eq!(ask("elicitation/create")["result"]["action"], json!("decline"));
    }

    #[test]
    fn details_are_declared_only_where_they_exist() {
        let profile = ClientProfile::default();
        assert!(profile.capabilities(Revision::V2025_03_26).get("elicitation").is_none());
        assert_eq!(profile.capabilities(Revision::V2025_06_18)["elicitation"], json!({}));
        assert_eq!(profile.capabilities(Revision::V2025_11_25)["elicitation"], json!({ "form": {}, "url": {} }));
        assert_eq!(ClientProfile::bare().capabilities(Revision::NEWEST), json!({}));
    }

    #[test]
    fn a_model_wishes_for_tools_once_and_the_tireless_one_always() {
        let ask = |messages: Value| json!({ "method": "sampling/createMessage", "params": { "tools": [{ "name": "a" }], "messages": messages } });
        let given = json!([{ "role": "user", "content": [{ "type": "tool_result" }] }]);
        let content = |manner, before| {
            let messages = if before == 0 { json!([]) } else { given.clone() };
            ClientProfile::default().answer(&ask(messages), Some(manner), before).unwrap()["content"].clone()
        };
        assert_eq!(content(Manner::Accept, 0)[1]["name"], "a");
        assert_eq!(content(Manner::Accept, 1)["type"], "text");
        assert_eq!(content(Manner::Tireless, 7)[0]["id"], "use-7-0");
    }
}
