//! Finds a call that becomes a task of the extension, if none is configured. Tools do not declare it, and the server
//! decides for each call. So some of the allowed calls are sent with task support, until one creates a task.

use std::time::Duration;

use serde_json::{Value, json};

use super::param_headers::param_headers;
use conform_model::evidence::RunContext;
use conform_session::{CallOptions, Conversation};

const BY: &str = "first-task";
const EXTENSION: &str = "extensions.io.modelcontextprotocol/tasks";
/// Maximum number of calls to try.
const MOST: usize = 10;
/// A guess: a server that creates a task responds immediately.
const PATIENCE: Duration = Duration::from_millis(500);

/// Adds `task` to the facts, if it is missing and a call was found.
pub async fn first_task(context: &mut RunContext, conversation: &Conversation) {
    if !context.revision.is_modern() || !context.offers(EXTENSION) || context.facts.get("task").is_some() {
        return;
    }
    let calls = context.facts["calls"].as_array().cloned().unwrap_or_default();
    for call in calls.into_iter().take(MOST) {
        let asked = json!({ "name": call["name"], "arguments": call["arguments"] });
        let headers = param_headers(context, "tools/call", &asked);
        let options = CallOptions { headers, patience: Some(PATIENCE), ..CallOptions::default() };
        let answer = ask(context, conversation, "tools/call", asked, options).await;
        if answer["taskId"].is_string() && answer["content"].is_null() {
            // Suites create tasks of their own.
            ask(context, conversation, "tasks/cancel", json!({ "taskId": answer["taskId"] }), CallOptions::default())
                .await;
            context.facts["task"] = json!({ "tool": call["name"], "with": call["arguments"] });
            return;
        }
    }
}

async fn ask(
    context: &RunContext,
    conversation: &Conversation,
    method: &str,
    mut params: Value,
    options: CallOptions,
) -> Value {
    params["_meta"] = json!({ "io.modelcontextprotocol/clientCapabilities": context.client["with_tasks"] });
    let reply = conversation.session().await.call(BY, method, Some(params), options).await;
    reply.result.unwrap_or_default()
}
