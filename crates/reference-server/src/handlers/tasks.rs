//! Tasks of 2025-11-25: calls that create a task, and the methods for tasks.

use std::{mem::take, time::Duration};

use serde_json::{Map, Value, json};

use crate::{
    content::{
        tasks::{Task, support},
        tools::{Tool, text},
    },
    context::Context,
    fail::Fail,
    handlers::{Params, page::page, tools::run},
    message::notification,
    session::Session,
};

const TASKS_A_PAGE: usize = 2;

/// Calls a tool as a task. Its notifications are sent after the response.
pub fn start(
    context: &mut Context,
    params: Params,
    tool: &Tool,
    arguments: &Map<String, Value>,
) -> Result<Value, Fail> {
    if support(tool.name).is_none() {
        return Err(Fail::task_support("This tool cannot be called as a task."));
    }
    let ttl = params.object("task")?.optional_unsigned("ttl")?;
    let outcome = run(context, tool, arguments);
    let delay = take(&mut context.delay);
    let can_be_asked = context.session.capabilities.get("elicitation").is_some_and(Value::is_object);
    let tasks = &mut context.session.tasks;
    let task = match outcome.as_ref().ok().and_then(|result| result.get("inputRequests")) {
        Some(question) if can_be_asked => tasks.add_asking(context.id, ttl, question.clone()),
        Some(_) => {
            let why = text("This tool needs a client that supports elicitation.");
            tasks.add(context.id, ttl, delay, Ok(json!({ "content": [why], "isError": true })))
        }
        None => tasks.add(context.id, ttl, delay, outcome),
    };
    for (_, note) in &mut context.notes {
        note["params"]["_meta"] = task.relation();
    }
    let (before, behind): (Vec<_>, _) = take(&mut context.notes).into_iter().partition(|(after, _)| after.is_zero());
    (context.notes, context.later) = (before, behind);
    if let Some(rest) = task.rest() {
        context.later.push((rest, notification("notifications/tasks/status", &task.in_the_end())));
    }
    Ok(json!({ "task": task.at_first() }))
}

pub fn get(context: &mut Context, params: Params) -> Result<Value, Fail> {
    find(context.session, params).map(|task| task.now())
}

/// Responds when the task has ended; if it needs the client, sends the request to it first.
pub fn result(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let task = find(context.session, params)?;
    if !task.has_ended() {
        task.waiting.push(context.id.clone());
    }
    if let Some(rest) = task.rest() {
        context.delay = rest;
        return task.outcome();
    }
    let question = task.question();
    context.notes.extend(question.map(|question| (Duration::ZERO, question)));
    context.open = true;
    Ok(Value::Null)
}

pub fn cancel(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let task = find(context.session, params)?;
    if task.has_ended() {
        return Err(Fail::params("The task has ended already."));
    }
    task.cancel();
    context.cancelled = Some(task.call.clone());
    context.settled = settle(task);
    Ok(task.now())
}

pub fn list(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let tasks = context.session.tasks.all().iter().map(Task::now).collect();
    page(params, "tasks", tasks, TASKS_A_PAGE, "tasks")
}

/// Handles a response of the client, and returns the requests whose response can now be sent.
pub fn answered(session: &mut Session, answer: &Value) -> Vec<(Value, Result<Value, Fail>)> {
    let question = answer["id"].as_str().unwrap_or_default();
    session.tasks.answer(question, answer).map(settle).unwrap_or_default()
}

/// All requests that wait for the result, with the response to each.
fn settle(task: &mut Task) -> Vec<(Value, Result<Value, Fail>)> {
    let asked = |id, task: &str| json!({ "id": id, "method": "tasks/result", "params": { "taskId": task } });
    let waiting = take(&mut task.waiting);
    waiting.into_iter().map(|id| (asked(id, &task.id), task.outcome())).collect()
}

fn find<'a>(session: &'a mut Session, params: Params) -> Result<&'a mut Task, Fail> {
    session.tasks.find(params.string("taskId")?)
}
