//! Lists prompts and returns their messages.

use serde_json::{Map, Value, json};

use crate::{
    content::{
        Content, icons,
        prompts::{Argument, EXTRA, PROMPTS, Prompt},
    },
    context::Context,
    fail::Fail,
    handlers::{Params, page::page},
};
use conform_model::revision::Revision;

const PROMPTS_A_PAGE: usize = 3;

pub fn list(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let told = available(context.content).map(|prompt| describe(prompt, context.revision)).collect();
    page(params, "prompts", told, context.content.page.unwrap_or(PROMPTS_A_PAGE), "prompts")
}

pub fn get(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let name = params.string("name")?;
    let prompt = find(context.content, name)?;
    let nothing = Map::new();
    let arguments = params.optional_string_map("arguments")?.unwrap_or(&nothing);
    let missing = |argument: &&Argument| argument.required && !arguments.contains_key(argument.name);
    if let Some(argument) = prompt.arguments.iter().find(missing) {
        return Err(Fail::params(format!("Missing argument: {}", argument.name)));
    }
    Ok(json!({ "description": prompt.description, "messages": (prompt.messages)(context, arguments)? }))
}

pub fn find(content: &Content, name: &str) -> Result<&'static Prompt, Fail> {
    let prompt = available(content).find(|prompt| prompt.name == name);
    prompt.ok_or_else(|| Fail::params(format!("Unknown prompt: {name}")))
}

fn available(content: &Content) -> impl Iterator<Item = &'static Prompt> + use<> {
    PROMPTS.iter().chain(content.extra_prompt.then_some(&EXTRA))
}

fn describe(prompt: &Prompt, revision: Revision) -> Value {
    let titled = revision.features().titles;
    let argument = |argument: &Argument| {
        let mut told = json!({ "name": argument.name, "description": argument.description });
        if titled {
            told["title"] = json!(argument.title);
        }
        told["required"] = json!(argument.required);
        told
    };
    let mut told = json!({ "name": prompt.name, "description": prompt.description });
    if titled {
        told["title"] = json!(prompt.title);
    }
    if !prompt.arguments.is_empty() {
        told["arguments"] = prompt.arguments.iter().map(argument).collect();
    }
    if revision.features().icons {
        told["icons"] = icons();
    }
    told
}
