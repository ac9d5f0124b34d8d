//! What a client can do wrong with skills. The correct client has none of these.

use std::rc::Rc;

use serde_json::{Value, json};

use super::{files, root};
use crate::{behaviour::decisions::Posting, requests::Ask, state::Client, transport::raw};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    // Which skills there are.
    DeclarationIgnored,
    SettingsStrict,
    EntriesStrict,
    OddEntriesDropped,
    KeptByName,
    ListedForEachFile,
    ListedOnly,
    OtherSchemesRejected,
    Unconfirmed,
    RejectionIgnored,
    AuthorityResolved,
    HooksRunAtList,
    HooksRunAtLoad,
    AllowedToolsCalled,
    // The description of a skill.
    MissingIsDynamic,
    NullIsDynamic,
    AnyTextIsDynamic,
    AtMost100Files,
    LargeFilesRejected,
    LimitAfterReading,
    SkillMdUnlisted,
    // What is read when.
    AllPrefetched,
    SkillMdPreviewed,
    AllReadAtLoad,
    ActivatedByRead,
    MismatchRepeated,
    // What is verified.
    DigestIgnored,
    DigestOfSkillMdOnly,
    DigestOfTextOnly,
    DigestBegin,
    SizeIgnored,
    CutToSize,
    LongerAccepted,
    NewlinesNormalised,
    MarkRemoved,
    BlobHashedAsText,
    SkillMdBlobRejected,
    FirstContentTaken,
    TextsJoined,
    // Front matter.
    FrontMatterIgnored,
    NameAndDescriptionOnly,
    FieldsOfFileIgnored,
    FrontMatterByLine,
    OrderCompared,
    NumbersByType,
    ReservedRejected,
    DynamicUnverified,
    DynamicNameOnly,
    // Other files.
    NotCached,
    CachedByUri,
    CachedBySize,
    UnlistedRead,
    DirectoryUndeclared,
    DirectoryTextTaken,
    DirectoryExtends,
    EscapesFollowed,
    AbsoluteFollowed,
    ResolvedFromScheme,
    FirstSegmentLost,
    SlashAdded,
    // Approvals.
    ApprovedByUri,
    ApprovedBySkillMd,
    AddedFilesApproved,
    DynamicApproved,
    NestedApproved,
}

impl Client {
    pub fn has(&self, flaw: Flaw) -> bool {
        self.ways.skills == Some(flaw)
    }
}

/// What a client with a flaw does for each listed skill.
pub async fn after_listing(client: &Rc<Client>, entry: &Value, ask: &Ask) {
    let uri = entry["uri"].as_str().unwrap_or_default();
    if client.has(Flaw::AllPrefetched) {
        read_all(client, entry, ask).await;
    }
    if client.has(Flaw::SkillMdPreviewed) {
        files::read(client, uri, ask).await.ok();
    }
    if client.has(Flaw::AuthorityResolved) {
        fetch(client, &uri.replacen("skill:", "http:", 1)).await;
    }
    if client.has(Flaw::HooksRunAtList) {
        run_hook(client, entry).await;
    }
}

/// The hook of the worlds fetches a URL.
async fn run_hook(client: &Rc<Client>, entry: &Value) {
    let hook = entry["frontmatter"]["hooks"]["setup"].as_str();
    if let Some(url) = hook.and_then(|hook| hook.split(' ').next_back()) {
        fetch(client, url).await;
    }
}

/// What a client with a flaw does after it has loaded a skill.
pub async fn after_loading(client: &Rc<Client>, uri: &str, entry: &Value, ask: &Ask) {
    if client.has(Flaw::AllReadAtLoad) {
        read_all(client, entry, ask).await;
    }
    if client.has(Flaw::HooksRunAtLoad) {
        run_hook(client, entry).await;
    }
    if client.has(Flaw::AllowedToolsCalled)
        && let Some(tool) = entry["frontmatter"]["allowed-tools"][0].as_str()
    {
        let call = json!({ "name": tool, "arguments": { "text": root(uri) } });
        client.request("tools/call", call, ask).await.ok();
    }
}

/// What a client with a flaw does after a resource was read.
pub async fn after_reading(client: &Rc<Client>, uri: &str, ask: &Ask) {
    let entry = client.skills.borrow().entries.get(uri).cloned();
    if let Some(entry) = entry.filter(|_| client.has(Flaw::ActivatedByRead)) {
        read_all(client, &entry, ask).await;
    }
}

async fn read_all(client: &Rc<Client>, entry: &Value, ask: &Ask) {
    for file in entry["resources"].as_array().into_iter().flatten() {
        files::read(client, file["uri"].as_str().unwrap_or_default(), ask).await.ok();
    }
}

async fn fetch(client: &Rc<Client>, url: &str) {
    let posting = Posting {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
        message: Value::Null,
    };
    raw::send(&*client.outside, &posting).await.ok();
}
