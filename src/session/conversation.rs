//! A connection that is opened anew when the server has died, so that one fatal request costs only itself.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex as StdMutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::{sync::Mutex, time::Instant};

use super::{
    answers::ClientProfile,
    delays::Delays,
    handshake::{PATIENCE, Unopened, Wish, open, unreachable},
    negotiated::Session,
    unanswered::Unanswered,
};
use crate::{
    error::Error,
    evidence::{End, Recorder, Reply},
    revision::Revision,
    target::{Limits, Start, Target},
    wire::Ending,
};

/// How often the server is started again in one suite, whatever connections it has, ...
const RESTARTS_AT_MOST: usize = 8;
/// ... and how often it may stop answering there: what it hangs at costs it and us two time limits.
const HANGS_IN_A_SUITE: usize = 2;

/// A server that stops answering more often than this in one run is given up: each time costs two time limits.
const HANGS_AT_MOST: usize = 8;

/// A server that has started before and stopped answering twice gets this long for its handshake, or longer if starts are slow:
/// 91 s were observed where a server stays silent over HTTP+SSE, which is eight handshakes of 10 s.
const RESTARTED: Duration = Duration::from_secs(1);

/// A start may take this many times as long as the slowest so far.
const MUCH_SLOWER: u32 = 5;

/// Everything it takes to open a connection.
#[derive(Clone)]
pub struct Opener {
    pub target: Target,
    pub limits: Limits,
    pub recorder: Recorder,
    pub profile: ClientProfile,
    pub known: Arc<Known>,
}

/// What the connections of a run have shown of the server, all together.
#[derive(Default)]
pub struct Known {
    /// How often it stopped answering.
    pub hangs: AtomicUsize,
    /// How often it was started again, and stopped answering, by suite.
    losses: StdMutex<HashMap<String, Losses>>,
    /// Whether it bears one connection alone, say because it locks what it works on.
    pub single: AtomicBool,
    /// How long handshakes took: the quickest one, and the slowest.
    starts: StdMutex<Option<[Duration; 2]>>,
    /// Handshakes without a response, before any that had one.
    silent_starts: AtomicUsize,
    /// Requests that were answered without asking the client for anything: they will ask nothing of one that can do less.
    pub unasking: StdMutex<HashSet<String>>,
    pub unanswered: Unanswered,
    pub put_off: Delays,
}

#[derive(Clone, Copy, Default)]
struct Losses {
    restarts: usize,
    hangs: usize,
}

impl Known {
    /// How long a start may take, by the slowest so far.
    pub fn slow_start(&self) -> Duration {
        lock(&self.starts).map_or(Duration::ZERO, |[_, slowest]| slowest * MUCH_SLOWER)
    }

    /// The shortest one: others may have had to share the processors.
    pub fn quickest(&self) -> Duration {
        lock(&self.starts).map_or(Duration::MAX, |[quickest, _]| quickest)
    }

    /// A process that was started for one request, after others had started.
    pub(super) fn probe_started(&self, took: Duration) {
        if let Some([_, slowest]) = lock(&self.starts).as_mut() {
            *slowest = took.max(*slowest);
        }
    }

    /// How long a request is waited for. Where a start took longer than that, the machine is overloaded (on one with a load of
    /// 25, starts took 74 s and a first list 12 s).
    pub(super) fn request_limit(&self, request: Duration) -> Duration {
        let slowest = lock(&self.starts).map_or(Duration::ZERO, |[_, slowest]| slowest);
        request.max(slowest.min(request * PATIENCE))
    }

    fn started(&self, took: Duration) {
        let mut starts = lock(&self.starts);
        let [quickest, slowest] = starts.unwrap_or([took, took]);
        *starts = Some([quickest.min(took), slowest.max(took)]);
    }

    /// What was lost or left unanswered in these suites does not count: they are asked again.
    pub fn asks_again(&self, unanswered: usize, hangs: usize, suites: &[&str]) {
        self.unanswered.count_again_from(unanswered, suites);
        self.hangs.store(hangs, Ordering::Relaxed);
        lock(&self.losses).retain(|suite, _| !suites.contains(&suite.as_str()));
    }

    pub fn silent_starts(&self) -> usize {
        self.silent_starts.load(Ordering::Relaxed)
    }

    /// How long a handshake is waited for: long for a server that is still being installed, unless others have started; less
    /// for one that stopped answering.
    pub(super) fn start_limit(&self, request: Duration) -> Duration {
        if lock(&self.starts).is_none() {
            // What needs longer than this to start had that time in the first attempt.
            return if self.silent_starts() == 0 { request * PATIENCE } else { request };
        }
        let request = match self.hangs.load(Ordering::Relaxed) {
            0 => request,
            1 => request / 2,
            _ => request.min(RESTARTED),
        };
        request.max(self.slow_start())
    }
}

impl Opener {
    pub async fn open(&self, wish: Wish) -> Result<Session, Unopened> {
        if self.known.hangs.load(Ordering::Relaxed) > HANGS_AT_MOST {
            return Err(Error::Target {
                tried: self.target.name.clone(),
                came: format!("it stopped responding more than {HANGS_AT_MOST} times"),
                help: "check the first request without a response".into(),
                refused: false,
            }
            .into());
        }
        let began = Instant::now();
        let session = open(self, wish).await.inspect_err(|unopened| {
            if unopened.hello["end"] == json!(End::Timeout) {
                self.known.silent_starts.fetch_add(1, Ordering::Relaxed);
            }
        })?;
        self.known.started(began.elapsed());
        Ok(session)
    }

    /// Whether the server bears no connection beside another.
    pub fn is_single(&self) -> bool {
        // Many servers of HTTP+SSE bear one connection at a time.
        matches!(self.target.start, Start::Sse { .. }) || self.known.single.load(Ordering::Relaxed)
    }

    /// A connection without a handshake: what is asked of a server that lets nobody in.
    pub async fn knock(&self, revision: Revision) -> Result<Session, Unopened> {
        let session = Session::connect(self).await.map_err(unreachable)?;
        session.settle(Some(revision), None);
        Ok(session)
    }
}

pub struct Conversation {
    opener: Opener,
    revision: Revision,
    current: Mutex<Arc<Session>>,
    /// Why each earlier connection ended.
    deaths: StdMutex<Vec<String>>,
    /// The suite that it serves at present.
    suite: StdMutex<String>,
    /// The last connection whose end was counted.
    counted: AtomicU32,
}

impl Conversation {
    pub fn new(opener: Opener, session: Session, revision: Revision) -> Self {
        let current = Mutex::new(Arc::new(session));
        let (deaths, suite, counted) = (StdMutex::default(), StdMutex::default(), AtomicU32::default());
        Self { opener, revision, current, deaths, suite, counted }
    }

    /// Notes that a suite begins.
    pub fn serve(&self, suite: &str) {
        suite.clone_into(&mut lock(&self.suite));
    }

    /// A connection that is alive, unless the server cannot be brought back to life.
    pub async fn session(&self) -> Arc<Session> {
        let mut current = self.current.lock().await;
        // Or the next request would be blamed for what the last one has done.
        if current.is_mute() {
            current.is_well().await;
        }
        if let Some(why) = current.closed()
            && self.may_restart(&current)
        {
            // Some servers bear no second instance.
            current.put_down().await;
            match self.opener.open(Wish::Exactly(self.revision)).await {
                Ok(fresh) => {
                    *current = Arc::new(fresh);
                    lock(&self.deaths).push(why);
                }
                // This counts too, or every suite would wait for the handshake.
                Err(_) => _ = self.opener.known.hangs.fetch_add(usize::from(current.hung()), Ordering::Relaxed),
            }
        }
        Arc::clone(&current)
    }

    /// Whether the suite may start the server again after this connection, which counts as one more time.
    fn may_restart(&self, ended: &Session) -> bool {
        let Known { losses, hangs, .. } = &*self.opener.known;
        let mut losses = lock(losses);
        let losses = losses.entry(lock(&self.suite).clone()).or_default();
        if self.counted.swap(ended.link(), Ordering::Relaxed) != ended.link() {
            let hung = usize::from(ended.hung());
            losses.hangs += hung;
            hangs.fetch_add(hung, Ordering::Relaxed);
        }
        let may = losses.restarts < RESTARTS_AT_MOST && losses.hangs < HANGS_IN_A_SUITE;
        losses.restarts += usize::from(may);
        may
    }

    /// Asks on a connection that is alive, and once more in a new session where that one had ended.
    pub async fn ask(&self, request: impl AsyncFn(&Session) -> Reply) -> (Arc<Session>, Reply) {
        let session = self.session().await;
        let reply = request(&session).await;
        if !session.has_expired(&reply).await {
            return (session, reply);
        }
        let session = self.session().await;
        let reply = request(&session).await;
        if !session.has_expired(&reply).await {
            return (session, reply);
        }
        // Whatever was to be learnt from the response, this is none.
        let Reply { http, frames, asked, ms, .. } = reply;
        let reply = Reply { http, frames, asked, ms, why: session.closed(), ..Reply::ended(End::Closed) };
        (session, reply)
    }

    /// Whether the connection has ended and was not opened anew.
    pub async fn is_over(&self) -> bool {
        self.current.lock().await.closed().is_some()
    }

    /// How the connections that had to be replaced had ended.
    pub fn deaths(&self) -> Vec<String> {
        lock(&self.deaths).clone()
    }

    pub async fn close(self) -> Ending {
        match Arc::into_inner(self.current.into_inner()) {
            Some(session) => session.close().await,
            // A step that was broken off still holds it; dropping it there ends the server.
            None => Ending::default(),
        }
    }
}

/// Even where whoever held it has panicked: nothing under these locks is left half done.
pub fn lock<T>(shared: &StdMutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
