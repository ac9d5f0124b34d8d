//! The skills extension: lists skills, describes one, and lists the directories of their files.

use std::ops::Range;

use serde_json::{Value, json};

use crate::{
    content::{Node, skills::Skill},
    context::Context,
    fail::Fail,
    handlers::{
        Params,
        page::{page, page_of},
    },
};

pub const EXTENSION: &str = "io.modelcontextprotocol/skills";

const SKILLS_A_PAGE: usize = 2;
/// Of many skills.
const MANY_A_PAGE: usize = 50;
const CHILDREN_A_PAGE: usize = 4;

pub fn list(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let skills = &context.content.skills;
    let size = if skills.len() > MANY_A_PAGE { MANY_A_PAGE } else { SKILLS_A_PAGE };
    let make = |page: Range<usize>| skills[page].iter().map(|skill| entry(context, skill)).collect();
    page_of(params, "skills", skills.len(), make, size, "skills")
}

pub fn get(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let uri = params.string("uri")?;
    let skill = context.content.skills.iter().find(|skill| skill.uri == uri);
    let skill = skill.ok_or_else(|| Fail::params(format!("There is no skill {uri}.")))?;
    Ok(json!({ "skill": entry(context, skill) }))
}

pub fn read_directory(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let uri = params.string("uri")?;
    let inside = |skill: &Skill| uri == skill.root() || uri.starts_with(&format!("{}/", skill.root()));
    let children = Some(context.content.below(uri)).filter(|children| !children.is_empty());
    let children = children.filter(|_| context.content.skills.iter().any(inside));
    let children = children.ok_or_else(|| Fail::params(format!("There is no directory {uri} in a skill.")))?;
    let view = context.view();
    let told = children.iter().map(|child: &Node| Value::from(view.resource(child))).collect();
    page(params, "resources", told, CHILDREN_A_PAGE, &format!("directory {uri}"))
}

/// The files of a nested skill are also files of the skill that it is in.
fn entry(context: &Context, skill: &Skill) -> Value {
    let resources = if skill.dynamic { json!("dynamic") } else { Value::Array(context.content.manifest(skill.root())) };
    json!({ "uri": skill.uri, "frontmatter": skill.frontmatter, "resources": resources })
}
