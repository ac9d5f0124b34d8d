//! Listing and calling tools.

use serde_json::{Map, Value, json};

use crate::{
    reference::{
        context::Context,
        fail::Fail,
        handlers::{Params, page::page},
        world::{
            World, icons,
            tools::{EXTRA, Outcome, TOOLS, Tool, Trouble, text},
        },
    },
    revision::Revision,
};

const TOOLS_A_PAGE: usize = 5;

pub fn list(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let tools = available(context.world, context.revision);
    let told = tools.map(|tool| describe(tool, context.revision)).collect();
    page(params, "tools", told, TOOLS_A_PAGE, "tools")
}

pub fn call(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let name = params.string("name")?;
    let arguments = params.optional_object("arguments")?.cloned().unwrap_or_default();
    let tool = available(context.world, context.revision).find(|tool| tool.name == name);
    let tool = tool.ok_or_else(|| Fail::params(format!("Unknown tool: {name}")))?;
    context.log(&json!({ "event": "tool called", "tool": name }));
    match (tool.call)(context, &arguments) {
        Ok(Outcome::Content(blocks)) => Ok(json!({ "content": blocks })),
        Ok(Outcome::Structured(value)) => {
            let mut result = json!({ "content": [text(&value.to_string())] });
            if context.since(Revision::V2025_06_18) {
                result["structuredContent"] = value;
            }
            Ok(result)
        }
        Ok(Outcome::Ask(requests)) => Ok(json!({ "resultType": "input_required", "inputRequests": requests })),
        Err(Trouble::Failed(why)) => Ok(json!({ "content": [text(&why)], "isError": true })),
        Err(Trouble::Refused(fail)) => Err(fail),
    }
}

fn available(world: &World, revision: Revision) -> impl Iterator<Item = &'static Tool> + use<> {
    let extra = world.extra_tool.then_some(&EXTRA);
    TOOLS.iter().filter(move |tool| revision >= tool.since).chain(extra)
}

fn describe(tool: &Tool, revision: Revision) -> Value {
    let mut told = json!({ "name": tool.name, "description": tool.description, "inputSchema": schema(tool) });
    if revision >= Revision::V2025_03_26 {
        told["annotations"] = json!({ "title": tool.title, "readOnlyHint": tool.read_only });
    }
    if revision >= Revision::V2025_06_18 {
        told["title"] = json!(tool.title);
        if let Some(output) = tool.output {
            told["outputSchema"] = output();
        }
    }
    if revision >= Revision::V2025_11_25 {
        told["icons"] = icons();
    }
    told
}

/// The schema of a tool's arguments; the headers of a call over HTTP are checked by it.
pub fn input_schema(name: &str) -> Option<Value> {
    TOOLS.iter().find(|tool| tool.name == name).map(schema)
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
