//! What a run knows besides the frames: how a scene begins, and what is said of the target in the end.

use serde_json::{Value, json};

use super::Job;
use crate::{
    evidence::{Scene, Transport},
    outcome::TargetReport,
    revision::Revision,
    target::Target,
};

/// Names of tools in a note.
const TOOLS_SHOWN: usize = 5;

/// A scene in which nothing was gathered yet.
pub fn scene(hello: &Value, transport: Transport, revision: Revision, job: &Job) -> Scene {
    let result = &hello["result"];
    let info = match &result["serverInfo"] {
        Value::Null => &result["_meta"]["io.modelcontextprotocol/serverInfo"],
        info => info,
    };
    Scene {
        revision,
        transport,
        server: json!({
            "capabilities": result["capabilities"],
            "info": info,
            "instructions": result["instructions"],
            "hello": hello,
        }),
        client: json!({ "capabilities": job.face.capabilities(revision) }),
        facts: job.facts.clone(),
        proposals: Vec::new(),
        saves: indexmap::IndexMap::new(),
        incidents: indexmap::IndexMap::new(),
    }
}

/// The tools that no rule on their answers has seen.
pub fn left_alone(scene: &Scene) -> Option<String> {
    let names: Vec<&str> = scene.facts["left_alone"].as_array()?.iter().filter_map(Value::as_str).collect();
    let more = names.len().saturating_sub(TOOLS_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let shown = names[..names.len().min(TOOLS_SHOWN)].join(", ") + &more;
    (!names.is_empty()).then(|| {
        format!(
            "tools left alone, as they may change something or need arguments: {shown}; [tools.NAME] with = {{}} in \
             mcp-conform.toml allows one"
        )
    })
}

pub fn describe(target: &Target, scenes: &[Scene]) -> TargetReport {
    let newest = scenes.last();
    TargetReport {
        name: target.name.clone(),
        options: String::new(),
        transport: newest.map(|scene| scene.transport.to_string()).unwrap_or_default(),
        server: newest.map(|scene| scene.server["info"].clone()).filter(|info| !info.is_null()),
        capabilities: newest.map(|scene| scene.server["capabilities"].clone()).unwrap_or_default(),
        revisions: scenes.iter().map(|scene| scene.revision).collect(),
    }
}
