//! One connection to the server, reopened if a call has ended it.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::subject::Subject;
use conform_gather::param_headers;
use conform_model::{
    evidence::{End, Recorder, Reply, RunContext},
    revision::Revision,
};
use conform_session::{CallOptions, Opener, Session, Wish};

/// The sender in the record.
pub const BY: &str = "generated";
/// Maximum number of pages of one list.
const PAGES: usize = 50;
/// Maximum number of server starts in one run, because starting a server is expensive.
const STARTS: usize = 60;
/// Timeout of a harmless request: the slowest response observed on a loaded machine took half of it.
const HARMLESS: Duration = Duration::from_secs(3);

/// A request that is cancelled immediately is cancelled after this time: as soon as it is sent, because many servers respond
/// within a millisecond.
const AT_ONCE: Duration = Duration::ZERO;

pub struct Caller {
    opener: Opener,
    revision: Revision,
    session: Option<Session>,
    /// How often the connection was opened.
    pub starts: usize,
    /// Why the connection cannot be reopened, if so.
    pub gone: Option<String>,
    pub limit: Duration,
}

impl Caller {
    pub fn new(opener: Opener, revision: Revision, session: Option<Session>) -> Self {
        let limit = opener.limits.request;
        Self { opener, revision, session, starts: 1, gone: None, limit }
    }

    /// Another connection to the same server.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self { starts: 0, ..Self::new(self.opener.clone(), self.revision, None) }
    }

    /// The record of the run.
    pub const fn recorder(&self) -> &Recorder {
        &self.opener.recorder
    }

    /// An empty record with the same limits.
    pub fn another_record(&self) -> Recorder {
        let limits = &self.opener.limits;
        Recorder::new(limits.memory_bytes, limits.disk_bytes, limits.record_messages)
    }

    async fn session(&mut self) -> Option<&Session> {
        let ended = self.session.as_ref().is_some_and(|session| session.closed().is_some());
        if ended && let Some(session) = self.session.take() {
            // Some servers do not support a second instance.
            session.kill().await;
            session.close().await;
        }
        if self.session.is_none() && self.gone.is_none() {
            if self.starts >= STARTS {
                self.gone = Some(format!("the server was started {STARTS} times"));
                return None;
            }
            self.starts += 1;
            // Discard what is known of earlier connections, such as how often they hung: hanging is what the calls test
            // for.
            let opener = Opener { known: Arc::default(), ..self.opener.clone() };
            match opener.open(Wish::Exactly(self.revision)).await {
                Ok(session) => self.session = Some(session),
                Err(unopened) => self.gone = Some(unopened.error.to_string()),
            }
        }
        self.session.as_ref()
    }

    /// Sends one request and returns the reply.
    pub async fn request(&mut self, method: &str, params: Value, headers: Vec<(String, String)>) -> Reply {
        let limit = self.limit;
        let Some(session) = self.session().await else { return Reply::ended(End::Closed) };
        let options = CallOptions { patience: Some(limit), headers, ..CallOptions::default() };
        let reply = session.call(BY, method, Some(params), options).await;
        if reply.end == End::Timeout && !self.responds().await {
            self.renew().await;
        }
        reply
    }

    /// Calls a subject; `None` if its arguments cannot be sent.
    pub async fn call(
        &mut self,
        context: &RunContext,
        subject: &Subject,
        arguments: &Value,
    ) -> Option<(String, Value, Reply)> {
        let (method, params) = subject.request(arguments)?;
        let headers = param_headers(context, &method, &params);
        let reply = self.request(&method, params.clone(), headers).await;
        Some((method, params, reply))
    }

    /// Calls a subject several times concurrently, half of the calls with a progress token. With `cancelled`, there is
    /// one more call at the end, which is cancelled immediately.
    pub async fn at_once(
        &mut self,
        context: &RunContext,
        subject: &Subject,
        all: &[Value],
        cancelled: bool,
        limit: Duration,
    ) -> Vec<Reply> {
        let Some(session) = self.session().await else { return Vec::new() };
        let dropped = all.first().filter(|_| cancelled).map(|arguments| (arguments, AT_ONCE));
        let calls = all.iter().map(|arguments| (arguments, limit)).chain(dropped).enumerate();
        let calls = calls.filter_map(|(nr, (arguments, patience))| {
            let (method, mut params) = subject.request(arguments)?;
            let headers = param_headers(context, &method, &params);
            if nr % 2 == 1 {
                params["_meta"] = json!({ "progressToken": format!("together-{nr}") });
            }
            let options = CallOptions { patience: Some(patience), headers, ..CallOptions::default() };
            Some(async move { session.call(BY, &method, Some(params), options).await })
        });
        join_all(calls).await
    }

    /// Whether the server still responds to a harmless request.
    pub async fn responds(&mut self) -> bool {
        let method = self.revision.required_request();
        let Some(session) = self.session.as_ref() else { return false };
        let options = CallOptions { timeout: Some(HARMLESS.min(self.limit)), ..CallOptions::default() };
        let reply = session.call(BY, method, None, options).await;
        matches!(reply.end, End::Result | End::Error)
    }

    /// How the connection ended, if it did.
    pub fn ended(&self) -> Option<String> {
        self.session.as_ref()?.closed()
    }

    pub fn is_process(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.transport().capabilities().process)
    }

    /// Closes the connection; the next call opens another one.
    pub async fn renew(&mut self) {
        if let Some(session) = self.session.take() {
            session.kill().await;
            session.close().await;
        }
    }

    pub async fn close(&mut self) {
        if let Some(session) = self.session.take() {
            session.close().await;
        }
    }

    /// All items of a list; `None` if the first page is no result.
    pub async fn list(&mut self, method: &str, field: &str) -> Option<Vec<Value>> {
        let (mut items, mut cursor) = (Vec::new(), Value::Null);
        for _ in 0..PAGES {
            let params = if cursor.is_string() { json!({ "cursor": cursor }) } else { json!({}) };
            let reply = self.request(method, params, Vec::new()).await;
            let Some(result) = reply.result.filter(|_| reply.end == End::Result) else {
                return cursor.is_string().then_some(items);
            };
            items.extend(result[field].as_array().into_iter().flatten().cloned());
            let next = result.get("nextCursor").cloned().unwrap_or_default();
            if !next.is_string() || next == cursor {
                break;
            }
            cursor = next;
        }
        Some(items)
    }
}
