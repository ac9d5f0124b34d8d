//! The tasks extension: a call may return a task, which the client can then read, give input to and cancel.

use std::{mem, time::Duration};

use serde_json::{Map, Value, json};

use crate::{
    content::{task_extension::Task, tools::Tool},
    context::Context,
    fail::Fail,
    handlers::{Params, tools::run},
    session::Change,
};

pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Maximum delay of a response.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Rejects a request that needs the extension if the client did not declare it.
pub fn demand(context: &Context) -> Result<(), Fail> {
    let declared = context.capabilities.pointer("/extensions").and_then(|extensions| extensions.get(EXTENSION));
    let required = || Fail::capability(&json!({ "extensions": { EXTENSION: {} } }));
    declared.filter(|settings| settings.is_object()).map(drop).ok_or_else(required)
}

/// Runs a tool that creates a task, or returns its result directly if the client does not support tasks.
pub fn start(context: &mut Context, tool: &'static Tool, arguments: Map<String, Value>) -> Result<Value, Fail> {
    let result = run(context, tool, &arguments);
    let required = demand(context).err();
    let asks = result.as_ref().is_ok_and(|result| result.get("inputRequests").is_some());
    if required.is_some() && !asks && context.delay <= LONGEST_WAIT {
        return result;
    }
    // The response is immediate, so messages that would be sent before it are dropped.
    let time = mem::take(&mut context.delay);
    context.notes.retain(|(after, _)| after.is_zero());
    if let Some(required) = required {
        return Err(required);
    }
    let mut handle = context.content.tasks.start(tool, arguments, result, time).handle();
    handle["resultType"] = json!("task");
    Ok(handle)
}

pub fn get(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let task = find(context, params)?;
    let changed = task.settle();
    let told = task.describe();
    if changed {
        context.changes.push(Change::Task(told.clone()));
    }
    Ok(told)
}

pub fn update(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let task = find(context, params)?;
    if task.answer(params.object("inputResponses")?.0) {
        let (tool, arguments, answers) = (task.tool, task.arguments.clone(), task.answers.clone());
        context.answers = answers;
        let result = run(context, tool, &arguments);
        let time = mem::take(&mut context.delay);
        find(context, params)?.go_on(result, time);
    }
    tell(context, params)
}

pub fn cancel(context: &mut Context, params: Params) -> Result<Value, Fail> {
    find(context, params)?.cancel();
    tell(context, params)
}

/// Acknowledges a request that changed a task, and notifies the subscribers.
fn tell(context: &mut Context, params: Params) -> Result<Value, Fail> {
    get(context, params)?;
    Ok(json!({}))
}

fn find<'a>(context: &'a mut Context, params: Params) -> Result<&'a mut Task, Fail> {
    demand(context)?;
    let id = params.string("taskId")?;
    context.content.tasks.find(id).ok_or_else(|| Fail::params(format!("There is no task `{id}`.")))
}
