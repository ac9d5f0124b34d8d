//! Requests of a server to the client, in one form. Up to 2025-11-25 a server sends them itself; since then they are
//! inside results.

use serde_json::{Value, json};

use crate::{revision::Revision, suite::push_token};

/// One item of `$asked`. `via` is `request` or `input`; `during` are the methods of the requests that are open.
pub fn item(
    via: &str,
    request: &Value,
    declared: &Value,
    during: &[&str],
    revision: Option<Revision>,
    frame: u64,
    pointer: &str,
) -> Value {
    let mut item = json!({
        "via": via,
        "method": request["method"],
        "declared": declared,
        "undeclared": undeclared(request, declared, revision),
        "during": during,
        "origin": { "frame": frame, "pointer": pointer },
    });
    for member in ["params", "id"] {
        if let Some(value) = request.get(member) {
            item[member] = value.clone();
        }
    }
    item
}

/// The requests inside an input-required result.
pub fn inputs(exchange: &Value, frame: u64, pointer: &str) -> Vec<Value> {
    let result = &exchange["result"];
    if result["resultType"] != "input_required" {
        return Vec::new();
    }
    let declared = &exchange["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    let during = [exchange["method"].as_str().unwrap_or_default()];
    let requests = result["inputRequests"].as_object().into_iter().flatten();
    requests
        .map(|(key, request)| {
            let mut place = format!("{pointer}/result/inputRequests");
            push_token(&mut place, key);
            let mut item = item("input", request, declared, &during, Some(Revision::NEWEST), frame, &place);
            item["key"] = json!(key);
            item
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
