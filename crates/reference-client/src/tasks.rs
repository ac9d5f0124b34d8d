//! Calls that become tasks. In 2025-11-25 the client requests a task; with the extension the server decides.

use std::{rc::Rc, time::Duration};

use serde_json::{Map, Value, json};
use tokio::time::sleep;

use crate::{
    behaviour::decisions::{Following, Next, TaskStep},
    report::{Failure, Outcome},
    requests::Ask,
    state::Client,
};

pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// In `_meta` of each message about a task, until 2025-11-25.
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// How long the client needs a task, in milliseconds.
const TTL: u64 = 60_000;
/// The interval of polls if the server names none, in milliseconds. A guess.
const USUAL_INTERVAL: u64 = 500;
/// Maximum number of polls of one task. A guess: more than any world needs.
const MOST_POLLS: u32 = 200;

/// A task that is not over.
pub struct Task {
    pub id: Value,
    /// The action of the call.
    pub action: String,
    /// The client cancelled it, and does not need it any more.
    pub given_up: bool,
}

/// Calls a tool, as a task where the server and the tool allow it. The outcome is that of the tool.
pub async fn call(client: &Rc<Client>, mut params: Value, ask: &Ask) -> Outcome {
    if may_be_task(client, &params["name"]) {
        params["task"] = json!({ "ttl": TTL });
    }
    let ask = Ask { task: true, ..ask.clone() };
    let result = client.request("tools/call", params, &ask).await?;
    let created = if client.is_modern() { Some(&result) } else { result.get("task") };
    match created.filter(|created| created["taskId"].is_string()) {
        Some(created) => follow(client, created.clone(), &ask).await,
        None => Ok(result),
    }
}

fn may_be_task(client: &Client, tool: &Value) -> bool {
    let state = client.state.borrow();
    let supports = tool.as_str().and_then(|tool| state.task_support.get(tool));
    let supports = supports.is_some_and(|word| word == "optional" || word == "required");
    client.revision().features().tasks && state.server.pointer("/tasks/requests/tools/call").is_some() && supports
}

/// Polls a task until it has an outcome.
async fn follow(client: &Rc<Client>, created: Value, ask: &Ask) -> Outcome {
    let id = created["taskId"].clone();
    let task = Task { id: id.clone(), action: ask.action.clone(), given_up: false };
    client.state.borrow_mut().tasks.push(task);
    let mut following = Following { task: created, polls: 0, responded: Vec::new() };
    let outcome = loop {
        let mut step = next(client, &following);
        if let Some(hook) = client.ways.task {
            client.with(|memory, scene| hook(memory, scene, &following, &mut step));
        }
        sleep(client.within_deadline(step.wait)).await;
        if client.state.borrow().tasks.iter().any(|task| task.id == id && task.given_up) {
            break Err(Failure::new("cancelled", "the task was cancelled"));
        }
        match go(client, &id, &mut following, step.then, ask).await {
            Ok(None) => {}
            Ok(Some(result)) => break Ok(result),
            Err(failure) => break Err(failure),
        }
    };
    client.state.borrow_mut().tasks.retain(|task| task.id != id);
    outcome
}

/// The next step by the status of the task.
fn next(client: &Rc<Client>, following: &Following) -> TaskStep {
    let (task, modern) = (&following.task, client.is_modern());
    let interval = if modern { "pollIntervalMs" } else { "pollInterval" };
    let at_once = |then| TaskStep { wait: Duration::ZERO, then };
    let status = task["status"].as_str().unwrap_or_default();
    let asked = task["inputRequests"].as_object().into_iter().flat_map(Map::keys);
    let new: Vec<String> = asked.filter(|key| !following.responded.contains(key)).cloned().collect();
    match status {
        "input_required" | "completed" | "failed" if !modern => at_once(Next::Fetch),
        "input_required" if !new.is_empty() => at_once(Next::Respond(new)),
        "cancelled" => at_once(Next::Give(Err(Failure::new("cancelled", "the task was cancelled")))),
        "completed" => at_once(Next::Give(Ok(task["result"].clone()))),
        "failed" => at_once(Next::Give(Err(Failure::of_error(task["error"].clone())))),
        _ if following.polls >= MOST_POLLS => at_once(Next::Give(Err(Failure::invalid("the task does not end")))),
        _ => {
            let interval = task[interval].as_u64().unwrap_or(USUAL_INTERVAL);
            TaskStep { wait: Duration::from_millis(interval), then: Next::Poll }
        }
    }
}

/// Takes a step; the result if it was the last one.
async fn go(
    client: &Rc<Client>,
    id: &Value,
    following: &mut Following,
    step: Next,
    ask: &Ask,
) -> Result<Option<Value>, Failure> {
    let about = json!({ "taskId": id });
    match step {
        Next::Poll => {
            following.polls += 1;
            following.task = client.request("tasks/get", about, &about_task(ask)).await?;
            Ok(None)
        }
        Next::Fetch => client.request("tasks/result", about, &about_task(ask)).await.map(Some),
        Next::Respond(keys) => {
            let mut task = following.task.clone();
            if let Some(asked) = task["inputRequests"].as_object_mut() {
                asked.retain(|key, _| keys.contains(key));
            }
            let responses = client.responses(&task)?;
            following.responded.extend(responses.keys().cloned());
            let params = json!({ "taskId": id, "inputResponses": responses });
            client.request("tasks/update", params, &about_task(ask)).await?;
            // The status that is known has been handled.
            following.task["status"] = json!("working");
            Ok(None)
        }
        Next::Give(outcome) => outcome.map(Some),
    }
}

/// Requests about a task have the limits of the call, without its progress.
fn about_task(ask: &Ask) -> Ask {
    Ask { progress: false, task: false, ..ask.clone() }
}

/// Cancels the task of an action; `None` if it has none.
pub async fn cancel(client: &Rc<Client>, action: &str) -> Option<Outcome> {
    let id = client.state.borrow().tasks.iter().find(|task| task.action == action).map(|task| task.id.clone())?;
    let cancelled = client.request("tasks/cancel", json!({ "taskId": id }), &Ask::default()).await;
    // Since 2026-07-28 a task may complete nevertheless.
    if cancelled.is_ok() && !client.is_modern() {
        let mut state = client.state.borrow_mut();
        state.tasks.iter_mut().filter(|task| task.id == id).for_each(|task| task.given_up = true);
    }
    Some(cancelled)
}
