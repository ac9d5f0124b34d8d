//! Suggestions for the arguments of prompts and the variables of resource templates.

use serde_json::{Value, json};

use crate::{
    content::templates::{Settled, TEMPLATES},
    context::Context,
    fail::Fail,
    handlers::{Params, params, prompts, resources},
};

/// Maximum number of values in one response, by the specification.
const MOST_VALUES: usize = 100;

pub fn complete(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let reference = params.object("ref")?;
    let argument = params.object("argument")?;
    let (name, typed) = (argument.string("name")?, argument.string("value")?);
    let settled = match params.optional_object("context")? {
        Some(context) => Params(context).optional_string_map("arguments")?,
        None => None,
    };
    let settled = |name: &str| settled?.get(name)?.as_str().map(str::to_owned);
    let values = match reference.string("type")? {
        "ref/prompt" => {
            let prompt = prompts::find(context.content, reference.string("name")?)?;
            let argument = prompt.arguments.iter().find(|argument| argument.name == name);
            argument.map(|argument| argument.values.iter().map(|&value| value.to_owned()).collect())
        }
        "ref/resource" => template_values(context, reference.string("uri")?, name, &settled)?,
        _ => return Err(params::unfit("ref", "a ref/prompt or a ref/resource")),
    };
    Ok(suggest(values.unwrap_or_default(), typed))
}

/// `None` if there is nothing to complete: an unknown variable, or a plain URI.
fn template_values(
    context: &Context,
    uri: &str,
    variable: &str,
    settled: &Settled,
) -> Result<Option<Vec<String>>, Fail> {
    if let Some(template) = TEMPLATES.iter().find(|template| template.uri == uri) {
        return Ok(template.values(variable, settled));
    }
    resources::find(context, uri).map(|_| None).map_err(|_| Fail::params(format!("Unknown template: {uri}")))
}

/// Values that begin with the input come first, then those that contain it elsewhere.
fn suggest(values: Vec<String>, typed: &str) -> Value {
    let typed = typed.to_lowercase();
    let (mut fitting, others): (Vec<_>, Vec<_>) =
        values.into_iter().partition(|value| value.to_lowercase().starts_with(&typed));
    fitting.extend(others.into_iter().filter(|value| value.to_lowercase().contains(&typed)));
    let total = fitting.len();
    fitting.truncate(MOST_VALUES);
    json!({ "completion": { "values": fitting, "total": total, "hasMore": total > MOST_VALUES } })
}
