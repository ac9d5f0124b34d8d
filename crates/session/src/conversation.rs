//! A connection that is reopened after the server died, so that one fatal request affects only itself.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex as StdMutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Mutex, time::Instant};

use super::{
    answers::ClientProfile,
    delays::Delays,
    handshake::{PATIENCE, Unopened, Wish, open},
    negotiated::Session,
    unanswered::Unanswered,
};
use conform_model::{
    error::Error,
    evidence::{End, Recorder, Reply},
    revision::Revision,
};
use conform_wire::{
    Ending, OpenError,
    process::Ahead,
    target::{Limits, Target},
};

/// Maximum number of restarts in one suite, over all its connections, ...
const RESTARTS_AT_MOST: usize = 8;
/// ... and maximum number of hangs there: each hang costs two timeouts.
const HANGS_IN_A_SUITE: usize = 2;

/// A server that hangs more often than this in one run is given up: each hang costs two timeouts.
const HANGS_AT_MOST: usize = 8;

/// Handshake timeout of a server that has started before and hung twice, or more if starts are slow. 91 s were observed
/// for a server that stops responding over HTTP+SSE, which is eight handshakes of 10 s.
const RESTARTED: Duration = Duration::from_secs(1);

/// A start may take this many times as long as the slowest so far.
const MUCH_SLOWER: u32 = 5;

/// Everything needed to open a connection.
#[derive(Clone)]
pub struct Opener {
    pub target: Target,
    pub limits: Limits,
    pub recorder: Recorder,
    pub profile: ClientProfile,
    pub known: Arc<Known>,
}

/// What all connections of a run together have shown about the server.
#[derive(Default)]
pub struct Known {
    /// How often it hung.
    pub hangs: AtomicUsize,
    /// The restarts and hangs in each suite of each revision.
    losses: StdMutex<HashMap<(Revision, String), Losses>>,
    /// Whether it supports only one connection, for example because it locks its data.
    pub single: AtomicBool,
    /// The shortest and the longest handshake.
    starts: StdMutex<Option<[Duration; 2]>>,
    /// Handshakes without a response, before any that had one.
    silent_starts: AtomicUsize,
    /// Requests that caused no request to the client: they will cause none to a client with fewer
    /// less.
    without_client_requests: StdMutex<HashSet<String>>,
    pub unanswered: Unanswered,
    pub put_off: Delays,
    /// Processes for the next connections.
    pub ahead: Ahead,
}

#[derive(Clone, Copy, Default)]
struct Losses {
    restarts: usize,
    hangs: usize,
}

impl Known {
    /// The time limit for a start, based on the slowest so far.
    pub fn slow_start(&self) -> Duration {
        lock(&self.starts).map_or(Duration::ZERO, |[_, slowest]| slowest * MUCH_SLOWER)
    }

    /// The shortest handshake: longer ones may have shared the processors.
    pub fn quickest(&self) -> Duration {
        lock(&self.starts).map_or(Duration::MAX, |[quickest, _]| quickest)
    }

    /// A process that was started for one request, after others had started.
    pub(super) fn probe_started(&self, took: Duration) {
        if let Some([_, slowest]) = lock(&self.starts).as_mut() {
            *slowest = took.max(*slowest);
        }
    }

    /// The timeout of a request. If a start took longer, the machine is overloaded: at a load of 25, starts of 74 s and
    /// a first list of 12 s were observed.
    pub(super) fn request_limit(&self, request: Duration) -> Duration {
        let slowest = lock(&self.starts).map_or(Duration::ZERO, |[_, slowest]| slowest);
        request.max(slowest.min(request * PATIENCE))
    }

    fn started(&self, took: Duration) {
        let mut starts = lock(&self.starts);
        let [quickest, slowest] = starts.unwrap_or([took, took]);
        *starts = Some([quickest.min(took), slowest.max(took)]);
    }

    /// Records a request during which a client with all capabilities received none.
    pub fn note_no_client_request(&self, request: String) {
        lock(&self.without_client_requests).insert(request);
    }

    pub fn causes_no_client_request(&self, request: &str) -> bool {
        lock(&self.without_client_requests).contains(request)
    }

    /// Resets what these suites lost or left unanswered, because they are repeated.
    pub fn reset_for_repeat(&self, unanswered: usize, hangs: usize, suites: &[&str]) {
        self.unanswered.reset_counts(unanswered, suites);
        self.hangs.store(hangs, Ordering::Relaxed);
        lock(&self.losses).retain(|(_, suite), _| !suites.contains(&suite.as_str()));
    }

    pub fn silent_starts(&self) -> usize {
        self.silent_starts.load(Ordering::Relaxed)
    }

    /// How long a handshake is waited for: long for a server that is still being installed, unless others have started;
    /// less for one that stopped responding.
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
            if unopened.hello.as_ref().is_some_and(|hello| hello.end == End::Timeout) {
                self.known.silent_starts.fetch_add(1, Ordering::Relaxed);
            }
        })?;
        if !session.started_ahead {
            self.known.started(began.elapsed());
        }
        Ok(session)
    }

    /// Whether the server does not support concurrent connections.
    pub fn is_single(&self) -> bool {
        // Many HTTP+SSE servers support one connection at a time.
        self.target.start.capabilities().endpoint || self.known.single.load(Ordering::Relaxed)
    }

    /// A connection without a handshake, for a server that rejects all clients.
    pub async fn connect_without_handshake(&self, revision: Revision) -> Result<Session, Unopened> {
        let session = Session::connect(self).await.map_err(OpenError::of_target)?;
        session.settle(Some(revision), None);
        Ok(session)
    }
}

/// A connection that ended while it was used.
#[derive(Clone, Debug)]
pub struct EndedConnection {
    pub why: String,
    /// Its process exited.
    pub exited: bool,
}

pub struct Conversation {
    opener: Opener,
    revision: Revision,
    current: Mutex<Arc<Session>>,
    /// Why each earlier connection ended.
    ended_connections: StdMutex<Vec<EndedConnection>>,
    /// The current suite.
    suite: StdMutex<String>,
    /// The last connection whose end was counted.
    counted: AtomicU32,
}

impl Conversation {
    pub fn new(opener: Opener, session: Session, revision: Revision) -> Self {
        let current = Mutex::new(Arc::new(session));
        let (ended_connections, suite, counted) = (StdMutex::default(), StdMutex::default(), AtomicU32::default());
        Self { opener, revision, current, ended_connections, suite, counted }
    }

    /// Called when a suite begins.
    pub fn serve(&self, suite: &str) {
        suite.clone_into(&mut lock(&self.suite));
    }

    /// A live connection, unless the server cannot be restarted.
    pub async fn session(&self) -> Arc<Session> {
        let mut current = self.current.lock().await;
        // Otherwise the next request would be blamed for the effect of the last one.
        if current.has_unanswered_request() {
            current.responds().await;
        }
        if let Some(why) = current.closed()
            && self.may_restart(&current)
        {
            // Some servers do not support a second instance.
            current.kill().await;
            match self.opener.open(Wish::Exactly(self.revision)).await {
                Ok(fresh) => {
                    let exited = current.has_exited();
                    *current = Arc::new(fresh);
                    lock(&self.ended_connections).push(EndedConnection { why, exited });
                }
                // This counts, too; otherwise every suite would wait for the handshake.
                Err(_) => _ = self.opener.known.hangs.fetch_add(usize::from(current.hung()), Ordering::Relaxed),
            }
        }
        Arc::clone(&current)
    }

    /// Whether the suite may restart the server after this connection. Counts one restart.
    fn may_restart(&self, ended: &Session) -> bool {
        let Known { losses, hangs, .. } = &*self.opener.known;
        let mut losses = lock(losses);
        let losses = losses.entry((self.revision, lock(&self.suite).clone())).or_default();
        if self.counted.swap(ended.link(), Ordering::Relaxed) != ended.link() {
            let hung = usize::from(ended.hung());
            losses.hangs += hung;
            hangs.fetch_add(hung, Ordering::Relaxed);
        }
        let may = losses.restarts < RESTARTS_AT_MOST && losses.hangs < HANGS_IN_A_SUITE;
        losses.restarts += usize::from(may);
        may
    }

    /// Sends a request on a live connection, and repeats it in a new session if that one had expired.
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
        // The response is about the expired session, so it is not used.
        let Reply { http, frames, asked, ms, .. } = reply;
        let reply = Reply { http, frames, asked, ms, why: session.closed(), ..Reply::ended(End::Closed) };
        (session, reply)
    }

    /// Whether the connection has ended and was not reopened.
    pub async fn is_over(&self) -> bool {
        self.current.lock().await.closed().is_some()
    }

    /// How the replaced connections ended.
    pub fn ended_connections(&self) -> Vec<EndedConnection> {
        lock(&self.ended_connections).clone()
    }

    pub async fn close(self) -> Ending {
        match Arc::into_inner(self.current.into_inner()) {
            Some(session) => session.close().await,
            // A cancelled step still holds it; dropping it there ends the server.
            None => Ending::default(),
        }
    }
}

/// Also if a holder panicked: no critical section leaves partial changes.
pub fn lock<T>(shared: &StdMutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
