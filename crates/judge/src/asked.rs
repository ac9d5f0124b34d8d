//! Requests of a server to the client, in one form. Up to 2025-11-25 a server sends them itself; since then they are
//! inside results.

use serde::Serialize;
use serde_json::Value;

use super::exchange::Origin;
use conform_model::{evidence::Message, revision::Revision};
use conform_suite::push_token;

/// An item of `$asked`.
#[derive(Debug, Serialize)]
pub struct Asked {
    /// `request` or `input`.
    via: &'static str,
    method: Value,
    declared: Value,
    undeclared: Vec<&'static str>,
    /// The methods of the requests that are open.
    during: Vec<String>,
    pub origin: Origin,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    /// Its key in `inputRequests`.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Whether it came on a stream that belongs to no request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_get: Option<bool>,
}

impl Asked {
    pub fn of(
        request: &Value,
        declared: &Value,
        during: Vec<String>,
        revision: Option<Revision>,
        origin: Origin,
    ) -> Self {
        let field = |name: &str| request.get(name).cloned();
        Self {
            via: "request",
            method: field("method").unwrap_or_default(),
            declared: declared.clone(),
            undeclared: undeclared(request, declared, revision),
            during,
            origin,
            params: field("params"),
            id: field("id"),
            key: None,
            on_get: None,
        }
    }
}

/// The requests inside an input-required result.
pub fn inputs(exchange: &Value, response: &Message, origin: &Origin) -> Vec<Asked> {
    let result = response.result();
    if result["resultType"] != "input_required" {
        return Vec::new();
    }
    let capabilities = exchange.pointer("/params/_meta/io.modelcontextprotocol~1clientCapabilities");
    let (declared, method) = (capabilities.unwrap_or(&Value::Null), exchange["method"].as_str().unwrap_or_default());
    let requests = result["inputRequests"].as_object().into_iter().flatten();
    requests
        .map(|(key, request)| {
            let mut pointer = format!("{}/result/inputRequests", origin.pointer);
            push_token(&mut pointer, key);
            let origin = Origin { pointer, ..origin.clone() };
            let asked = Asked::of(request, declared, vec![method.to_owned()], Some(Revision::NEWEST), origin);
            Asked { via: "input", key: Some(key.clone()), ..asked }
        })
        .collect()
}

/// Capabilities that the request needs and the client did not declare.
fn undeclared(request: &Value, declared: &Value, revision: Option<Revision>) -> Vec<&'static str> {
    let lacks = |capability: &str| declared.pointer(capability).is_none_or(Value::is_null);
    let detailed = revision.is_some_and(|revision| revision.features().capability_details);
    let params = &request["params"];
    let needed: Vec<(bool, &str, &'static str)> = match request["method"].as_str().unwrap_or_default() {
        "roots/list" => vec![(true, "/roots", "roots")],
        "sampling/createMessage" if lacks("/sampling") => vec![(true, "/sampling", "sampling")],
        "sampling/createMessage" => vec![
            (params.get("tools").is_some() || params.get("toolChoice").is_some(), "/sampling/tools", "sampling.tools"),
            (
                params["includeContext"] == "thisServer" || params["includeContext"] == "allServers",
                "/sampling/context",
                "sampling.context",
            ),
        ],
        "elicitation/create" if lacks("/elicitation") => vec![(true, "/elicitation", "elicitation")],
        "elicitation/create" if params["mode"] == "url" => vec![(true, "/elicitation/url", "elicitation.url")],
        // The default mode is a form.
        "elicitation/create" if !lacks("/elicitation/url") => vec![(true, "/elicitation/form", "elicitation.form")],
        _ => Vec::new(),
    };
    let counts = |name: &str| detailed || !name.contains('.');
    let missing = needed.into_iter().filter(|(needed, at, name)| *needed && counts(name) && lacks(at));
    missing.map(|(_, _, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lacking(params: &Value, declared: &Value) -> Vec<&'static str> {
        let method = if params.get("maxTokens").is_some() { "sampling/createMessage" } else { "elicitation/create" };
        undeclared(&json!({ "method": method, "params": params }), declared, Some(Revision::V2025_11_25))
    }

    #[test]
    fn modes_and_tools_have_to_be_declared() {
        let nothing: [&str; 0] = [];
        let plain = json!({ "elicitation": {}, "sampling": {} });
        assert_eq!(lacking(&json!({}), &plain), nothing);
        assert_eq!(lacking(&json!({ "mode": "url" }), &plain), ["elicitation.url"]);
        assert_eq!(lacking(&json!({}), &json!({ "elicitation": { "url": {} } })), ["elicitation.form"]);
        assert_eq!(lacking(&json!({}), &json!({})), ["elicitation"]);
        let both = json!({ "maxTokens": 1, "tools": [], "includeContext": "allServers" });
        assert_eq!(lacking(&both, &plain), ["sampling.tools", "sampling.context"]);
        assert_eq!(lacking(&both, &json!({ "sampling": { "tools": {}, "context": {} } })), nothing);
    }
}
