//! Lists and calls tools.

use serde_json::{Map, Value, json};

use crate::{
    content::{
        Content, apps,
        asking::ASKING,
        icons,
        task_extension::{TASK_TOOLS, runs_as_task},
        tasks::{INTERVIEW, support},
        tools::{EXTRA, Outcome, TOOLS, Tool, Trouble, text},
    },
    context::Context,
    fail::Fail,
    handlers::{Params, page::page, rounds, task_extension, tasks},
    session::Change,
};
use conform_model::revision::Revision;

const TOOLS_A_PAGE: usize = 5;

pub fn list(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let tools = available(context.content, context.revision);
    let told = tools.map(|tool| describe(tool, context.revision, apps::seen(tool, context))).collect();
    page(params, "tools", told, context.content.page.unwrap_or(TOOLS_A_PAGE), "tools")
}

pub fn call(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let name = params.string("name")?;
    let arguments = params.optional_object("arguments")?.cloned().unwrap_or_default();
    rounds::remember(context, params)?;
    let tool = available(context.content, context.revision).find(|tool| tool.name == name);
    let tool = tool.ok_or_else(|| Fail::params(format!("Unknown tool: {name}")))?;
    context.log(&json!({ "event": "tool called", "tool": name }));
    if context.content.grows_by_calls && !tool.read_only {
        context.content.add();
        context.changes.push(Change::Resources);
    }
    let known = (tool.input)().0;
    // A retry with a state was already checked when the state was created.
    let first = !params.0.contains_key("requestState");
    if let Some(unknown) = arguments.keys().find(|argument| first && known.get(argument.as_str()).is_none()) {
        return Ok(failed(&format!("There is no argument `{unknown}`.")));
    }
    if context.features().tasks {
        if params.optional_object("task")?.is_some() {
            return tasks::start(context, params, tool, &arguments);
        }
        if support(tool.name) == Some("required") {
            return Err(Fail::task_support("This tool has to be called as a task."));
        }
    }
    if context.revision.is_modern() && runs_as_task(tool) {
        return task_extension::start(context, tool, arguments);
    }
    let mut result = run(context, tool, &arguments)?;
    match result.get_mut("inputRequests").map(Value::take) {
        Some(_) if context.session.batching => Ok(failed("Input cannot be requested in a batch.")),
        Some(requests) => Ok(rounds::ask(context, params, requests)),
        None => Ok(result),
    }
}

/// Calls a tool, and returns its result in the form of the protocol.
pub fn run(context: &mut Context, tool: &Tool, arguments: &Map<String, Value>) -> Result<Value, Fail> {
    match (tool.call)(context, arguments) {
        Ok(Outcome::Content(blocks)) => Ok(json!({ "content": blocks })),
        Ok(Outcome::Structured(value)) => {
            let mut result = json!({ "content": [text(&value.to_string())] });
            if context.features().structured_output {
                result["structuredContent"] = value;
            }
            Ok(result)
        }
        Ok(Outcome::Ask(requests)) => Ok(json!({ "resultType": "input_required", "inputRequests": requests })),
        Err(Trouble::Failed(why)) => Ok(failed(&why)),
        Err(Trouble::Refused(fail)) => Err(fail),
    }
}

fn failed(why: &str) -> Value {
    json!({ "content": [text(why)], "isError": true })
}

fn available(content: &Content, revision: Revision) -> impl Iterator<Item = &'static Tool> + use<> {
    let has_apps = content.has_apps;
    let extra = content.extra_tool.then_some(&EXTRA);
    let interview = revision.features().tasks.then_some(&INTERVIEW);
    let known = TOOLS.iter().chain(&TASK_TOOLS).chain(&ASKING).filter(move |tool| revision >= tool.since);
    let of_apps = apps::TOOLS.iter().filter(move |tool| has_apps && revision >= tool.since);
    known.chain(extra).chain(interview).chain(of_apps)
}

fn describe(tool: &Tool, revision: Revision, ui: Option<Value>) -> Value {
    let mut told = json!({ "name": tool.name, "description": tool.description, "inputSchema": schema(tool) });
    if revision.features().tool_annotations {
        told["annotations"] = json!({ "title": tool.title, "readOnlyHint": tool.read_only });
    }
    if revision.features().titles {
        told["title"] = json!(tool.title);
    }
    if let Some(output) = tool.output.filter(|_| revision.features().structured_output) {
        told["outputSchema"] = output();
    }
    if revision.features().icons {
        told["icons"] = icons();
    }
    if let Some(support) = support(tool.name).filter(|_| revision.features().tasks) {
        told["execution"] = json!({ "taskSupport": support });
    }
    if let Some(ui) = ui {
        told["_meta"] = json!({ "ui": ui });
    }
    told
}

/// The schema of a tool's arguments, by which the headers of a call over HTTP are checked.
pub fn input_schema(name: &str) -> Option<Value> {
    TOOLS.iter().chain(&TASK_TOOLS).chain(&ASKING).chain(&apps::TOOLS).find(|tool| tool.name == name).map(schema)
}

fn schema(tool: &Tool) -> Value {
    let (properties, required) = (tool.input)();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    if properties.as_object().is_some_and(|properties| !properties.is_empty()) {
        schema.insert("properties".to_owned(), properties);
    }
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema.into()
}
