//! The tools: name, schemas, and the small function of each.
//!
//! Invalid arguments, and all other failures of a tool, are results with `isError` and a text that says what to
//! correct.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{
    content::{
        arguments::{Arguments, integer, string, within},
        files::{PIXEL, README, SILENCE, STATUS},
    },
    context::Context,
    fail::Fail,
    session::Change,
};
use conform_model::revision::Revision;

pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub read_only: bool,
    pub since: Revision,
    /// The properties of the input schema, and which of them are required.
    pub input: fn() -> (Value, &'static [&'static str]),
    pub output: Option<fn() -> Value>,
    pub call: fn(&mut Context, &Arguments) -> Result<Outcome, Trouble>,
}

pub enum Outcome {
    Content(Vec<Value>),
    Structured(Value),
    /// The client has to respond to something first.
    Ask(Value),
}

pub enum Trouble {
    /// Reported to the model, in the result.
    Failed(String),
    /// Reported to the client, as a JSON-RPC error.
    Refused(Fail),
}

const NOTHING: fn() -> (Value, &'static [&'static str]) = || (json!({}), &[]);
/// Maximum duration of the slow tool.
const MOST_STEPS: u64 = 300;
const LONGEST_STEP: u64 = 500;
const MARKS: [&str; 2] = ["dot", "cross"];

pub static TOOLS: [Tool; 13] = [
    Tool {
        name: "echo",
        title: "Echo",
        description: "Returns its argument.",
        read_only: true,
        since: Revision::V2024_11_05,
        input: || (json!({ "text": { "type": "string", "description": "What to say." } }), &["text"]),
        output: None,
        call: |_, arguments| Ok(Outcome::Content(vec![text(string(arguments, "text")?)])),
    },
    Tool {
        name: "add",
        title: "Add",
        description: "Adds two integers.",
        read_only: true,
        since: Revision::V2024_11_05,
        input: || (json!({ "a": { "type": "integer" }, "b": { "type": "integer" } }), &["a", "b"]),
        output: Some(
            || json!({ "type": "object", "properties": { "sum": { "type": "integer" } }, "required": ["sum"] }),
        ),
        call: |_, arguments| {
            let sum = integer(arguments, "a")?.checked_add(integer(arguments, "b")?);
            Ok(Outcome::Structured(json!({ "sum": sum.ok_or_else(|| failed("The sum is too large."))? })))
        },
    },
    Tool {
        name: "show_resources",
        title: "Show resources",
        description: "Embeds one resource and links to another.",
        read_only: true,
        since: Revision::V2024_11_05,
        input: NOTHING,
        output: None,
        call: |context, _| Ok(show_resources(context)),
    },
    Tool {
        name: "picture",
        title: "Picture",
        description: "Shows one pixel and plays a moment of silence.",
        read_only: true,
        since: Revision::V2024_11_05,
        input: NOTHING,
        output: None,
        call: |context, _| {
            let sound = context.features().audio.then(sound);
            Ok(Outcome::Content(std::iter::once(image()).chain(sound).collect()))
        },
    },
    Tool {
        name: "plot",
        title: "Plot",
        description: "Draws a point in words.",
        read_only: true,
        since: Revision::V2024_11_05,
        input: || {
            let coordinates = json!([{ "type": "number" }, { "type": "number" }]);
            let point = json!({ "type": "array", "prefixItems": coordinates, "items": false, "minItems": 2 });
            (json!({ "point": point, "mark": { "type": "string", "enum": MARKS } }), &[])
        },
        output: None,
        call: plot,
    },
    Tool {
        name: "fail",
        title: "Fail",
        description: "Fails each time, to show how failures look.",
        read_only: true,
        since: Revision::V2024_11_05,
        input: NOTHING,
        output: None,
        call: |_, _| Err(failed("This tool never works; call another one.")),
    },
    Tool {
        name: "slow",
        title: "Slow",
        description: "Takes its time and reports progress.",
        read_only: true,
        since: Revision::V2024_11_05,
        input: || {
            let steps = json!({ "type": "integer", "minimum": 1, "maximum": MOST_STEPS });
            let milliseconds = json!({ "type": "integer", "minimum": 0, "maximum": LONGEST_STEP });
            (json!({ "steps": steps, "milliseconds": milliseconds }), &[])
        },
        output: None,
        call: slow,
    },
    Tool {
        name: "touch",
        title: "Touch",
        description: "Edits a resource, so that its subscribers hear of it.",
        read_only: false,
        since: Revision::V2024_11_05,
        input: || (json!({ "uri": { "type": "string", "description": "By default memo://status." } }), &[]),
        output: None,
        call: touch,
    },
    Tool {
        name: "add_resource",
        title: "Add resource",
        description: "Adds a note to the list of resources.",
        read_only: false,
        since: Revision::V2024_11_05,
        input: NOTHING,
        output: None,
        call: |context, _| {
            let uri = context.content.add();
            context.changes.push(Change::Resources);
            Ok(Outcome::Content(vec![text(&uri)]))
        },
    },
    Tool {
        name: "toggle_tool",
        title: "Toggle tool",
        description: "Makes the tool `extra` come or go.",
        read_only: false,
        since: Revision::V2024_11_05,
        input: NOTHING,
        output: None,
        call: |context, _| {
            context.content.extra_tool = !context.content.extra_tool;
            context.changes.push(Change::Tools);
            Ok(Outcome::Content(vec![text("done")]))
        },
    },
    Tool {
        name: "toggle_prompt",
        title: "Toggle prompt",
        description: "Makes the prompt `extra` come or go.",
        read_only: false,
        since: Revision::V2024_11_05,
        input: NOTHING,
        output: None,
        call: |context, _| {
            context.content.extra_prompt = !context.content.extra_prompt;
            context.changes.push(Change::Prompts);
            Ok(Outcome::Content(vec![text("done")]))
        },
    },
    Tool {
        name: "locate",
        title: "Locate",
        description: "Returns the requested region; over HTTP the region is also in a header.",
        read_only: true,
        since: Revision::V2026_07_28,
        input: || {
            let region = json!({ "type": "string", "x-mcp-header": "Region" });
            let limit = json!({ "type": "integer", "x-mcp-header": "Limit" });
            let exact = json!({ "type": "boolean", "x-mcp-header": "Exact" });
            (json!({ "region": region, "limit": limit, "exact": exact }), &["region"])
        },
        output: None,
        call: |_, arguments| Ok(Outcome::Content(vec![text(string(arguments, "region")?)])),
    },
    Tool {
        name: "ask",
        title: "Ask",
        description: "Requests a name from the user and says hello.",
        read_only: true,
        since: Revision::V2026_07_28,
        input: NOTHING,
        output: None,
        call: ask,
    },
];

pub static EXTRA: Tool = Tool {
    name: "extra",
    title: "Extra",
    description: "Comes and goes.",
    read_only: true,
    since: Revision::V2024_11_05,
    input: NOTHING,
    output: None,
    call: |_, _| Ok(Outcome::Content(vec![text("still here")])),
};

fn show_resources(context: &Context) -> Outcome {
    let view = context.view();
    let mut blocks = vec![text("One resource as it is, one by reference.")];
    blocks.extend(context.content.find(README).and_then(|node| view.embedded(&node)));
    if context.features().resource_links {
        blocks.extend(context.content.find(STATUS).map(|node| view.link(&node)));
    }
    Outcome::Content(blocks)
}

fn slow(context: &mut Context, arguments: &Arguments) -> Result<Outcome, Trouble> {
    let steps = within(arguments, "steps", 3, 1..=MOST_STEPS)?;
    let milliseconds = within(arguments, "milliseconds", 20, 0..=LONGEST_STEP)?;
    for step in 1..=steps {
        context.delay += Duration::from_millis(milliseconds);
        context.report_progress(step, steps, &format!("step {step} of {steps}"));
    }
    Ok(Outcome::Content(vec![text("done")]))
}

fn plot(_: &mut Context, arguments: &Arguments) -> Result<Outcome, Trouble> {
    let mark = if arguments.contains_key("mark") { string(arguments, "mark")? } else { MARKS[0] };
    let known = MARKS.contains(&mark).then_some(mark);
    let mark = known.ok_or_else(|| failed("The argument `mark` has to be dot or cross."))?;
    let point = arguments.get("point").cloned().unwrap_or_else(|| json!([0, 0]));
    let numbers = point.as_array().filter(|point| point.len() == 2 && point.iter().all(Value::is_number));
    let point = numbers.ok_or_else(|| failed("The argument `point` has to be two numbers."))?;
    Ok(Outcome::Content(vec![text(&format!("a {mark} at {}, {}", point[0], point[1]))]))
}

fn touch(context: &mut Context, arguments: &Arguments) -> Result<Outcome, Trouble> {
    let uri = if arguments.contains_key("uri") { string(arguments, "uri")? } else { STATUS };
    let view = context.view();
    let node = context.content.touch(uri).ok_or_else(|| failed("There is no resource of that URI that can change."))?;
    context.changes.push(Change::Resource { uri: uri.to_owned(), described: view.resource(node).into() });
    Ok(Outcome::Content(vec![text("done")]))
}

fn ask(context: &mut Context, _: &Arguments) -> Result<Outcome, Trouble> {
    let form = context.capabilities.get("elicitation").and_then(Value::as_object);
    if !form.is_some_and(|modes| modes.is_empty() || modes.contains_key("form")) {
        return Err(Trouble::Refused(Fail::capability(&json!({ "elicitation": { "form": {} } }))));
    }
    let Some(answer) = context.answers.get("name") else {
        let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
        let params = json!({ "mode": "form", "message": "What is your name?", "requestedSchema": schema });
        return Ok(Outcome::Ask(json!({ "name": { "method": "elicitation/create", "params": params } })));
    };
    match (answer["action"].as_str(), answer["content"]["name"].as_str()) {
        (Some("accept"), Some(name)) => Ok(Outcome::Content(vec![text(&format!("Hello, {name}."))])),
        (Some("decline" | "cancel"), _) => Ok(Outcome::Content(vec![text("Hello, stranger.")])),
        _ => Err(Trouble::Refused(Fail::params("The input response `name` does not match the form."))),
    }
}

pub fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

pub fn image() -> Value {
    json!({ "type": "image", "data": STANDARD.encode(PIXEL), "mimeType": "image/png" })
}

pub fn sound() -> Value {
    json!({ "type": "audio", "data": STANDARD.encode(SILENCE), "mimeType": "audio/wav" })
}

pub fn failed(why: &str) -> Trouble {
    Trouble::Failed(why.to_owned())
}
