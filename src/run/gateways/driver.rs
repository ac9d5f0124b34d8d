//! Performs the actions of a scenario through the gateway, as one client or several.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{
    listed::Listed,
    once::{Names, once, time},
};
use crate::{
    evidence::{Frame, LISTS, Recorder},
    session::{Opener, Session, Unopened, Wish},
    suite::{Action, Do, Scenario},
};

/// How long to wait at the end for actions in the background. A guess.
const LAST: Duration = Duration::from_secs(15);

/// How long to wait for the upstream to receive a call, and how often to look. A gateway may hold it back. Guesses.
const PASSED: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);

/// Beyond all ids that a session counts by itself.
const SHARED: u64 = 900_000;

/// The numbers of connections.
pub type Links = Arc<Mutex<Vec<u32>>>;

pub struct Driver<'a> {
    opener: Opener,
    wish: Wish,
    id: &'a str,
    recorder: Recorder,
    clients: BTreeMap<usize, Arc<Session>>,
    background: Vec<JoinHandle<()>>,
    tokens: u64,
    listed: Listed,
    /// The connections with the upstream.
    behind: Links,
    /// Whether a request of this scenario timed out.
    timed_out: Arc<AtomicBool>,
    /// Clients besides the first that could not connect, and why.
    pub notes: Vec<String>,
}

impl<'a> Driver<'a> {
    /// Connects the first client.
    pub async fn open(
        opener: Opener,
        wish: Wish,
        id: &'a str,
        listed: Listed,
        behind: Links,
    ) -> Result<Self, Unopened> {
        let recorder = opener.recorder.clone();
        let (clients, background, timed_out, notes) = Default::default();
        let mut driver =
            Self { opener, wish, id, recorder, clients, background, tokens: 0, listed, behind, timed_out, notes };
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
                for task in self.background.drain(..) {
                    task.abort();
                    let _ = task.await;
                }
                // It ends its session.
                if let Some(session) = self.clients.remove(&number(action)).and_then(Arc::into_inner) {
                    session.close().await;
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
        let is_behind = |link: &u32| self.behind.lock().unwrap_or_else(PoisonError::into_inner).contains(link);
        let is_call = |frame: &Arc<Frame>| {
            let method = frame.message.as_ref().and_then(|message| message["method"].as_str());
            method == Some("tools/call") && is_behind(&frame.link)
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
