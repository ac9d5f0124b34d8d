//! A connection that is opened anew when the server has died, so that one fatal request costs only itself.

use std::sync::{
    Arc, Mutex as StdMutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::Value;
use tokio::{sync::Mutex, task::JoinHandle};

use super::{
    answers::ClientFace,
    era::{PATIENCE, Unopened, Wish, open, unreachable},
    talk::{CallOptions, Session},
};
use crate::{
    error::Error,
    evidence::{End, Recorder, Reply},
    revision::Revision,
    target::{Limits, Target},
    wire::Ending,
};

/// A server that dies more often than this is left alone.
const RESTARTS_AT_MOST: usize = 8;

/// A server that stops answering more often than this in one run is given up: each time costs several time limits.
const HANGS_AT_MOST: usize = 4;

/// Everything it takes to open a connection.
#[derive(Clone)]
pub struct Opener {
    pub target: Target,
    pub limits: Limits,
    pub recorder: Recorder,
    pub face: ClientFace,
    /// How often the server stopped answering, on all connections together.
    pub hangs: Arc<AtomicUsize>,
}

impl Opener {
    pub async fn open(&self, wish: Wish) -> Result<Session, Unopened> {
        if self.hangs.load(Ordering::Relaxed) > HANGS_AT_MOST {
            return Err(Error::Target {
                tried: self.target.name.clone(),
                came: format!("it stopped answering more than {HANGS_AT_MOST} times"),
                cure: "look at the first request that was not answered".into(),
            }
            .into());
        }
        open(&self.target, &self.limits, &self.recorder, &self.face, wish).await
    }
}

impl Opener {
    /// A connection without a handshake: what is asked of a server that lets nobody in.
    pub async fn knock(&self, revision: Revision) -> Result<Session, Unopened> {
        let connected = Session::connect(&self.target, &self.limits, &self.recorder, &self.face).await;
        let session = connected.map_err(unreachable)?;
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
    /// Connections for one request that are being closed.
    closing: StdMutex<Vec<JoinHandle<Ending>>>,
}

impl Conversation {
    pub fn new(opener: Opener, session: Session, revision: Revision) -> Self {
        Self {
            opener,
            revision,
            current: Mutex::new(Arc::new(session)),
            deaths: StdMutex::default(),
            closing: StdMutex::default(),
        }
    }

    /// A connection that is alive, unless the server cannot be brought back to life.
    pub async fn session(&self) -> Arc<Session> {
        let mut current = self.current.lock().await;
        if let Some(why) = current.closed() {
            self.opener.hangs.fetch_add(usize::from(current.hung()), Ordering::Relaxed);
            let restarts = self.deaths().len();
            if restarts < RESTARTS_AT_MOST
                && let Ok(fresh) = self.opener.open(Wish::Exactly(self.revision)).await
            {
                *current = Arc::new(fresh);
                self.deaths.lock().unwrap_or_else(PoisonError::into_inner).push(why);
            }
        }
        Arc::clone(&current)
    }

    /// One request as the first thing on a connection of its own, which is closed when the answer is there.
    pub async fn alone(&self, by: &str, method: &str, params: Option<Value>, options: CallOptions) -> Reply {
        let Opener { target, limits, recorder, face, .. } = &self.opener;
        let session = match Session::connect(target, limits, recorder, face).await {
            Ok(session) => session,
            Err(error) => return Reply { why: Some(error.came), ..Reply::ended(End::Closed) },
        };
        recorder.brief(session.link());
        let handshake = method == "initialize";
        if self.revision.is_modern() && !handshake {
            session.settle(Some(self.revision), None);
        }
        // A process has to start first.
        let options = CallOptions { timeout: Some(limits.request * PATIENCE), ..options };
        let reply = session.call(by, method, params, options).await;
        let spoken = reply.result.as_ref().and_then(|result| result.get("protocolVersion")).and_then(Value::as_str);
        let spoken = spoken.and_then(|version| version.parse().ok()).filter(|_| handshake);
        if let Some(revision) = spoken.or_else(|| (!handshake).then_some(self.revision)) {
            let id = reply.http.as_ref().and_then(|http| http.headers.get("mcp-session-id")).cloned();
            session.settle(Some(revision), id.filter(|_| handshake));
            recorder.settle(session.link(), revision);
        }
        // A server that takes its time to end holds nothing up.
        let mut closing = self.closing.lock().unwrap_or_else(PoisonError::into_inner);
        closing.push(tokio::spawn(session.close()));
        reply
    }

    /// How the connections that had to be replaced had ended.
    pub fn deaths(&self) -> Vec<String> {
        self.deaths.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub async fn close(self) -> Ending {
        let ending = match Arc::into_inner(self.current.into_inner()) {
            Some(session) => session.close().await,
            // A step that was broken off still holds it; dropping it there ends the server.
            None => Ending::default(),
        };
        for closing in self.closing.into_inner().unwrap_or_else(PoisonError::into_inner) {
            let _ = closing.await;
        }
        ending
    }
}
