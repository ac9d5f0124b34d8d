//! Which call becomes a task of the extension, where nobody said so: no tool says it of itself, the server decides call by
//! call. So some of those that may be called are called by a client that knows tasks, until one is answered by a task.

use std::time::Duration;

use serde_json::{Value, json};

use super::param_headers::param_headers;
use crate::{
    evidence::RunContext,
    session::{CallOptions, Conversation},
};

const BY: &str = "first-task";
const EXTENSION: &str = "extensions.io.modelcontextprotocol/tasks";
/// So many calls are tried.
const MOST: usize = 5;
/// Who gives tasks does so at once.
const PATIENCE: Duration = Duration::from_millis(500);

/// Adds `task` to the facts, if it is not there and one was found.
pub async fn first_task(scene: &mut RunContext, conversation: &Conversation) {
    if !scene.revision.is_modern() || !scene.offers(EXTENSION) || scene.facts.get("task").is_some() {
        return;
    }
    let calls = scene.facts["calls"].as_array().cloned().unwrap_or_default();
    for call in calls.into_iter().take(MOST) {
        let asked = json!({ "name": call["name"], "arguments": call["arguments"] });
        let headers = param_headers(scene, "tools/call", &asked);
        let options = CallOptions { headers, patience: Some(PATIENCE), ..CallOptions::default() };
        let answer = ask(scene, conversation, "tools/call", asked, options).await;
        if answer["taskId"].is_string() && answer["content"].is_null() {
            // Others are made wherever one is looked at.
            ask(scene, conversation, "tasks/cancel", json!({ "taskId": answer["taskId"] }), CallOptions::default())
                .await;
            scene.facts["task"] = json!({ "tool": call["name"], "with": call["arguments"] });
            return;
        }
    }
}

async fn ask(
    scene: &RunContext,
    conversation: &Conversation,
    method: &str,
    mut params: Value,
    options: CallOptions,
) -> Value {
    params["_meta"] = json!({ "io.modelcontextprotocol/clientCapabilities": scene.client["with_tasks"] });
    let reply = conversation.session().await.call(BY, method, Some(params), options).await;
    reply.result.unwrap_or_default()
}
