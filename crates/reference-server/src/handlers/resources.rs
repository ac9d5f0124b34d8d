//! Lists, reads and describes resources and their templates; with SEP-2093 and prefix filtering if enabled.

use std::ops::Range;

use iri_string::types::UriStr;
use serde_json::{Value, json};

use crate::{
    content::{Node, icons, templates::TEMPLATES},
    context::Context,
    fail::Fail,
    handlers::{
        Params,
        page::{page, page_of},
        params,
    },
};

const RESOURCES_A_PAGE: usize = 10;
const TEMPLATES_A_PAGE: usize = 3;

pub fn list(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let mut list = String::from("resources");
    let scope = if context.proposals.metadata { params.optional_string("uri")? } else { None };
    let (prefix, kind) = (prefix(context, params)?, kind(context, params)?);
    if let (Some(uri), "", None) = (scope, prefix, kind)
        && let Some((branch, size)) = context.content.branch(uri)
    {
        let view = context.view();
        let make = |page: Range<usize>| page.map(|place| view.resource(&branch.child(place)).into()).collect();
        return page_of(params, "resources", branch.length, make, size, &format!("{list} in {uri}"));
    }
    let nodes = match scope {
        Some(uri) => {
            list = format!("{list} in {uri}");
            let node = find(context, uri)?;
            context.content.children(&node).ok_or_else(|| Fail::params("The resource cannot be listed."))?
        }
        None => context.content.listed(),
    };
    let view = context.view();
    let matches = context.content.slips.resource_prefix.unwrap_or(|uri, prefix| uri.starts_with(prefix));
    let nodes = nodes.iter().filter(|node| matches(&node.uri, prefix));
    let told = nodes.map(|node| Value::from(view.resource(node)));
    let told = told.filter(|node| kind.is_none_or(|kind| node["kind"] == kind)).collect();
    page(
        params,
        "resources",
        told,
        context.content.page.unwrap_or(RESOURCES_A_PAGE),
        &format!("{list} from {prefix} kind {kind:?}"),
    )
}

pub fn templates(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let prefix = prefix(context, params)?;
    let mut told = Vec::new();
    let matches = context.content.slips.template_prefix.unwrap_or(|uri, prefix| uri.starts_with(prefix));
    for template in TEMPLATES.iter().filter(|template| matches(template.uri, prefix)) {
        let mut item = json!({ "uriTemplate": template.uri, "name": template.name });
        if context.features().titles {
            item["title"] = json!(template.title);
        }
        item["description"] = json!(template.description);
        if let Some(mime) = template.mime {
            item["mimeType"] = json!(mime);
        }
        item["annotations"] = json!({ "audience": ["assistant"], "priority": 0.5 });
        if context.features().icons {
            item["icons"] = icons();
        }
        told.push(item);
    }
    page(
        params,
        "resourceTemplates",
        told,
        context.content.page.unwrap_or(TEMPLATES_A_PAGE),
        &format!("templates from {prefix}"),
    )
}

pub fn read(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let node = find(context, params.string("uri")?)?;
    Ok(json!({ "contents": context.view().contents(&node, context.content) }))
}

pub fn metadata(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let node = find(context, params.string("uri")?)?;
    Ok(json!({ "resource": context.view().resource(&node) }))
}

/// Distinguishes an invalid URI from a resource that does not exist.
pub fn find(context: &Context, uri: &str) -> Result<Node, Fail> {
    UriStr::new(uri).map_err(|_| params::unfit("uri", "a URI"))?;
    context.content.find(uri).ok_or_else(|| Fail::resource(uri, context.revision))
}

fn prefix<'a>(context: &Context, params: Params<'a>) -> Result<&'a str, Fail> {
    if context.proposals.prefix { Ok(params.optional_string("prefix")?.unwrap_or_default()) } else { Ok("") }
}

/// The versioned dialect does not define filters; this server supports kinds.
fn kind<'a>(context: &Context, params: Params<'a>) -> Result<Option<&'a str>, Fail> {
    if !context.proposals.versioned {
        return Ok(None);
    }
    let filter = params.optional_object("filter")?;
    Ok(filter.and_then(|filter| filter.get("kind")).and_then(Value::as_str))
}
