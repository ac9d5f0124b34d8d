//! Faults as data: a condition on an exchange, and the change of the response (or of the request) if it is met.
//!
//! A patch that cannot be applied leaves the response unchanged, so one patch may be for responses of several shapes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use indexmap::IndexMap;
use json_patch::{Patch, PatchOperation, patch};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Value, json};

use crate::{
    embedded::{FAULTS, Text},
    reference::server::{
        faults::{FaultInfo, Misroute, Scene, Spoken},
        message,
        options::Transport,
    },
    revision::Revision,
};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DataFault {
    #[serde(alias = "variation")]
    fault: String,
    about: String,
    /// Methods of requests or notifications; `*` stands for every response, `error` for every error, `http` for all
    /// HTTP requests and responses.
    #[serde(deserialize_with = "one_or_many")]
    on: Vec<String>,
    /// JSON Pointers into `{ request, response }` with the expected value: a value, one of a list, `present` or
    /// `absent`.
    #[serde(default)]
    when: IndexMap<String, Value>,
    /// How many matching exchanges pass before the fault shows.
    #[serde(default)]
    skip: usize,
    /// Changes the request, or the notification, before it is handled.
    mishear: Option<Patch>,
    /// Changes requests of these methods to the client, as requests of their own or inside of a result.
    asks: Option<Patch>,
    /// The name of another fault that also shows wherever this one changes nothing.
    besides: Option<String>,
    #[serde(skip)]
    other: Option<Box<DataFault>>,
    /// Changes the response.
    pub(super) patch: Option<Patch>,
    /// Replaces the response; `$id` stands for the id.
    instead: Option<Value>,
    /// Replaces the line, event or body; `$message` stands for the response, `$id` for its id.
    pub(super) raw: Option<String>,
    /// A line or event before the response.
    before: Option<String>,
    after: Option<String>,
    #[serde(default)]
    twice: bool,
    #[serde(default)]
    drop: bool,
    /// Replaces the HTTP status.
    pub(super) status: Option<u16>,
    /// Request headers that the server ignores, always or only where `when` is met.
    #[serde(default)]
    pub(super) ignore_headers: Vec<String>,
    /// Changes response headers; null removes one.
    #[serde(default)]
    pub(super) answer_headers: IndexMap<String, Option<String>>,
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
    since: Option<Revision>,
    until: Option<Revision>,
    transport: Option<Vec<Transport>>,
    proposal: Option<String>,
    /// The fault only shows on a protected server.
    #[serde(default)]
    protected: bool,
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

/// The fault or variation of that name, if one of these files has it.
pub fn find(name: &str, texts: impl Iterator<Item = Text>) -> Result<Option<DataFault>, String> {
    for (file, text) in texts.filter(|(_, text)| text.contains(name)) {
        let found = parsed(file, text)?;
        if let Some(mut fault) = found.iter().find(|fault| fault.fault == name).cloned() {
            fault.other =
                fault.besides.as_deref().map(|name| find(name, faults())).transpose()?.flatten().map(Box::new);
            return Ok(Some(fault));
        }
    }
    Ok(None)
}

pub fn faults() -> impl Iterator<Item = Text> {
    #[cfg(test)]
    const EXAMPLES: &[Text] = &[("src/reference/server/tests/examples.yaml", include_str!("../tests/examples.yaml"))];
    #[cfg(not(test))]
    const EXAMPLES: &[Text] = &[];
    FAULTS.iter().chain(EXAMPLES).copied()
}

/// A proof starts thousands of servers, so the parsed files are cached.
fn parsed(file: &'static str, text: &str) -> Result<Arc<Vec<DataFault>>, String> {
    static READ: Mutex<BTreeMap<&str, Arc<Vec<DataFault>>>> = Mutex::new(BTreeMap::new());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(faults) = read.get(file) {
        return Ok(Arc::clone(faults));
    }
    let faults = Arc::new(parse(text).map_err(|why| format!("{file}: {why}"))?);
    read.insert(file, Arc::clone(&faults));
    Ok(faults)
}

fn parse(text: &str) -> Result<Vec<DataFault>, String> {
    serde_saphyr::from_str(text).map_err(|why| why.to_string())
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(one) => Ok(vec![one]),
        many => serde_json::from_value(many).map_err(de::Error::custom),
    }
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
            since: self.since,
            until: self.until,
            transports: self.transports(),
            proposal: self.proposal.clone(),
            protected: self.protected,
            also: self.also.clone(),
            suites: &[],
            stops: None,
            without_facts: self.without_facts,
        }
    }

    fn transports(&self) -> Vec<Transport> {
        let http = self.on.iter().any(|on| on == "http") || !self.ignore_headers.is_empty();
        let all = if self.protected {
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
        let roots = |text: &&String| !text.starts_with("/request") && !text.starts_with("/response");
        if let Some(path) = self.when.keys().find(roots) {
            return Some(format!("`when: {path}` is neither under /request nor under /response"));
        }
        if self.when.keys().any(|path| !pointer(path)) {
            return Some("a path of `when` is no JSON Pointer".to_owned());
        }
        if self.since.zip(self.until).is_some_and(|(since, until)| since > until) {
            return Some("no revision lies between `since` and `until`".to_owned());
        }
        if self.on.is_empty() {
            return Some("`on` names nothing".to_owned());
        }
        let http = self.unheard || self.hangs_up || !self.ignore_headers.is_empty() || !self.answer_headers.is_empty();
        let odd = self.lower_case_only
            || self.event_name.is_some()
            || self.misroutes.is_some()
            || self.session_id.is_some()
            || self.one_client
            || self.listens_everywhere
            || self.unguarded
            || self.keeps_waiting
            || self.speaks.is_some()
            || self.opening.is_some();
        let acts = http || odd || self.mishear.is_some() || self.asks.is_some() || self.changes_answer();
        (!acts).then(|| "it changes nothing".to_owned())
    }

    fn changes_answer(&self) -> bool {
        self.patch.is_some()
            || self.instead.is_some()
            || self.raw.is_some()
            || self.before.is_some()
            || self.after.is_some()
            || self.twice
            || self.drop
            || self.status.is_some()
    }

    pub fn hear(&mut self, scene: &Scene, message: &mut Value) {
        if let Some(other) = &mut self.other {
            other.hear(scene, message);
        }
        let Some(mishear) = self.mishear.clone() else { return };
        let named = scene.method().is_some_and(|method| self.on.iter().any(|on| on == method || on == "*"));
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
        if !self.changes_answer() || !self.concerns(scene, &message) || !self.shows(scene, Some(&message)) {
            return match &mut self.other {
                Some(other) => other.say(scene, message),
                None => vec![Spoken::plain(&message)],
            };
        }
        self.distort(message, scene.revision)
    }

    fn ask(&mut self, scene: &Scene, request: &mut Value, patch: &Patch) {
        let named = request.get("method").is_some_and(|method| self.on.iter().any(|on| method == on));
        if named && self.shows(scene, Some(request)) {
            apply(request, patch);
        }
    }

    fn distort(&self, mut message: Value, revision: Revision) -> Vec<Spoken> {
        if self.drop {
            return Vec::new();
        }
        let id = message.get("id").cloned().unwrap_or_default();
        if let Some(operations) = &self.patch {
            apply(&mut message, operations);
        }
        if let Some(instead) = &self.instead {
            message = with_id(instead, &id);
            message::name_server(&mut message, revision);
        }
        let plain = message.to_string();
        let fill = |text: &String| text.replace("$message", &plain).replace("$id", &id.to_string());
        let line = self.raw.as_ref().map_or_else(|| plain.clone(), fill);
        let repeated = self.twice.then(|| line.clone());
        let lines = [self.before.as_ref().map(fill), Some(line), repeated, self.after.as_ref().map(fill)];
        let spoken = |line: String| Spoken { bytes: line.into_bytes(), status: self.status };
        lines.into_iter().flatten().map(spoken).collect()
    }

    /// Whether the fault affects this HTTP exchange.
    pub(super) fn affects(&mut self, request: &Value, response: Option<&Value>) -> bool {
        self.on.iter().any(|on| on == "http") && self.fits(Some(request), response) && self.is_due()
    }

    /// Whether the message matches `on`.
    fn concerns(&self, scene: &Scene, message: &Value) -> bool {
        let answer = message.get("method").is_none();
        let method = message.get("method").and_then(Value::as_str).or(scene.method());
        self.on.iter().any(|on| match on.as_str() {
            "*" => answer,
            "error" => answer && message.get("error").is_some(),
            on => method == Some(on),
        })
    }

    fn shows(&mut self, scene: &Scene, response: Option<&Value>) -> bool {
        let revision = self.since.is_none_or(|since| since <= scene.revision)
            && self.until.is_none_or(|until| scene.revision <= until);
        let transport = self.transport.as_ref().is_none_or(|transports| transports.contains(&scene.transport));
        revision && transport && self.fits(scene.sent, response) && self.is_due()
    }

    fn is_due(&mut self) -> bool {
        let due = self.skip == 0;
        self.skip = self.skip.saturating_sub(1);
        due
    }

    pub(super) fn fits(&self, request: Option<&Value>, response: Option<&Value>) -> bool {
        if self.when.is_empty() {
            return true;
        }
        let exchange = json!({ "request": request, "response": response });
        self.when.iter().all(|(path, wanted)| {
            let found = exchange.pointer(path);
            match wanted.as_str() {
                Some("present") => found.is_some(),
                Some("absent") => found.is_none(),
                _ => {
                    found == Some(wanted)
                        || found.is_some_and(|one| wanted.as_array().is_some_and(|any| any.contains(one)))
                }
            }
        })
    }
}

/// Applies the whole patch, or nothing of it.
pub(super) fn apply(message: &mut Value, operations: &[PatchOperation]) {
    let mut changed = message.clone();
    if patch(&mut changed, operations).is_ok() {
        *message = changed;
    }
}

fn with_id(template: &Value, id: &Value) -> Value {
    match template {
        Value::String(text) if text == "$id" => id.clone(),
        Value::Array(items) => items.iter().map(|item| with_id(item, id)).collect(),
        Value::Object(members) => members.iter().map(|(name, member)| (name.clone(), with_id(member, id))).collect(),
        other => other.clone(),
    }
}
