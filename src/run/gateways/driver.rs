//! Performs the actions of a scenario through the gateway, as one client or several.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::listed::Listed;
use crate::{
    evidence::{End, Frame, LISTS, Recorder},
    revision::Revision,
    session::{CallOptions, Opener, Session, Unopened, Wish},
    suite::{Action, Do, Scenario},
};

/// Maximum number of pages of a list.
const PAGES: usize = 20;
/// How long to wait at the end for actions in the background. A guess.
const LAST: Duration = Duration::from_secs(15);

/// How long to wait for the upstream to receive a call, and how often to look. A gateway may hold it back. Guesses.
const PASSED: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);

/// How long to wait for a response after one did not arrive within the request timeout. The rules need 4 s.
const SHORT: Duration = Duration::from_secs(5);

/// Beyond all ids that a session counts by itself.
const SHARED: u64 = 900_000;

/// What identifies a request.
#[derive(Clone)]
struct Names {
    token: u64,
    /// Instead of the next one.
    id: Option<Value>,
    listed: Listed,
    timed_out: Arc<AtomicBool>,
}

pub struct Driver<'a> {
    opener: Opener,
    wish: Wish,
    id: &'a str,
    recorder: Recorder,
    clients: BTreeMap<usize, Arc<Session>>,
    background: Vec<JoinHandle<()>>,
    tokens: u64,
    listed: Listed,
    /// Whether a request of this scenario timed out.
    timed_out: Arc<AtomicBool>,
    /// Clients besides the first that could not connect, and why.
    pub notes: Vec<String>,
}

impl<'a> Driver<'a> {
    /// Connects the first client.
    pub async fn open(opener: Opener, wish: Wish, id: &'a str, listed: Listed) -> Result<Self, Unopened> {
        let recorder = opener.recorder.clone();
        let (clients, background, timed_out, notes) = Default::default();
        let mut driver = Self { opener, wish, id, recorder, clients, background, tokens: 0, listed, timed_out, notes };
        driver.connect(1).await?;
        if driver.listed.is_empty() {
            for of in LISTS.iter().filter(|list| list.name == "name") {
                driver.action(&Do::List { of, pages: None, uri: None, prefix: None }.into()).await;
            }
        }
        Ok(driver)
    }

    pub fn first(&self) -> Option<&Arc<Session>> {
        self.clients.get(&1)
    }

    async fn connect(&mut self, client: usize) -> Result<Arc<Session>, Unopened> {
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

    async fn action(&mut self, action: &Action) {
        match &action.what {
            Do::Wait { ms } => return sleep(time(*ms)).await,
            Do::Parallel { staggered, actions } => return self.parallel(actions, *staggered == Some(true)).await,
            Do::Close => {
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
        let work = once(session, action.clone(), self.names(action.how.id.clone()));
        if action.how.background == Some(true) {
            self.background.push(tokio::spawn(work));
        } else {
            work.await;
        }
    }

    fn names(&self, id: Option<Value>) -> Names {
        Names { token: self.tokens, id, listed: self.listed.clone(), timed_out: Arc::clone(&self.timed_out) }
    }

    async fn parallel(&mut self, actions: &[Action], staggered: bool) {
        let mut all = Vec::new();
        // Clients know nothing of each other, so their ids and tokens may be the same.
        self.tokens += 1;
        let mut names = self.names(Some(json!(SHARED + self.tokens)));
        let mut clients = HashSet::new();
        for one in actions {
            let Some(session) = self.session(one).await else { continue };
            if !clients.insert(number(one)) {
                self.tokens += 1;
                names = self.names(None);
            }
            all.push((session, one.clone(), names.clone()));
        }
        let (this, seen) = (&*self, self.recorder.frames_so_far());
        let each = all.into_iter().enumerate().map(|(earlier, (session, one, names))| async move {
            if staggered {
                this.calls_passed(seen, earlier).await;
            }
            once(session, one, names).await;
        });
        join_all(each).await;
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

    async fn session(&mut self, action: &Action) -> Option<Arc<Session>> {
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

fn number(action: &Action) -> usize {
    action.how.client.unwrap_or(1)
}

const fn time(ms: usize) -> Duration {
    Duration::from_millis(ms as u64)
}

/// One action of one client, if the revision has its request and the server declares the capability.
async fn once(session: Arc<Session>, Action { what, how }: Action, Names { token, id, listed, timed_out }: Names) {
    let declared = |capability: &str| {
        let result = session.hello.as_ref().and_then(|hello| hello.result.as_ref());
        let found = result.and_then(|result| result["capabilities"].pointer(&format!("/{capability}")));
        found.is_some_and(|found| *found != Value::Bool(false) && !found.is_null())
    };
    let modern = session.revision().is_some_and(Revision::is_modern);
    let (method, capability) = match &what {
        Do::Call { .. } => ("tools/call", Some("tools")),
        Do::Get { .. } => ("prompts/get", Some("prompts")),
        Do::Read { .. } => ("resources/read", Some("resources")),
        Do::Complete { .. } => match session.revision().map(Revision::features) {
            Some(features) if features.completions_capability => ("completion/complete", Some("completions")),
            // Older revisions have no capability for it.
            _ => ("completion/complete", Some("prompts")),
        },
        Do::Subscribe { .. } if !modern => ("resources/subscribe", Some("resources/subscribe")),
        Do::Unsubscribe { .. } if !modern => ("resources/unsubscribe", Some("resources/subscribe")),
        Do::SetLevel { .. } if !modern => ("logging/setLevel", Some("logging")),
        Do::Ping if !modern => ("ping", None),
        Do::List { of, .. } => (of.method, Some(of.capability)),
        Do::Roots { .. } if !modern => {
            let params = how.meta.map(|meta| json!({ "_meta": meta }));
            return drop(session.notify("drive", "notifications/roots/list_changed", params).await);
        }
        _ => return,
    };
    if capability.is_some_and(|capability| !declared(capability)) {
        return;
    }
    let mut params = how.more.unwrap_or_default();
    // The arguments of an action have the names of the params of its request.
    if let Value::Object(own) = json!(what) {
        params.extend(own.into_iter().filter(|(name, _)| !["do", "of", "bytes"].contains(&name.as_str())));
    }
    for (list, place) in [("tools", "/name"), ("prompts", "/name"), ("prompts", "/ref/name")] {
        let fits =
            matches!((&what, list), (Do::Call { .. }, "tools") | (Do::Get { .. } | Do::Complete { .. }, "prompts"));
        let mut given = Value::Object(params);
        if let Some(name) = given.pointer_mut(place).filter(|_| fits) {
            *name = json!(listed.name(list, name.as_str().unwrap_or_default()));
        }
        params = given.as_object().cloned().unwrap_or_default();
    }
    if let Do::Call { bytes: Some(bytes), .. } = what {
        let text: String = "0123456789abcdé\n".chars().cycle().take(bytes).collect();
        params.insert("arguments".into(), json!({ "text": text }));
    }
    let mut meta = how.meta.unwrap_or_default();
    if how.progress == Some(true) {
        meta.insert("progressToken".into(), progress_token(token));
    }
    if !meta.is_empty() {
        params.insert("_meta".into(), meta.into());
    }
    // A list is requested page by page.
    let (pages, id) = if matches!(what, Do::List { .. }) { (PAGES, None) } else { (1, id) };
    let timeout = if timed_out.load(Relaxed) {
        Some(how.timeout.map_or(SHORT, |own| time(own).min(SHORT)))
    } else {
        how.timeout.map(time)
    };
    let patience = how.cancel_after.map(time);
    let options = CallOptions { id, timeout, patience, ..CallOptions::default() };
    for _ in 0..pages {
        let given = (!params.is_empty()).then(|| Value::Object(params.clone()));
        let reply = session.converse("drive", method, given, options.clone(), how.respond).await;
        if reply.end == End::Timeout && patience.is_none() {
            timed_out.store(true, Relaxed);
        }
        if let (Do::List { of, .. }, Some(result)) = (&what, &reply.result) {
            listed.learn(of, result);
        }
        let cursor = reply.result.as_ref().and_then(|result| result.get("nextCursor"));
        let Some(cursor) = cursor else { return };
        params.insert("cursor".to_owned(), cursor.clone());
    }
}

/// Tokens that programs often confuse: texts of digits, numbers, the largest exact integer.
fn progress_token(number: u64) -> Value {
    match number % 4 {
        0 => json!(number),
        1 => json!(format!("front.{number}/é")),
        2 => json!(9_007_199_254_740_991 - number),
        _ => json!(number.to_string()),
    }
}
