//! One negotiated connection with concurrent requests. Each ends in a `Reply`, whatever happens.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{sync::Notify, task::JoinSet, time::timeout};

use super::{
    answers::decoration,
    call_options::CallOptions,
    conversation::Opener,
    headers::protocol_headers,
    progress::LONG,
    pump::{close, pump},
    shared::Shared,
    unanswered::Wanted,
    wait::Waits,
};
use conform_model::{
    evidence::{End, PROBE, Reply, Transport},
    revision::Revision,
};
use conform_wire::{Ending, Envelope, HttpRequest, LoggedIn, OpenError, Wire};

/// The error codes for input that is not a request, and for input that is not JSON.
const INVALID_REQUEST: i64 = -32600;
const PARSE_ERROR: i64 = -32700;

/// Ending an HTTP session may take a server long, and is not worth waiting for. A guess.
const SESSION_DELETE_TIMEOUT: Duration = Duration::from_secs(2);

pub struct Session {
    pub(super) shared: Arc<Shared>,
    /// One task, which ends with the session: it owns the connection, and so the server process.
    pump: JoinSet<()>,
    /// Reply of `initialize` or `server/discover`.
    pub hello: Option<Reply>,
    /// Its process was started before the connection, so the handshake does not show how long a start takes.
    pub(super) started_ahead: bool,
}

impl Session {
    /// Connects without a handshake.
    pub(super) async fn connect(opener: &Opener) -> Result<Self, OpenError> {
        let Opener { target, limits, recorder, profile, known } = opener;
        let started = known.ahead.take(target, limits);
        let started_ahead = started.is_some();
        let (wire, inbox) = match started {
            Some(started) => Wire::over(started, target, limits, recorder),
            None => Wire::open(target, limits, recorder).await?,
        };
        let shared = Arc::new(Shared {
            wire,
            limits: limits.clone(),
            profile: profile.clone(),
            known: Arc::clone(known),
            state: Mutex::default(),
            arrived: Notify::new(),
        });
        let pump = JoinSet::from_iter([pump(Arc::clone(&shared), inbox)]);
        Ok(Self { shared, pump, hello: None, started_ahead })
    }

    pub(super) fn settle(&self, revision: Option<Revision>, session_id: Option<String>) {
        let mut state = self.shared.state();
        state.revision = revision;
        state.session_id = session_id;
    }

    pub fn revision(&self) -> Option<Revision> {
        self.shared.state().revision
    }

    pub fn link(&self) -> u32 {
        self.shared.wire.link()
    }

    pub fn transport(&self) -> Transport {
        self.shared.wire.transport()
    }

    /// Whether the connection is closed because the process exited.
    pub fn has_exited(&self) -> bool {
        self.shared.state().exit.is_some()
    }

    /// Why the connection is closed, if it is.
    pub fn closed(&self) -> Option<String> {
        self.shared.state().closed.clone()
    }

    /// Whether the last request got no response, nor did any other since.
    pub(super) fn has_unanswered_request(&self) -> bool {
        let state = self.shared.state();
        state.closed.is_none() && state.silent
    }

    /// Whether the server still responds to a harmless request. If not, the connection is given up.
    pub async fn responds(&self) -> bool {
        let modern = self.revision().is_some_and(Revision::is_modern);
        let method = self.revision().map_or("ping", Revision::required_request);
        let Shared { known, limits, .. } = &*self.shared;
        let request = known.request_limit(limits.request);
        let limit = if self.has_unanswered_request() { known.unanswered.limit_after_silence(request) } else { request };
        let options = CallOptions { timeout: Some(limit), ..CallOptions::default() };
        let reply = self.call(PROBE, method, None, options).await;
        let end = reply.end;
        if self.may_have_expired(&reply) {
            close(&self.shared, "the server ended the session");
            return false;
        }
        if end == End::Timeout {
            known.unanswered.missed_probe();
            self.shared.state().hung = true;
            let why = "the server stopped responding";
            // After many timeouts, a request gets so little time that a server which is about to exit seems to hang.
            // Observed: mcp-server-sqlite needs seconds to exit on a busy machine.
            self.shared.wire.gave_up(why, limits.request / 2);
            close(&self.shared, why);
        }
        // If it responded before and now returns an error, it treats the connection as one of an earlier revision.
        let answered = modern && self.hello.as_ref().is_some_and(|hello| hello.end == End::Result);
        end == End::Result || (end == End::Error && !answered)
    }

    /// Whether the session of the request may have expired, since the server may end it at any time.
    pub(super) fn may_have_expired(&self, reply: &Reply) -> bool {
        reply.http.as_ref().is_some_and(|http| http.status == 404) && self.shared.state().session_id.is_some()
    }

    /// Whether the session expired without a request to end it.
    pub(super) async fn has_expired(&self, reply: &Reply) -> bool {
        let dismissed = self.shared.state().dismissed;
        !dismissed && self.may_have_expired(reply) && !self.responds().await && self.closed().is_some()
    }

    /// Whether the connection was given up because the server hung.
    pub fn hung(&self) -> bool {
        self.shared.state().hung
    }

    /// Ends the process, if any, of a closed connection.
    pub async fn kill(&self) {
        self.shared.wire.kill().await;
    }

    /// The response with this id that arrived after its request was given up.
    pub(super) fn late_answer(&self, id: &Value) -> Option<Value> {
        self.shared.state().unclaimed.iter().find(|message| message.get("id") == Some(id)).cloned()
    }

    pub fn stderr_tail(&self) -> String {
        self.shared.wire.stderr_tail()
    }

    /// Sends one request, and returns its outcome.
    pub async fn call(&self, by: &str, method: &str, params: Option<Value>, options: CallOptions) -> Reply {
        let id = options.id.unwrap_or_else(|| self.next_id());
        let params = self.complete(method, params);
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        if let Some(params) = params {
            message["params"] = params;
        }
        options.deviation.change(&mut message);
        let subscription = method == "subscriptions/listen";
        let patient = options.patience.is_some();
        // In the modern revision over HTTP, only closing the stream cancels a request.
        let by_message =
            !self.transport().capabilities().stream_per_request || !self.revision().is_some_and(Revision::is_modern);
        let drops = patient && !by_message;
        let starting = options.starting;
        let token = message.pointer("/params/_meta/progressToken").filter(|_| options.patience >= Some(LONG)).cloned();
        let id_waited_for = Some(id.clone());
        let wanted = options.wanted;
        let waits =
            Waits { id: id_waited_for, subscription, patient, drops, starting, token, wanted, ..Waits::default() };
        let limit = options.patience.or(options.timeout);
        let send = |wire: &Wire, envelope: &Envelope| {
            let (unusual, without) = options.deviation.headers();
            let named = |name: &str| {
                unusual.iter().map(|(name, _)| name).chain(&without).any(|one| one.eq_ignore_ascii_case(name))
            };
            let usual = envelope.headers.iter().chain(&options.headers).filter(|(name, _)| !named(name));
            let headers = usual.chain(&unusual).cloned().collect();
            wire.send(&Envelope { headers, ..envelope.clone() }, &message)
        };
        let mut reply = self.exchange(waits, limit, send, by, &message).await;
        // A client must not cancel a handshake.
        if patient && reply.end == End::Timeout && by_message && method != "initialize" {
            let mut params = json!({ "requestId": id });
            if self.shared.profile.decorated {
                params["reason"] = json!(" No longer needed: Größe ");
                params["_meta"] = decoration();
            }
            let told = self.notify(by, "notifications/cancelled", Some(params)).await;
            reply.frames.extend(told.frames);
        }
        reply
    }

    /// Sends raw bytes. The reply is the response to `answer`, or an error without id.
    pub async fn send_raw(&self, by: &str, bytes: &[u8], answer: Option<Value>, pieces: usize) -> Reply {
        // Only the bytes deviate, so they get the usual headers.
        let message = serde_json::from_slice(bytes);
        let code = if message.is_ok() { INVALID_REQUEST } else { PARSE_ERROR };
        let notifications = bytes.split(|byte| *byte == b'\n').filter(|line| is_notification(line)).count();
        let waits = Waits { id: answer, unidentified: Some(code), notifications, ..Waits::default() };
        let message = message.unwrap_or(Value::Null);
        self.exchange(waits, None, |wire, envelope| wire.send_raw(envelope, bytes, pieces), by, &message).await
    }

    /// Sends a notification. Over HTTP, this waits for the end of its POST, so that the next request cannot overtake
    /// it.
    pub async fn notify(&self, by: &str, method: &str, params: Option<Value>) -> Reply {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if let Some(params) = params {
            message["params"] = params;
        }
        self.shared.state().note_notifications(1);
        if self.transport().capabilities().process {
            return self.post(by, &message);
        }
        let waits = Waits { whole_exchange: true, ..Waits::default() };
        self.exchange(waits, None, |wire, envelope| wire.send(envelope, &message), by, &message).await
    }

    /// Sends a whole HTTP request. The reply ends with the exchange. The exchange is closed after `patience` or,
    /// without that, when a GET opens an event stream.
    pub async fn http(
        &self,
        mut request: HttpRequest,
        body: &Value,
        patience: Option<Duration>,
        wanted: Option<Wanted>,
    ) -> Reply {
        let mut headers = self.envelope("", body).headers;
        headers.retain(|(name, _)| {
            let given = request.headers.iter().map(|(given, _)| given);
            !given.chain(&request.without).any(|other| other.eq_ignore_ascii_case(name))
        });
        headers.append(&mut request.headers);
        request.headers = headers;
        self.dismisses(&request);
        // A resumed stream has an end; others have none to wait for.
        let resumes = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("last-event-id"));
        let opens = request.method == "GET" && !resumes && patience.is_none();
        let (patient, by) = (patience.is_some(), request.by.clone());
        let waits = Waits { whole_exchange: true, opens, patient, drops: patient, wanted, ..Waits::default() };
        self.exchange(waits, patience, |wire, _| wire.http(&request), &by, body).await
    }

    /// Logs in at the URL of the request, as the user of this client.
    pub async fn login(&self, request: &HttpRequest, denies: bool) -> LoggedIn {
        self.shared.wire.login(request, denies).await
    }

    /// What is known of a received token or code, by its placeholder.
    pub fn described(&self, placeholder: &str) -> Option<Value> {
        self.shared.wire.described(placeholder)
    }

    /// Records whether a request ends the session of this connection.
    fn dismisses(&self, request: &HttpRequest) {
        let mut state = self.shared.state();
        let named = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
        let is_own = named.is_some_and(|(_, id)| state.session_id.as_ref() == Some(id));
        state.dismissed |= is_own && request.method == "DELETE";
    }

    /// Opens the stream on which a legacy server may send messages that belong to no request.
    pub fn listen(&self, by: &str) {
        // A server may reject it with 405; rules judge that.
        let _ = self.shared.wire.listen(&self.envelope(by, &Value::Null));
    }

    /// The first notification after frame `since` that `wanted` accepts, or `None` after the timeout.
    pub async fn arrival(&self, since: u64, within: Duration, wanted: impl Fn(&Value) -> bool) -> Option<(u64, Value)> {
        let found = async {
            loop {
                let arrived = self.shared.arrived.notified();
                {
                    let state = self.shared.state();
                    let mut later = state.notifications.iter().filter(|arrived| arrived.frame > since);
                    if let Some(arrived) = later.find(|arrived| wanted(&arrived.message)) {
                        return Some((arrived.frame, arrived.message.clone()));
                    }
                    if state.closed.is_some() {
                        return None;
                    }
                }
                arrived.await;
            }
        };
        timeout(within, found).await.ok().flatten()
    }

    /// Ends the session as its transport and revision require.
    pub async fn close(self) -> Ending {
        let session_id = self.shared.state().session_id.clone();
        if session_id.is_some() && self.closed().is_none() {
            let request = HttpRequest { by: "handshake".into(), method: "DELETE".into(), ..HttpRequest::default() };
            let _ = timeout(SESSION_DELETE_TIMEOUT, self.http(request, &Value::Null, None, None)).await;
        }
        let Self { shared, mut pump, .. } = self;
        // Afterwards, no other owner of the connection exists.
        pump.shutdown().await;
        close(&shared, "the client closed the connection");
        match Arc::into_inner(shared) {
            Some(shared) => shared.wire.close().await,
            None => Ending::default(),
        }
    }

    pub(super) fn next_id(&self) -> Value {
        let mut state = self.shared.state();
        state.next_id += 1;
        json!(state.next_id)
    }

    pub(super) fn envelope(&self, by: &str, message: &Value) -> Envelope {
        let state = self.shared.state();
        let headers = if self.transport().capabilities().stream_per_request {
            protocol_headers(state.revision, state.session_id.as_deref(), message)
        } else {
            Vec::new()
        };
        Envelope { by: by.into(), headers }
    }

    fn post(&self, by: &str, message: &Value) -> Reply {
        match self.shared.wire.send(&self.envelope(by, message), message) {
            Ok(posted) => Reply { frames: vec![posted.frame], ..Reply::ended(End::Answered) },
            Err(why) => Reply { why: Some(why), ..Reply::ended(End::Closed) },
        }
    }
}

fn is_notification(line: &[u8]) -> bool {
    serde_json::from_slice(line)
        .is_ok_and(|message: Value| message["method"].is_string() && message.get("id").is_none())
}
