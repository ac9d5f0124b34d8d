//! Identity and capabilities of the server: `initialize` for the legacy revisions, `server/discover` for the modern
//! ones.

use serde_json::{Map, Value, json};

use crate::{
    content::apps::EXTENSION as APPS,
    context::Context,
    fail::Fail,
    handlers::{Params, params, skills::EXTENSION as SKILLS, task_extension::EXTENSION},
    options::Proposals,
    session::{Level, Session},
};
use conform_model::revision::Revision;

const INSTRUCTIONS: &str = "Fictional content: list it, read it, change it with `touch` and `add_resource`.";

const FIRST_SKILL: &str = "skill://git-workflow/SKILL.md";
const WITH_SKILLS: &str =
    "Fictional content: list it, read it, change it with `touch`. Begin with skill://git-workflow/SKILL.md.";

/// Sets the revision of a session: the requested one, or the newest that the handshake can negotiate.
pub fn initialize(
    session: &mut Session,
    revisions: &[Revision],
    proposals: Proposals,
    params: Params,
) -> Result<Value, Fail> {
    let asked = params.string("protocolVersion")?;
    let declared = params.object("capabilities")?;
    let client = params.object("clientInfo")?;
    client.string("name")?;
    client.string("version")?;
    if session.revision.is_some() {
        return Err(Fail::request("This session is initialized already."));
    }
    let spoken = || revisions.iter().copied().filter(|revision| !revision.is_modern());
    let newest = spoken().max().ok_or_else(|| Fail::version(asked, revisions))?;
    let revision = spoken().find(|revision| revision.as_str() == asked).unwrap_or(newest);
    session.revision = Some(revision);
    session.capabilities = declared.0.clone().into();
    Ok(json!({
        "protocolVersion": revision,
        "capabilities": capabilities(revision, proposals),
        "serverInfo": identity(revision),
        "instructions": INSTRUCTIONS,
    }))
}

#[expect(clippy::unnecessary_wraps, reason = "handlers have one signature")]
pub fn discover(context: &mut Context, _: Params) -> Result<Value, Fail> {
    let supported: Vec<_> = context.revisions.iter().rev().collect();
    Ok(json!({
        "supportedVersions": supported,
        "capabilities": capabilities(context.revision, context.proposals),
        "instructions": if context.content.skills.iter().any(|skill| skill.uri == FIRST_SKILL) { WITH_SKILLS } else { INSTRUCTIONS },
    }))
}

pub fn identity(revision: Revision) -> Value {
    let mut identity = json!({ "name": "mcp-conform-reference", "version": env!("CARGO_PKG_VERSION") });
    if revision.features().titles {
        identity["title"] = json!("Reference server");
    }
    identity
}

/// The `_meta` of every result of 2026-07-28.
pub fn result_meta(revision: Revision) -> Value {
    json!({ "io.modelcontextprotocol/serverInfo": identity(revision) })
}

fn capabilities(revision: Revision, proposals: Proposals) -> Value {
    let mut capabilities = json!({
        "logging": {},
        "prompts": { "listChanged": true },
        "resources": { "subscribe": true, "listChanged": true },
        "tools": { "listChanged": true },
    });
    if revision.features().completions_capability {
        capabilities["completions"] = json!({});
    }
    if revision.features().tasks {
        capabilities["tasks"] = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
    }
    if revision.is_modern() {
        capabilities["extensions"] = json!({ EXTENSION: {} });
        if proposals.skills {
            capabilities["extensions"][SKILLS] = json!({ "directoryRead": true });
        }
    }
    // The first revision with titles is also the first one with `_meta` of tools and contents.
    if proposals.apps && revision.features().titles {
        capabilities["extensions"][APPS] = json!({});
    }
    capabilities
}

#[expect(clippy::unnecessary_wraps, reason = "handlers have one signature")]
pub fn ping(_: &mut Context, _: Params) -> Result<Value, Fail> {
    Ok(Map::new().into())
}

pub fn set_level(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let level = Level::named(params.string("level")?).ok_or_else(|| params::unfit("level", "a log level"))?;
    context.session.level = Some(level);
    Ok(Map::new().into())
}
