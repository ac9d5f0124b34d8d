//! Files of skills: their URIs, and their bytes against the entry.

use std::rc::Rc;

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::{Flaw, front_matter, root};
use crate::{
    report::{Failure, Outcome},
    requests::Ask,
    state::Client,
};

/// The kind of a failure that a newer entry may cure. It is reported as `invalid`.
pub const MISMATCH: &str = "mismatch";

/// A skill of more bytes would not fit into a message of many clients.
const LARGE: u64 = 4 << 20;

fn mismatch(why: &str) -> Failure {
    Failure::new(MISMATCH, why)
}

pub fn reported(failure: Failure) -> Failure {
    if failure.kind == MISMATCH { Failure { kind: "invalid", ..failure } } else { failure }
}

/// The verified SKILL.md, whose front matter is that of the entry.
pub async fn skill_md(client: &Rc<Client>, uri: &str, entry: &Value, ask: &Ask) -> Outcome {
    let contents = verified(client, uri, uri, entry, ask).await?;
    let content = &contents["contents"][0];
    let bytes = bytes(content).ok_or_else(|| Failure::invalid("SKILL.md has no content"))?;
    let text = String::from_utf8(bytes).map_err(|_| mismatch("SKILL.md is not UTF-8"))?;
    let is_dynamic = entry["resources"] == "dynamic";
    let compares = entry.get("frontmatter").is_some()
        && !client.has(Flaw::FrontMatterIgnored)
        && !(is_dynamic && client.has(Flaw::DynamicUnverified));
    if compares && !front_matter::fits(client, &text, &entry["frontmatter"], is_dynamic) {
        return Err(mismatch("the front matter differs from that of the entry"));
    }
    let files = entry["resources"].as_array().map(Vec::as_slice).unwrap_or_default();
    let bytes: u64 = files.iter().filter_map(|file| file["size"].as_u64()).sum();
    if (files.len() > 512 || bytes > 16 << 20) && client.has(Flaw::LimitAfterReading) {
        return Err(Failure::invalid("the skill is too large"));
    }
    Ok(contents)
}

/// A file as the held entry describes it. What the entry does not list is not read.
pub async fn verified(client: &Rc<Client>, skill: &str, uri: &str, held: &Value, ask: &Ask) -> Outcome {
    let listed = held["resources"].as_array().into_iter().flatten().find(|file| file["uri"] == uri);
    let inside = uri.starts_with(&format!("{}/", root(skill)));
    let is_dynamic = !held["resources"].is_array();
    let Some(file) = listed else {
        let follows = client.has(Flaw::EscapesFollowed) || client.has(Flaw::AbsoluteFollowed);
        let is_flawed = client.has(Flaw::UnlistedRead) && inside
            || follows && !inside
            || client.has(Flaw::SkillMdUnlisted) && uri == skill;
        if is_dynamic && inside || is_flawed {
            return read(client, uri, ask).await.map(|result| one(client, &result, uri));
        }
        return Err(Failure::invalid("the entry does not list the file"));
    };
    let key = match () {
        () if client.has(Flaw::CachedByUri) => uri.to_owned(),
        () if client.has(Flaw::CachedBySize) => format!("{uri} {}", file["size"]),
        () => file["digest"].as_str().unwrap_or_default().to_owned(),
    };
    let known = client.skills.borrow().verified.get(&key).cloned();
    if let Some(known) = known.filter(|_| !client.has(Flaw::NotCached)) {
        return Ok(json!({ "contents": [with_uri(known, uri)] }));
    }
    let result = read(client, uri, ask).await?;
    let contents = one(client, &result, uri);
    let content = &contents["contents"][0];
    if uri == skill && client.has(Flaw::SkillMdBlobRejected) && content["text"].is_null() {
        return Err(Failure::invalid("SKILL.md is not a text"));
    }
    let bytes = hashed(client, content).ok_or_else(|| Failure::invalid("the file has no content"))?;
    if client.has(Flaw::LargeFilesRejected) && file["size"].as_u64().is_some_and(|size| size >= LARGE) {
        return Err(Failure::invalid("the file is too large"));
    }
    compare(client, uri == skill, content, bytes, file)?;
    client.skills.borrow_mut().verified.insert(key, content.clone());
    Ok(contents)
}

fn with_uri(mut content: Value, uri: &str) -> Value {
    content["uri"] = json!(uri);
    content
}

/// Size and digest.
fn compare(
    client: &Client,
    is_skill_md: bool,
    content: &Value,
    mut bytes: Vec<u8>,
    file: &Value,
) -> Result<(), Failure> {
    // Without a digest there is nothing to compare; only flawed clients have such a file.
    let Some(expected) = file["digest"].as_str() else { return Ok(()) };
    let size = file["size"].as_u64().and_then(|size| usize::try_from(size).ok()).unwrap_or_default();
    if client.has(Flaw::CutToSize) {
        bytes.truncate(size);
    }
    let longer = bytes.len() > size && client.has(Flaw::LongerAccepted);
    if bytes.len() != size && !longer && !client.has(Flaw::SizeIgnored) {
        return Err(mismatch("the file has another size than in the entry"));
    }
    let actual: String = digest(&SHA256, &bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let actual = format!("sha256:{actual}");
    let ignored = client.has(Flaw::DigestIgnored)
        || client.has(Flaw::DigestOfSkillMdOnly) && !is_skill_md
        || client.has(Flaw::DigestOfTextOnly) && content["text"].is_null();
    let compared = if client.has(Flaw::DigestBegin) { "sha256:".len() } else { expected.len() };
    let equal = actual.as_bytes().get(..compared.min(actual.len())) == expected.as_bytes().get(..compared);
    (ignored || equal).then_some(()).ok_or_else(|| mismatch("the file has another digest than in the entry"))
}

pub async fn read(client: &Rc<Client>, uri: &str, ask: &Ask) -> Outcome {
    client.request("resources/read", json!({ "uri": uri }), ask).await
}

/// The content with the URI, alone.
fn one(client: &Client, result: &Value, uri: &str) -> Value {
    let all = result["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found = all.iter().find(|content| content["uri"] == uri).or_else(|| all.first());
    let mut content =
        if client.has(Flaw::FirstContentTaken) { all.first() } else { found }.cloned().unwrap_or_default();
    if client.has(Flaw::TextsJoined) && content["text"].is_string() {
        content["text"] = all.iter().filter_map(|content| content["text"].as_str()).collect::<String>().into();
    }
    json!({ "contents": [content] })
}

fn bytes(content: &Value) -> Option<Vec<u8>> {
    match content["blob"].as_str() {
        Some(blob) => STANDARD.decode(blob).ok(),
        None => content["text"].as_str().map(|text| text.as_bytes().to_vec()),
    }
}

/// The bytes that are verified.
fn hashed(client: &Client, content: &Value) -> Option<Vec<u8>> {
    if let (true, Some(blob)) = (client.has(Flaw::BlobHashedAsText), content["blob"].as_str()) {
        return Some(blob.as_bytes().to_vec());
    }
    let bytes = bytes(content)?;
    if content["text"].is_null() {
        return Some(bytes);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(match () {
        () if client.has(Flaw::NewlinesNormalised) => text.replace("\r\n", "\n").into_bytes(),
        () if client.has(Flaw::MarkRemoved) => text.trim_start_matches('\u{feff}').as_bytes().to_vec(),
        () => bytes,
    })
}

/// The URI of a reference in a SKILL.md, if it stays in the skill.
pub fn resolved(client: &Client, root: &str, path: &str) -> Result<String, Failure> {
    let outside = || Failure::invalid("the reference leads out of the skill");
    if path.contains(':') || path.starts_with('/') {
        return if client.has(Flaw::AbsoluteFollowed) { Ok(path.to_owned()) } else { Err(outside()) };
    }
    let mut segments: Vec<&str> = Vec::new();
    let mut base = root.to_owned();
    for segment in path.split('/') {
        let plain = segment.to_ascii_lowercase().replace("%2e", ".");
        match plain.as_str() {
            "." | "" => {}
            ".." => match segments.pop() {
                Some(_) => {}
                None if client.has(Flaw::EscapesFollowed) => {
                    let parent = base.rsplit_once('/').map(|(parent, _)| parent.to_owned()).unwrap_or_default();
                    base = if parent.ends_with("//") || parent.ends_with(":/") { "skill:/".to_owned() } else { parent };
                }
                None => return Err(outside()),
            },
            _ => segments.push(segment),
        }
    }
    if client.has(Flaw::SlashAdded) {
        base += "/";
    }
    let after_scheme = base.find("://").map_or(0, |at| at + 3);
    if client.has(Flaw::ResolvedFromScheme) {
        base.truncate(after_scheme.saturating_sub(1));
    }
    if client.has(Flaw::FirstSegmentLost)
        && let Some((_, rest)) = base.clone()[after_scheme..].split_once('/')
    {
        base = format!("{}{rest}", &base[..after_scheme]);
    }
    Ok(format!("{base}/{}", segments.join("/")))
}
