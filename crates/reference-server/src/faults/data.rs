//! Faults as data: an [`Edit`] of the messages that the server sends, in the language that the reference client and
//! gateway share, and the keys that only a server needs.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use json_patch::Patch;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    faults::{FaultInfo, Misroute, Scene, Spoken},
    http::Lax,
    message,
    options::Transport,
};
use conform_faults::{Counters, Edit, Fate, Passing, Sent, Side, apply, read};
use conform_model::revision::Revision;
use conform_texts::{FAULTS, Text, VARIATIONS};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DataFault {
    #[serde(alias = "variation")]
    fault: String,
    about: String,
    /// The change of messages that the server sends, and the conditions of all other keys.
    #[serde(flatten)]
    pub(super) edit: Edit,
    #[serde(skip)]
    counters: Counters,
    /// Changes the request, or the notification, before it is handled.
    mishear: Option<Patch>,
    /// Changes requests of these methods to the client, as requests of their own or inside of a result.
    asks: Option<Patch>,
    /// The name of another fault that also shows wherever this one changes nothing.
    besides: Option<String>,
    #[serde(skip)]
    other: Option<Box<DataFault>>,
    /// The variation that the server also has: its change is made first.
    over: Option<String>,
    #[serde(skip)]
    under: Option<Box<DataFault>>,
    /// Of a variation: it is a server for profiles of hosts. These terms select the profiles that have to accept it, and
    /// that judge the faults over it.
    #[serde(default)]
    hosts: Vec<String>,
    /// Request headers that the server ignores, always or only where `when` is met.
    #[serde(default)]
    pub(super) ignore_headers: Vec<String>,
    /// The HTTP request gets a response with `status`, or 200, and is not handled.
    #[serde(default)]
    pub(super) unheard: bool,
    /// The HTTP request is not handled, and its connection is closed.
    #[serde(default)]
    pub(super) hangs_up: bool,
    /// The HTTP request is not handled, and its connection stays open.
    #[serde(default)]
    pub(super) keeps_waiting: bool,
    /// The session ids of the server; `$n` stands for the number of the session.
    pub(super) session_id: Option<String>,
    /// The server only knows the last client.
    #[serde(default)]
    pub(super) one_client: bool,
    /// The only revisions that the server speaks.
    pub(super) speaks: Option<Vec<Revision>>,
    /// What the authorization server does not check.
    #[serde(default)]
    pub(super) lax: Vec<Lax>,
    /// It listens on all addresses of the machine.
    #[serde(default)]
    pub(super) listens_everywhere: bool,
    /// Replaces the beginning of a stream of HTTP+SSE; `$endpoint` stands for the URL for messages.
    pub(super) opening: Option<String>,
    pub(super) event_name: Option<String>,
    /// Names of headers are recognized in lower case only.
    #[serde(default)]
    pub(super) lower_case_only: bool,
    pub(super) misroutes: Option<Misroute>,
    /// The HTTP request is accepted, authorized or not.
    #[serde(default)]
    pub(super) unguarded: bool,
    transport: Option<Vec<Transport>>,
    proposal: Option<String>,
    extension: Option<String>,
    /// The fault only shows on a protected server.
    #[serde(default)]
    protected: bool,
    /// The fault only shows on the authorization server of a protected server.
    #[serde(default)]
    authority: bool,
    /// Rules besides those that name the fault which it also violates; `*` stands for any. No rule names a variation:
    /// for a variation these are all the rules that it may change.
    #[serde(default, alias = "changes")]
    also: Vec<String>,
    /// The usual facts about the reference server do not apply.
    #[serde(default)]
    without_facts: bool,
}

/// Every file with its faults, or with the reason why it is invalid.
pub fn files(texts: impl Iterator<Item = Text>) -> Vec<(&'static str, Result<Vec<DataFault>, String>)> {
    texts.map(|(path, text)| (path, parse(text))).collect()
}

/// The fault or variation of that name, if one of these files has it; or the one that this text in braces defines.
pub fn find(name: &str, texts: impl Iterator<Item = Text>) -> Result<Option<DataFault>, String> {
    if name.starts_with('{') {
        return read(name).map(Some);
    }
    for (file, text) in texts.filter(|(_, text)| text.contains(name)) {
        let found = parsed(file, text)?;
        if let Some(mut fault) = found.iter().find(|fault| fault.fault == name).cloned() {
            fault.other =
                fault.besides.as_deref().map(|name| find(name, faults())).transpose()?.flatten().map(Box::new);
            fault.under = fault
                .over
                .as_deref()
                .map(|name| find(name, VARIATIONS.iter().copied()))
                .transpose()?
                .flatten()
                .map(Box::new);
            return Ok(Some(fault));
        }
    }
    Ok(None)
}

pub fn faults() -> impl Iterator<Item = Text> {
    #[cfg(test)]
    const EXAMPLES: &[Text] =
        &[("crates/reference-server/src/tests/examples.yaml", include_str!("../tests/examples.yaml"))];
    #[cfg(not(test))]
    const EXAMPLES: &[Text] = &[];
    FAULTS.iter().chain(EXAMPLES).copied()
}

/// A proof starts thousands of servers, so the parsed files are cached.
fn parsed(file: &'static str, text: &str) -> Result<Arc<Vec<DataFault>>, String> {
    static READ: Mutex<BTreeMap<&str, Arc<Vec<DataFault>>>> = Mutex::new(BTreeMap::new());
    let mut files = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(faults) = files.get(file) {
        return Ok(Arc::clone(faults));
    }
    let faults = Arc::new(parse(text).map_err(|why| format!("{file}: {why}"))?);
    files.insert(file, Arc::clone(&faults));
    Ok(faults)
}

fn parse(text: &str) -> Result<Vec<DataFault>, String> {
    read(text)
}

impl DataFault {
    #[cfg(test)]
    pub fn name(&self) -> &str {
        &self.fault
    }

    pub fn info(&self) -> FaultInfo {
        FaultInfo {
            name: self.fault.clone(),
            about: self.about.clone(),
            since: self.edit.since,
            until: self.edit.until,
            transports: self.transports(),
            proposal: self.proposal.clone(),
            extension: self.extension.clone(),
            protected: self.protected || self.authority,
            authority: self.authority,
            also: self.also.clone(),
            suites: &[],
            hosts: self.hosts(),
            stops: None,
            without_facts: self.without_facts,
        }
    }

    fn hosts(&self) -> Vec<String> {
        let over = self.over.as_deref().and_then(|over| find(over, VARIATIONS.iter().copied()).ok().flatten());
        match over.filter(|_| self.hosts.is_empty()) {
            Some(over) => over.hosts,
            None => self.hosts.clone(),
        }
    }

    fn transports(&self) -> Vec<Transport> {
        let http = self.edit.is_about_http() || !self.ignore_headers.is_empty();
        let all = if self.protected || self.authority {
            vec![Transport::Http]
        } else if http {
            vec![Transport::Http, Transport::Sse]
        } else {
            Transport::ALL.to_vec()
        };
        self.transport.clone().unwrap_or(all)
    }

    /// What is invalid in the definition of the fault.
    #[cfg(test)]
    pub fn flaw(&self) -> Option<String> {
        let pointer = |text: &str| text.is_empty() || text.starts_with('/');
        let roots = |text: &&String| !["/request", "/response", "/message"].iter().any(|root| text.starts_with(root));
        if let Some(path) = self.edit.when.keys().find(roots) {
            return Some(format!("`when: {path}` is neither under /request nor under /response or /message"));
        }
        if self.edit.when.keys().any(|path| !pointer(path)) {
            return Some("a path of `when` is no JSON Pointer".to_owned());
        }
        if self.edit.since.zip(self.edit.until).is_some_and(|(since, until)| since > until) {
            return Some("no revision lies between `since` and `until`".to_owned());
        }
        if self.edit.on.is_empty() {
            return Some("`on` names nothing".to_owned());
        }
        let http = self.unheard || self.hangs_up || !self.ignore_headers.is_empty() || !self.edit.headers.is_empty();
        let odd = self.lower_case_only
            || self.event_name.is_some()
            || self.misroutes.is_some()
            || self.session_id.is_some()
            || self.one_client
            || !self.lax.is_empty()
            || self.listens_everywhere
            || self.unguarded
            || self.keeps_waiting
            || self.speaks.is_some()
            || self.opening.is_some();
        let acts = http || odd || self.mishear.is_some() || self.asks.is_some() || self.edit.changes_messages();
        (!acts).then(|| "it changes nothing".to_owned())
    }

    pub fn hear(&mut self, scene: &Scene, message: &mut Value) {
        if let Some(other) = &mut self.other {
            other.hear(scene, message);
        }
        let Some(mishear) = self.mishear.clone() else { return };
        let named = scene.method().is_some_and(|method| self.edit.on.iter().any(|on| on == method || on == "*"));
        if named && self.shows(scene, None) {
            apply(message, &mishear);
        }
    }

    pub fn say(&mut self, scene: &Scene, mut message: Value) -> Vec<Spoken> {
        if let Some(patch) = self.asks.clone() {
            if message.get("method").is_some() {
                self.ask(scene, &mut message, &patch);
            } else if let Some(Value::Object(inputs)) = message.pointer_mut("/result/inputRequests") {
                inputs.values_mut().for_each(|request| self.ask(scene, request, &patch));
            }
            return vec![Spoken::plain(&message)];
        }
        let passing = Passing { from: Side::Server, is_own: true, request: scene.sent, revision: Some(scene.revision) };
        if let Some(under) = &mut self.under {
            let mut sent = under.edit.pass(&mut under.counters, &passing, message.clone()).sent;
            if let Some(Sent::Message(changed)) = sent.pop() {
                message = changed;
            }
        }
        let fate = if self.edit.changes_messages() && self.shows_over(scene.transport) {
            self.edit.pass(&mut self.counters, &passing, message)
        } else {
            Fate::unchanged(message)
        };
        let other = self.other.as_mut().filter(|_| !fate.selected);
        if let (Some(other), [Sent::Message(message)]) = (other, fate.sent.as_slice()) {
            return other.say(scene, message.clone());
        }
        let spoken = |mut sent: Sent| {
            if let (Sent::Message(message), Some(_)) = (&mut sent, &self.edit.instead)
                && fate.selected
            {
                message::name_server(message, scene.revision);
            }
            let status = self.edit.status.filter(|_| fate.selected);
            Spoken { bytes: sent.into_text().into_bytes(), status }
        };
        fate.sent.into_iter().map(spoken).collect()
    }

    fn ask(&mut self, scene: &Scene, request: &mut Value, patch: &Patch) {
        let named = request.get("method").is_some_and(|method| self.edit.on.iter().any(|on| method == on));
        if named && self.shows(scene, Some(request)) {
            apply(request, patch);
        }
    }

    /// Whether the fault affects this HTTP exchange.
    pub(super) fn affects(&mut self, request: &Value, response: Option<&Value>) -> bool {
        self.edit.is_about_http() && self.edit.fits(Some(request), response) && self.edit.is_due(self.counters.of(0))
    }

    fn shows(&mut self, scene: &Scene, response: Option<&Value>) -> bool {
        self.edit.applies_in(Some(scene.revision))
            && self.shows_over(scene.transport)
            && self.edit.fits(scene.sent, response)
            && self.edit.is_due(self.counters.of(0))
    }

    fn shows_over(&self, transport: Transport) -> bool {
        self.transport.as_ref().is_none_or(|transports| transports.contains(&transport))
    }
}
