//! What a run knows besides the frames: the first state of a context, and notes about the target.

use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::{
    config::toml_line,
    evidence::{Reply, RunContext, Transport},
    gather::example,
    revision::Revision,
    run::inputs::{job::Job, place::place},
    suite::{Call, SURVEY, Step, Suite, Template, Verb},
    target::Target,
};

/// Lines in a note.
const LINES_SHOWN: usize = 5;
const CALL: &str = "tools/call";

/// A context without gathered evidence.
pub fn context(hello: Option<&Reply>, transport: Transport, revision: Revision, job: &Job) -> RunContext {
    let result = hello.and_then(|hello| hello.result.as_ref()).unwrap_or(&Value::Null);
    let info = match &result["serverInfo"] {
        Value::Null => &result["_meta"]["io.modelcontextprotocol/serverInfo"],
        info => info,
    };
    let mut server = json!({
        "capabilities": result["capabilities"],
        "info": info,
        "instructions": result["instructions"],
        "hello": hello,
    });
    if let (Some(server), Value::Object(place)) = (server.as_object_mut(), place(&job.target.start)) {
        server.extend(place);
    }
    RunContext {
        server,
        client: json!({
            "capabilities": job.profile.capabilities(revision),
            "headers": headers(&job.target),
            "with_tasks": job.profile.with_extension("io.modelcontextprotocol/tasks", revision),
            "with_unknown": job.profile.with_unknown(revision),
        }),
        facts: job.facts.clone(),
        ..RunContext::new(revision, job.subject, transport)
    }
}

/// Names of the headers that the user set.
fn headers(target: &Target) -> Vec<String> {
    target.start.headers().iter().map(|(name, _)| name.to_ascii_lowercase()).collect()
}

/// The tools that these suites do not call, if they call any, each with the line of the configuration that allows it.
pub fn uncalled(context: &RunContext, suites: &[&Suite]) -> Vec<(String, String)> {
    let steps = suites.iter().flat_map(|suite| &suite.gather);
    let calls: Vec<&Call> = steps.filter_map(calls_tool).collect();
    if calls.is_empty() {
        return Vec::new();
    }
    // A suite of the user may call one by name.
    let named: Vec<&str> = calls.iter().filter_map(|call| tool_of(call)).collect();
    let names = context.facts["left_alone"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let listed = context.saves.get(SURVEY).and_then(|survey| survey["tools"]["items"].as_array());
    let line = |name: &str| {
        let tool = listed.into_iter().flatten().find(|tool| tool["name"] == name);
        let arguments = tool.map_or_else(|| json!({}), |tool| example(&tool["inputSchema"]));
        (name.to_owned(), toml_line(&["tools", name, "with"], &arguments))
    };
    names.filter(|name| !named.contains(name)).map(line).collect()
}

/// The note on tools that were not called, if there are any.
pub fn tools_note(lines: &IndexMap<String, String>, all_tools: bool) -> Option<String> {
    let shown = few(lines);
    let (why, help) = match all_tools {
        true => ("no valid arguments could be generated, or they run only as tasks", "sets its arguments"),
        false => ("they may have side effects or need arguments", "allows one (--call-tools allows all)"),
    };
    let note = || format!("tools without a valid call, because {why}; a line in mcp-conform.toml {help}: {shown}");
    (!lines.is_empty()).then(note)
}

fn calls_tool(step: &Step) -> Option<&Call> {
    match &step.verb {
        Verb::Call(call) if call.method == Template::Literal(CALL.into()) => Some(call),
        _ => None,
    }
}

/// The name of the tool, if the call states it.
fn tool_of(call: &Call) -> Option<&str> {
    match call.with.as_ref()? {
        Template::Literal(params) => params["name"].as_str(),
        Template::Object(fields) => fields.iter().find_map(|(name, value)| match value {
            Template::Literal(Value::String(tool)) if name == "name" => Some(tool.as_str()),
            _ => None,
        }),
        _ => None,
    }
}

/// The first lines, and how many more tools there are.
fn few(lines: &IndexMap<String, String>) -> String {
    let shown: Vec<String> = lines.values().take(LINES_SHOWN).map(|line| format!("`{line}`")).collect();
    let more = lines.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &more
}
