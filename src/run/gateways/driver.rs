//! Performs the actions of a scenario through the gateway, as one client or several.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};

use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::{
    evidence::{Frame, Recorder},
    session::{CallOptions, Opener, Session, Unopened, Wish},
    suite::Scenario,
};

/// Maximum number of pages of a list.
const PAGES: usize = 20;
/// How long to wait at the end for actions in the background. A guess.
const LAST: Duration = Duration::from_secs(15);

/// How long to wait for the upstream to receive a call, and how often to look. A gateway may hold it back. Guesses.
const PASSED: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);

/// Beyond all ids that a session counts by itself.
const SHARED: u64 = 900_000;

/// What identifies a request.
#[derive(Clone)]
struct Names {
    token: u64,
    /// Instead of the next one.
    id: Option<Value>,
}

pub struct Driver<'a> {
    opener: Opener,
    wish: Wish,
    id: &'a str,
    recorder: Recorder,
    clients: BTreeMap<u64, Arc<Session>>,
    background: Vec<JoinHandle<()>>,
    tokens: u64,
    /// Clients besides the first that could not connect, and why.
    pub notes: Vec<String>,
}

impl<'a> Driver<'a> {
    /// Connects the first client.
    pub async fn open(opener: Opener, wish: Wish, id: &'a str) -> Result<Self, Unopened> {
        let recorder = opener.recorder.clone();
        let (clients, background, notes) = Default::default();
        let mut driver = Self { opener, wish, id, recorder, clients, background, tokens: 0, notes };
        driver.connect(1).await?;
        Ok(driver)
    }

    pub fn first(&self) -> Option<&Arc<Session>> {
        self.clients.get(&1)
    }

    async fn connect(&mut self, client: u64) -> Result<Arc<Session>, Unopened> {
        let session = self.opener.open(self.wish).await?;
        self.recorder.in_scenario(session.link(), self.id);
        if let Some(revision) = session.revision() {
            self.wish = Wish::Exactly(revision);
        }
        let session = Arc::new(session);
        self.clients.insert(client, Arc::clone(&session));
        Ok(session)
    }

    pub async fn perform(&mut self, scenario: &Scenario) {
        for action in &scenario.drive {
            self.action(action).await;
        }
    }

    async fn action(&mut self, action: &Value) {
        let ms = |name: &str| action[name].as_u64().map(Duration::from_millis);
        match action["do"].as_str() {
            Some("wait") => return sleep(ms("ms").unwrap_or_default()).await,
            Some("parallel") => {
                let mut all = Vec::new();
                // Clients know nothing of each other, so their ids and tokens may be the same.
                self.tokens += 1;
                let mut names = Names { token: self.tokens, id: Some(json!(SHARED + self.tokens)) };
                let mut clients = HashSet::new();
                for one in action["actions"].as_array().into_iter().flatten() {
                    let Some(session) = self.session(one).await else { continue };
                    if !clients.insert(number(one)) {
                        self.tokens += 1;
                        names = Names { token: self.tokens, id: None };
                    }
                    all.push((session, one.clone(), names.clone()));
                }
                let (this, seen) = (&*self, self.recorder.frames_so_far());
                let each = all.into_iter().enumerate().map(|(earlier, (session, one, names))| async move {
                    if action["staggered"] == true {
                        this.calls_passed(seen, earlier).await;
                    }
                    once(session, one, names).await;
                });
                join_all(each).await;
                return;
            }
            Some("close") => {
                // Like a client that is killed: nothing more is sent.
                self.clients.remove(&number(action));
                for task in self.background.drain(..) {
                    task.abort();
                    let _ = task.await;
                }
                return;
            }
            _ => {}
        }
        let Some(session) = self.session(action).await else { return };
        self.tokens += 1;
        let work = once(session, action.clone(), Names { token: self.tokens, id: None });
        if action["background"] == true {
            self.background.push(tokio::spawn(work));
        } else {
            work.await;
        }
    }

    /// Waits until the upstream has received that many calls after this frame.
    async fn calls_passed(&self, seen: u64, calls: usize) {
        let fronts: Vec<u32> = self.clients.values().map(|session| session.link()).collect();
        let is_call = |frame: &Arc<Frame>| {
            let method = frame.message.as_ref().and_then(|message| message["method"].as_str());
            method == Some("tools/call") && !fronts.contains(&frame.link)
        };
        let passed = async {
            while self.recorder.since(seen).iter().filter(|frame| is_call(frame)).count() < calls {
                sleep(LOOK).await;
            }
        };
        // A call that never arrives is a finding of other rules.
        let _ = timeout(PASSED, passed).await;
    }

    async fn session(&mut self, action: &Value) -> Option<Arc<Session>> {
        let client = number(action);
        if let Some(session) = self.clients.get(&client) {
            return Some(Arc::clone(session));
        }
        match self.connect(client).await {
            Ok(session) => Some(session),
            Err(unopened) => {
                let why = unopened.error.in_short();
                self.notes.push(format!("client {client} of `{}` could not connect: {why}", self.id));
                None
            }
        }
    }

    /// Closes all clients, in order.
    pub async fn close(self) {
        for task in self.background {
            let aborted = task.abort_handle();
            if timeout(LAST, task).await.is_err() {
                aborted.abort();
            }
        }
        for (_, session) in self.clients {
            if let Some(session) = Arc::into_inner(session) {
                session.close().await;
            }
        }
    }
}

fn number(action: &Value) -> u64 {
    action["client"].as_u64().unwrap_or(1)
}

/// The capability that such an action requires.
fn needs(action: &str) -> Option<&'static str> {
    match action {
        "call" => Some("/tools"),
        "get" => Some("/prompts"),
        "read" => Some("/resources"),
        "subscribe" | "unsubscribe" => Some("/resources/subscribe"),
        "setLevel" => Some("/logging"),
        _ => None,
    }
}

/// One action of one client.
async fn once(session: Arc<Session>, action: Value, Names { token, id }: Names) {
    let name = action["do"].as_str().unwrap_or_default();
    let declared = |pointer: &str| {
        let found = session.hello["result"]["capabilities"].pointer(pointer);
        found.is_some_and(|found| *found != Value::Bool(false) && !found.is_null())
    };
    let modern = session.revision().is_some_and(crate::revision::Revision::is_modern);
    // Older revisions have no capability for it.
    let completions = match session.revision().map(crate::revision::Revision::features) {
        Some(features) if features.completions_capability => "/completions",
        _ => "/prompts",
    };
    if needs(name).is_some_and(|capability| !declared(capability)) {
        return;
    }
    let mut params = action["more"].as_object().cloned().unwrap_or_default();
    let copied: &[&str] = match name {
        "call" | "get" => &["name", "arguments"],
        "read" | "subscribe" | "unsubscribe" => &["uri"],
        "setLevel" => &["level"],
        "complete" => &["ref", "argument", "context"],
        _ => &[],
    };
    for field in copied {
        if let Some(value) = action.get(field) {
            params.insert((*field).to_owned(), value.clone());
        }
    }
    if let Some(bytes) = action["bytes"].as_u64().and_then(|bytes| usize::try_from(bytes).ok()) {
        let text: String = "0123456789abcdé\n".chars().cycle().take(bytes).collect();
        params.insert("arguments".into(), json!({ "text": text }));
    }
    let mut meta = action["meta"].as_object().cloned().unwrap_or_default();
    if action["progress"] == true {
        meta.insert("progressToken".into(), json!(format!("front-{token}")));
    }
    if !meta.is_empty() {
        params.insert("_meta".into(), meta.into());
    }
    let ms = |name: &str| action[name].as_u64().map(Duration::from_millis);
    // A list is requested page by page.
    let id = id.filter(|_| name != "list");
    let options = CallOptions { id, timeout: ms("timeout"), patience: ms("cancel_after"), ..CallOptions::default() };
    let call = |method: &str, params: Map<String, Value>| {
        let params = if params.is_empty() { None } else { Some(Value::Object(params)) };
        let (session, options, method) = (Arc::clone(&session), options.clone(), method.to_owned());
        async move { session.call("drive", &method, params, options).await }
    };
    match name {
        "call" => drop(call("tools/call", params).await),
        "get" => drop(call("prompts/get", params).await),
        "read" => drop(call("resources/read", params).await),
        "complete" if declared(completions) => {
            drop(call("completion/complete", params).await);
        }
        "subscribe" | "unsubscribe" | "setLevel" if modern => {}
        "subscribe" => drop(call("resources/subscribe", params).await),
        "unsubscribe" => drop(call("resources/unsubscribe", params).await),
        "setLevel" => drop(call("logging/setLevel", params).await),
        "ping" if !modern => drop(call("ping", params).await),
        "roots" if !modern => drop(session.notify("drive", "notifications/roots/list_changed", None).await),
        "list" => {
            let of = action["of"].as_str().unwrap_or_default();
            let (method, list) = match of {
                "templates" => ("resources/templates/list".to_owned(), "/resources".to_owned()),
                of => (format!("{of}/list"), format!("/{of}")),
            };
            if !declared(&list) {
                return;
            }
            let mut cursor = None;
            for _ in 0..PAGES {
                let mut params = params.clone();
                params.extend(cursor.take().map(|cursor| ("cursor".to_owned(), cursor)));
                let reply = call(&method, params).await;
                cursor = reply.result.as_ref().and_then(|result| result.get("nextCursor")).cloned();
                if cursor.is_none() {
                    return;
                }
            }
        }
        _ => {}
    }
}
