//! Requests before any handshake, and handshakes that nothing follows.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{sync::OnceCell, task::JoinHandle};

use super::{
    call_options::CallOptions,
    complete::complete,
    conversation::{Conversation, Opener, lock},
    handshake::{Unopened, Wish},
    negotiated::Session,
};
use conform_model::{
    evidence::{End, PROBE, Reply},
    revision::Revision,
};
use conform_wire::Ending;

/// Timeout for the request after a handshake. A guess.
const FOLLOW_UP_TIMEOUT: Duration = Duration::from_secs(2);

/// Sends requests outside all sessions, on connections for one request.
pub struct OneShot {
    pub opener: Opener,
    revision: Revision,
    /// Other connections are open, and the server may not accept another one.
    crowded: bool,
    /// A process exited before its first message, perhaps because the server does not accept another one.
    pub lost: AtomicBool,
    /// Connections that are being closed.
    closing: Mutex<Vec<JoinHandle<Ending>>>,
    /// A process that has rejected a handshake, and can get another one.
    refused: Mutex<Option<Session>>,
    /// A second session, if the server accepts one.
    second: OnceCell<Option<Conversation>>,
}

impl OneShot {
    pub fn new(opener: Opener, revision: Revision, crowded: bool) -> Self {
        Self {
            opener,
            revision,
            crowded,
            lost: AtomicBool::default(),
            closing: Mutex::default(),
            refused: Mutex::default(),
            second: OnceCell::new(),
        }
    }

    /// A session used only to compare its responses with those of the first one.
    pub async fn second(&self) -> Option<&Conversation> {
        let open = async || match self.opener.open(Wish::Exactly(self.revision)).await {
            Ok(session) => Some(Conversation::new(self.opener.clone(), session, self.revision)),
            Err(unopened) => {
                self.opener.known.single.fetch_or(has_no_room(&unopened), Ordering::Relaxed);
                None
            }
        };
        self.second.get_or_init(open).await.as_ref()
    }

    /// Waits until all connections are closed.
    pub async fn close(self) {
        let unused = lock(&self.refused).take().map(|session| tokio::spawn(session.close()));
        let closing = std::mem::take(&mut *lock(&self.closing));
        if let Some(second) = self.second.into_inner().flatten() {
            second.close().await;
        }
        for closing in closing.into_iter().chain(unused) {
            let _ = closing.await;
        }
    }

    /// Sends one request as the first message on its own connection, which is closed after the response. A process that
    /// has rejected a handshake is reused for the next one, but earlier messages do not count against it. `then` is
    /// sent after a successful handshake, whether it gets a response or not.
    pub async fn alone(
        &self,
        by: &str,
        method: &str,
        params: Option<Value>,
        options: CallOptions,
        then: Option<&str>,
    ) -> Reply {
        let waiting = (method == "initialize").then(|| lock(&self.refused).take()).flatten();
        if let Some(session) = waiting {
            let reply = self.first(&session, by, method, params.clone(), options.clone()).await;
            behind(&session, then, &reply).await;
            self.leave(session, method, &reply);
            if reply.end == End::Result {
                return reply;
            }
        }
        let session = match Session::connect(&self.opener).await {
            Ok(session) => session,
            Err(error) => return Reply { why: Some(error.came), ..Reply::ended(End::Closed) },
        };
        self.opener.recorder.brief(session.link());
        let reply = self.first(&session, by, method, params, options).await;
        behind(&session, then, &reply).await;
        self.leave(session, method, &reply);
        reply
    }

    /// Sends a request before any handshake, or the handshake.
    async fn first(
        &self,
        session: &Session,
        by: &str,
        method: &str,
        params: Option<Value>,
        options: CallOptions,
    ) -> Reply {
        let Opener { recorder, known, .. } = &self.opener;
        let handshake = method == "initialize";
        if self.revision.is_modern() && !handshake {
            session.settle(Some(self.revision), None);
        }
        // The handshake must use the revision of the run, which is not negotiated yet.
        let params =
            if handshake { complete(&self.opener.profile, Some(self.revision), method, params) } else { params };
        let options = CallOptions { starting: true, ..options };
        let reply = session.call(by, method, params, options).await;
        if self.crowded && reply.end == End::Closed {
            self.lost.store(true, Ordering::Relaxed);
            return reply;
        }
        let put_off = reply.http.as_ref().is_some_and(|http| matches!(http.status, 429 | 503));
        known.single.fetch_or(handshake && put_off, Ordering::Relaxed);
        let spoken = reply.result.as_ref().and_then(|result| result.get("protocolVersion")).and_then(Value::as_str);
        let spoken = spoken.and_then(|version| version.parse().ok()).filter(|_| handshake);
        if let Some(revision) = spoken.or_else(|| (!handshake).then_some(self.revision)) {
            let id = reply.http.as_ref().and_then(|http| http.headers.get("mcp-session-id")).cloned();
            session.settle(Some(revision), id.filter(|_| handshake));
            recorder.settle(session.link(), revision);
        }
        reply
    }

    /// Closes a connection for one request, unless it may be reused for a handshake.
    fn leave(&self, session: Session, method: &str, reply: &Reply) {
        let refused = method == "initialize" && reply.end == End::Error;
        let bears_more = session.transport().capabilities().process && !self.revision.is_modern();
        // A revision that was negotiated by another request must not change.
        let given_up = if refused && bears_more { lock(&self.refused).replace(session) } else { Some(session) };
        // A server that exits slowly delays nothing.
        lock(&self.closing).extend(given_up.map(|session| tokio::spawn(session.close())));
    }
}

/// Whether a concurrent connection was rejected repeatedly or timed out: each further attempt would cost that time.
fn has_no_room(unopened: &Unopened) -> bool {
    let full = |hello: &Reply| hello.end == End::Timeout || matches!(hello.status(), Some(429 | 503));
    unopened.hello.as_ref().is_some_and(full)
}

/// Sends `then`. A missing response does not count against the server: the suite judges that.
async fn behind(session: &Session, then: Option<&str>, reply: &Reply) {
    let agreed = reply.end == End::Result && session.transport().capabilities().process;
    if let Some(method) = then.filter(|_| agreed) {
        let id = Some(json!(format!("mcp-conform-then-{method}")));
        let options = CallOptions { id, patience: Some(FOLLOW_UP_TIMEOUT), ..CallOptions::default() };
        session.call(PROBE, method, None, options).await;
    }
}
