//! A connection that is opened anew when the server has died, so that one fatal request costs only itself.

use std::sync::{
    Arc, Mutex as StdMutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::Mutex;

use super::{
    answers::ClientFace,
    era::{Unopened, Wish, open},
    talk::Session,
};
use crate::{
    error::Error,
    evidence::Recorder,
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

pub struct Conversation {
    opener: Opener,
    revision: Revision,
    current: Mutex<Arc<Session>>,
    /// Why each earlier connection ended.
    deaths: StdMutex<Vec<String>>,
}

impl Conversation {
    pub fn new(opener: Opener, session: Session, revision: Revision) -> Self {
        Self { opener, revision, current: Mutex::new(Arc::new(session)), deaths: StdMutex::default() }
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

    /// How the connections that had to be replaced had ended.
    pub fn deaths(&self) -> Vec<String> {
        self.deaths.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub async fn close(self) -> Ending {
        match Arc::into_inner(self.current.into_inner()) {
            Some(session) => session.close().await,
            // A step that was broken off still holds it; dropping it there ends the server.
            None => Ending::default(),
        }
    }
}
