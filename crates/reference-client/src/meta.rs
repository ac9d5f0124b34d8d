//! The `_meta` of requests of 2026-07-28, and the capabilities that the client declares.

use serde_json::{Map, Value, json};

use crate::{behaviour::habits::Habits, options::Answers};
use conform_model::revision::Revision;

pub const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
pub const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
pub const INFO_KEY: &str = "io.modelcontextprotocol/clientInfo";
pub const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";

pub fn client_info() -> Value {
    json!({ "name": "mcp-conform-act", "version": env!("CARGO_PKG_VERSION") })
}

/// The capabilities that the client declares in a revision.
pub fn capabilities(answers: &Answers, habits: &Habits, revision: Revision) -> Value {
    let mut all = answers.declare.clone();
    if habits.declares_nothing {
        all.clear();
    }
    if habits.declares_all {
        let details =
            ["roots.listChanged", "sampling.tools", "sampling.context", "elicitation.form", "elicitation.url"];
        all.extend(details.map(str::to_owned));
    }
    let features = revision.features();
    let declared = |name: &str| all.iter().any(|other| other == name || other.starts_with(&format!("{name}.")));
    let details = |name: &str, known: &[&str]| {
        let known = known.iter().filter(|detail| all.contains(&format!("{name}.{detail}")));
        Value::Object(known.map(|detail| ((*detail).to_owned(), json!({}))).collect())
    };
    let mut capabilities = Map::new();
    if declared("roots") {
        let changes = all.contains("roots.listChanged") && !revision.is_modern();
        capabilities.insert("roots".to_owned(), if changes { json!({ "listChanged": true }) } else { json!({}) });
    }
    if declared("sampling") {
        let known: &[&str] = if features.capability_details { &["tools", "context"] } else { &[] };
        capabilities.insert("sampling".to_owned(), details("sampling", known));
    }
    if declared("elicitation") && features.elicitation {
        let known: &[&str] = if features.capability_details { &["form", "url"] } else { &[] };
        capabilities.insert("elicitation".to_owned(), details("elicitation", known));
    }
    if habits.declares_all {
        capabilities.insert("experimental".to_owned(), json!({ "com.example/reference": { "level": 1 } }));
        if revision.is_modern() {
            capabilities.insert("extensions".to_owned(), json!({ "com.example/reference": {} }));
        }
    }
    Value::Object(capabilities)
}

/// Adds the keys that every request of 2026-07-28 needs.
pub fn add(params: &mut Map<String, Value>, version: Revision, capabilities: &Value) {
    let meta = object(params, "_meta");
    meta.insert(VERSION_KEY.to_owned(), json!(version.as_str()));
    meta.insert(CAPABILITIES_KEY.to_owned(), capabilities.clone());
    meta.insert(INFO_KEY.to_owned(), client_info());
}

/// The object under a key, which is created if it does not exist.
pub fn object<'a>(map: &'a mut Map<String, Value>, key: &str) -> &'a mut Map<String, Value> {
    let value = map.entry(key.to_owned()).or_insert_with(|| json!({}));
    if !value.is_object() {
        *value = json!({});
    }
    value.as_object_mut().unwrap_or_else(|| unreachable!("it was just made an object"))
}
