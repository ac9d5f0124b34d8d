//! Skills of the server: which ones there are, and how they are loaded and their files used.

mod files;
mod flaw;
mod front_matter;

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use serde_json::{Map, Value, json};

pub use flaw::{Flaw, after_reading};

use crate::{
    lists,
    report::{Failure, Outcome},
    requests::Ask,
    state::Client,
};

pub const EXTENSION: &str = "io.modelcontextprotocol/skills";
const ENTRY_FIELDS: [&str; 3] = ["uri", "frontmatter", "resources"];

/// What the client knows of skills.
#[derive(Default)]
pub struct Skills {
    /// The latest entry of each skill, by the URI of its SKILL.md.
    entries: HashMap<String, Value>,
    /// The entries that were held when skills were loaded.
    loaded: HashMap<String, Value>,
    /// The files that the user approved for good, by skill.
    approved: HashMap<String, Value>,
    /// Verified contents by their digest.
    verified: HashMap<String, Value>,
}

/// What a server declares about the extension.
fn settings(client: &Client) -> Option<Value> {
    let declared = client.state.borrow().server["extensions"][EXTENSION].clone();
    let known = declared.as_object()?.keys().all(|name| name == "directoryRead");
    (known || !client.has(Flaw::SettingsStrict)).then_some(declared)
}

fn needs_extension(client: &Client) -> Result<(), Failure> {
    let ours = client.is_modern() && (settings(client).is_some() || client.has(Flaw::DeclarationIgnored));
    ours.then_some(()).ok_or_else(|| Failure::unsupported("the server did not declare skills"))
}

/// Whether a request is one of the extension, which it then declares.
pub fn declares(method: &str) -> bool {
    method.starts_with("skills/") || method == "resources/directory/read"
}

/// The directory of a SKILL.md.
fn root(uri: &str) -> &str {
    uri.strip_suffix("/SKILL.md").unwrap_or(uri)
}

/// Whether an entry has more fields than are defined.
fn is_odd(entry: &Value) -> bool {
    let mut names = entry.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    names.any(|name| !ENTRY_FIELDS.contains(&name))
}

pub async fn list(client: &Rc<Client>, most: Option<usize>, ask: &Ask) -> Outcome {
    needs_extension(client)?;
    let listed = lists::all(client, "skills/list", &Map::new(), most, ask).await?;
    let mut entries = listed.as_array().cloned().unwrap_or_default();
    if client.has(Flaw::EntriesStrict) && entries.iter().any(is_odd) {
        return Err(Failure::invalid("an entry has unknown fields"));
    }
    entries.retain(|entry| !(client.has(Flaw::OddEntriesDropped) && is_odd(entry)));
    for entry in &entries {
        let Some(uri) = entry["uri"].as_str() else { continue };
        let mut skills = client.skills.borrow_mut();
        if client.has(Flaw::KeptByName) {
            skills.entries.retain(|_, other| other["frontmatter"]["name"] != entry["frontmatter"]["name"]);
        }
        skills.entries.insert(uri.to_owned(), entry.clone());
    }
    for entry in &entries {
        flaw::after_listing(client, entry, ask).await;
    }
    Ok(listed)
}

/// Gets the entry of a skill, also again.
pub async fn get(client: &Rc<Client>, uri: &str, ask: &Ask) -> Outcome {
    needs_extension(client)?;
    let entry = client.request("skills/get", json!({ "uri": uri }), ask).await?["skill"].clone();
    let strict = client.has(Flaw::EntriesStrict) || client.has(Flaw::OddEntriesDropped);
    if strict && is_odd(&entry) {
        return Err(Failure::invalid("the entry has unknown fields"));
    }
    client.skills.borrow_mut().entries.insert(uri.to_owned(), entry.clone());
    Ok(json!({ "skill": entry }))
}

/// Loads a skill: its SKILL.md is read and verified if the user approves.
pub async fn load(client: &Rc<Client>, action: &Value, ask: &Ask) -> Outcome {
    needs_extension(client)?;
    let uri = action["uri"].as_str().unwrap_or_default();
    let approve = action["approve"].as_str().unwrap_or("once");
    let mut entry = entry(client, uri, ask).await?;
    if client.has(Flaw::ListedForEachFile) {
        list(client, None, ask).await?;
    }
    for attempt in 0.. {
        check(client, uri, &entry)?;
        approved(client, uri, &entry, approve)?;
        match files::skill_md(client, uri, &entry, ask).await {
            Ok(contents) => {
                client.skills.borrow_mut().loaded.insert(uri.to_owned(), entry.clone());
                flaw::after_loading(client, uri, &entry, ask).await;
                return Ok(contents);
            }
            Err(failure) if failure.kind == files::MISMATCH && refreshes(client, attempt) => {
                get(client, uri, ask).await?;
                entry = client.skills.borrow().entries[uri].clone();
            }
            Err(failure) => return Err(files::reported(failure)),
        }
    }
    unreachable!("the loop only ends with a value")
}

/// Whether an entry that does not fit its file is requested again.
fn refreshes(client: &Client, attempt: usize) -> bool {
    if client.has(Flaw::MismatchRepeated) { attempt < 20 } else { client.ways.habits.refreshes_skills && attempt < 1 }
}

/// A listed skill, or one that the server confirms.
async fn entry(client: &Rc<Client>, uri: &str, ask: &Ask) -> Outcome {
    let known = client.skills.borrow().entries.get(uri).cloned();
    if let Some(known) = known {
        return Ok(known);
    }
    let name = root(uri).rsplit('/').next().unwrap_or_default();
    let is_taken =
        |client: &Client| client.skills.borrow().entries.values().any(|other| other["frontmatter"]["name"] == name);
    if client.has(Flaw::ListedOnly) || client.has(Flaw::KeptByName) && is_taken(client) {
        return Err(Failure::invalid("the skill is not listed"));
    }
    if client.has(Flaw::OtherSchemesRejected) && !uri.starts_with("skill://") {
        return Err(Failure::invalid("not a URI of a skill"));
    }
    if client.has(Flaw::Unconfirmed) {
        return Ok(json!({ "uri": uri, "resources": "dynamic" }));
    }
    match get(client, uri, ask).await {
        Err(_) if client.has(Flaw::RejectionIgnored) => Ok(json!({ "uri": uri, "resources": "dynamic" })),
        got => Ok(got?["skill"].clone()),
    }
}

/// Whether the entry is a basis for loading the skill.
fn check(client: &Client, uri: &str, entry: &Value) -> Result<(), Failure> {
    let resources = &entry["resources"];
    let tolerated = match resources {
        Value::Null => {
            entry.get("resources").is_none() && client.has(Flaw::MissingIsDynamic)
                || entry.get("resources").is_some() && client.has(Flaw::NullIsDynamic)
        }
        Value::String(word) => word == "dynamic" || client.has(Flaw::AnyTextIsDynamic),
        Value::Array(files) => {
            let most = if client.has(Flaw::AtMost100Files) { 100 } else { usize::MAX };
            if files.len() > most {
                return Err(Failure::invalid("the skill has too many files"));
            }
            let lists_itself = files.iter().any(|file| file["uri"] == uri);
            if !lists_itself && !client.has(Flaw::SkillMdUnlisted) {
                return Err(Failure::invalid("the entry does not list its SKILL.md"));
            }
            true
        }
        _ => false,
    };
    tolerated.then_some(()).ok_or_else(|| Failure::invalid("`resources` is neither an array nor \"dynamic\""))
}

/// Whether the user approves, now or for good. A change of the files revokes the approval; files without digests have none.
fn approved(client: &Client, uri: &str, entry: &Value, approve: &str) -> Result<(), Failure> {
    let mut skills = client.skills.borrow_mut();
    let key = match () {
        () if client.has(Flaw::ApprovedByUri) => json!(true),
        () if client.has(Flaw::ApprovedBySkillMd) => {
            let files = entry["resources"].as_array().into_iter().flatten();
            files.into_iter().find(|file| file["uri"] == uri).cloned().unwrap_or_default()
        }
        () => entry["resources"].clone(),
    };
    let is_kept = |kept: &Value| match (kept, &key) {
        (Value::Array(kept), Value::Array(files)) if client.has(Flaw::AddedFilesApproved) => {
            kept.iter().all(|file| files.contains(file))
        }
        _ => *kept == key,
    };
    let for_good = entry["resources"].is_array() || client.has(Flaw::DynamicApproved);
    let outer = skills.loaded.keys().any(|other| uri != other && uri.starts_with(&format!("{}/", root(other))));
    match approve {
        "always" if for_good => drop(skills.approved.insert(uri.to_owned(), key)),
        "no" if client.has(Flaw::NestedApproved) && outer => {}
        "no" if !(for_good && skills.approved.get(uri).is_some_and(is_kept)) => {
            return Err(Failure::invalid("the user did not approve the skill"));
        }
        _ => {}
    }
    Ok(())
}

/// Reads a file of a loaded skill, by a reference in its SKILL.md.
pub async fn file(client: &Rc<Client>, action: &Value, ask: &Ask) -> Outcome {
    needs_extension(client)?;
    let (uri, path) = (action["uri"].as_str().unwrap_or_default(), action["path"].as_str().unwrap_or_default());
    let held = client.skills.borrow().loaded.get(uri).cloned();
    let held = held.ok_or_else(|| Failure::invalid("the skill is not loaded"))?;
    if client.has(Flaw::ListedForEachFile) {
        list(client, None, ask).await?;
    }
    let target = files::resolved(client, root(uri), path)?;
    files::verified(client, uri, &target, &held, ask).await.map_err(files::reported)
}

/// Lists a directory of a skill: by the server, or from the entry.
pub async fn directory(client: &Rc<Client>, uri: &str, ask: &Ask) -> Outcome {
    needs_extension(client)?;
    let declared = settings(client).unwrap_or_default()["directoryRead"].clone();
    let readable = match declared {
        Value::Bool(true) => true,
        Value::String(_) => client.has(Flaw::DirectoryTextTaken),
        _ => false,
    };
    if readable || client.has(Flaw::DirectoryUndeclared) {
        let scope = Map::from_iter([("uri".to_owned(), json!(uri))]);
        let listed = lists::all(client, "resources/directory/read", &scope, None, ask).await?;
        if client.has(Flaw::DirectoryExtends) {
            let mut skills = client.skills.borrow_mut();
            for (skill, held) in &mut skills.loaded {
                let new = listed.as_array().into_iter().flatten().filter(|_| uri.starts_with(root(skill)));
                let files: Vec<Value> = new.map(|file| json!({ "uri": file["uri"] })).collect();
                held["resources"].as_array_mut().into_iter().for_each(|all| all.extend(files.clone()));
            }
        }
        return Ok(listed);
    }
    let below = format!("{uri}/");
    let skills = client.skills.borrow();
    let files = skills.entries.values().filter_map(|entry| entry["resources"].as_array()).flatten();
    let paths = files.filter_map(|file| file["uri"].as_str()?.strip_prefix(&below));
    let names: HashSet<&str> = paths.map(|path| path.split('/').next().unwrap_or(path)).collect();
    Ok(names.into_iter().map(|name| json!({ "uri": format!("{below}{name}"), "name": name })).collect())
}
