//! What a run knows besides the frames: the first state of a scene, and notes about the target.

use indexmap::IndexSet;
use serde_json::{Value, json};

use crate::{
    evidence::{RunContext, Side, Transport},
    revision::Revision,
    run::inputs::{job::Job, place::place},
    suite::{Call, Step, Suite, Template, Verb},
    target::{Start, Target},
};

/// Names in a note.
const NAMES_SHOWN: usize = 5;
const CALL: &str = "tools/call";

/// A scene without gathered evidence.
pub fn scene(hello: &Value, transport: Transport, revision: Revision, job: &Job) -> RunContext {
    let result = &hello["result"];
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
            "with_tasks": job.profile.with_tasks(revision),
            "with_unknown": job.profile.with_unknown(revision),
        }),
        facts: job.facts.clone(),
        ..RunContext::new(revision, Side::Server, transport)
    }
}

/// Names of the headers that the user set.
fn headers(target: &Target) -> Vec<String> {
    match &target.start {
        Start::Stdio { .. } => Vec::new(),
        Start::Http { headers, .. } | Start::Sse { headers, .. } => {
            headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect()
        }
    }
}

/// The tools that these suites do not call, if they call any.
pub fn uncalled(scene: &RunContext, suites: &[&Suite]) -> Vec<String> {
    let steps = suites.iter().flat_map(|suite| &suite.gather);
    let calls: Vec<&Call> = steps.filter_map(calls_tool).collect();
    if calls.is_empty() {
        return Vec::new();
    }
    // A suite of the user may call one by name.
    let named: Vec<&str> = calls.iter().filter_map(|call| tool_of(call)).collect();
    let names = scene.facts["left_alone"].as_array().into_iter().flatten().filter_map(Value::as_str);
    names.filter(|name| !named.contains(name)).map(str::to_owned).collect()
}

/// The note on tools that were not called, if there are any.
pub fn tools_note(names: &IndexSet<String>, all_tools: bool) -> Option<String> {
    let shown = few(names);
    let (why, help) = match all_tools {
        true => ("no valid arguments could be generated, or they run only as tasks", "sets the arguments of one"),
        false => ("they may have side effects or need arguments", "allows one; --call-tools allows all"),
    };
    let note = || {
        format!(
            "tools without a valid call, because {why}: {shown} (`tools.NAME.with = {{}}` in mcp-conform.toml {help})"
        )
    };
    (!names.is_empty()).then(note)
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

/// The first names, and how many more there are.
fn few(names: &IndexSet<String>) -> String {
    let shown: Vec<String> = names.iter().take(NAMES_SHOWN).map(|name| format!("`{name}`")).collect();
    let more = names.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &more
}
