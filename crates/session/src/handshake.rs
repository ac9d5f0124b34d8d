//! Determines the revision of a server, and opens a session in it.
//!
//! The modern probe is sent first. A legacy server may respond with any error, not at all, or by exiting. Only a
//! `DiscoverResult`, or an error code that no legacy revision defines, shows a modern server.

use std::{future::pending, pin::pin, sync::Arc, time::Duration};

use futures_util::future::{Either, select};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    answers::ClientProfile,
    call_options::CallOptions,
    conversation::Opener,
    help::{explain_held_back, requires_authorization, with_discovery},
    negotiated::Session,
};
use conform_model::{
    error::Error,
    evidence::{End, Frame, FrameKind, PROBE, Reply, Side},
    revision::Revision,
};
use conform_wire::OpenError;

/// How long to wait for a response to the modern probe after the server has read it. It may be short: a server whose
/// start could not be detected responds to `initialize` after the probe, and then both responses count. A guess.
const PROBE_TIMEOUT: Duration = Duration::from_millis(1500);

/// The request timeout is multiplied by this for a server that may still be installing or starting.
pub const PATIENCE: u32 = 3;

/// Differs from every later id, so that a late response is recognized.
const PROBE_ID: &str = "discover";

/// Delays in milliseconds while no server accepts connections.
const START_PAUSES: &[u64] = &[200, 400, 800, 1600];

/// Error codes that only a modern server sends.
const MODERN_CODES: [i64; 3] = [-32020, -32021, -32022];

/// The revision in which to open the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    Newest,
    Exactly(Revision),
}

/// A session that could not be opened: the error, and the last reply, if any.
#[derive(Debug)]
pub struct Unopened {
    pub error: Error,
    pub hello: Option<Reply>,
    /// The server sent nothing before its stdin was closed, and then what it had not flushed, or not read yet.
    pub held_back: bool,
}

impl From<Error> for Unopened {
    fn from(error: Error) -> Self {
        Self { error, hello: None, held_back: false }
    }
}

/// Opens a session and negotiates its revision. For the first one, an HTTP server gets some time to start.
pub async fn open(opener: &Opener, wish: Wish) -> Result<Session, Unopened> {
    let pauses = if opener.recorder.frames_so_far() == 0 { START_PAUSES } else { &[] };
    for pause in pauses {
        match settled(opener, wish).await {
            Err(Unopened { error: Error::Target { refused: true, .. }, .. }) => {}
            opened => return opened,
        }
        sleep(Duration::from_millis(*pause)).await;
    }
    settled(opener, wish).await
}

async fn settled(opener: &Opener, wish: Wish) -> Result<Session, Unopened> {
    let mut session = opener.connect().await?;
    let settled = match wish {
        Wish::Newest => opener.newest(&mut session).await,
        Wish::Exactly(revision) if revision.is_modern() => {
            let within = opener.known.start_limit(opener.limits.request);
            match opener.discover(&mut session, revision, within, "handshake").await {
                Discovered::Modern => Ok(()),
                Discovered::Legacy(reply) if opener.speaks(&mut session, revision, &reply).await => Ok(()),
                Discovered::Legacy(reply) => Err(opener.not_spoken(revision, &reply, &session)),
            }
        }
        Wish::Exactly(revision) => opener.initialize(&mut session, revision, true).await,
    };
    match settled {
        Ok(()) => {
            if let Some(revision) = session.revision() {
                opener.recorder.settle(session.link(), revision);
            }
            Ok(session)
        }
        Err(error) => {
            let hello = session.hello.take();
            let was_silent = opener.is_silent();
            let timed_out = hello.as_ref().is_some_and(|hello| hello.end == End::Timeout);
            let may_hold_back = session.transport().capabilities().process && timed_out;
            if was_silent && !may_hold_back {
                // It is not an MCP server, or hangs: how it exits would show nothing.
                session.kill().await;
            }
            session.close().await;
            let held_back = was_silent && opener.has_sent_whole_messages();
            let error = if held_back { explain_held_back(error) } else { error };
            Err(Unopened { error, hello, held_back })
        }
    }
}

enum Discovered {
    Modern,
    Legacy(Box<Reply>),
}

impl Opener {
    async fn connect(&self) -> Result<Session, Error> {
        Session::connect(self).await.map_err(OpenError::of_target)
    }

    async fn restart(&self, session: &mut Session) -> Result<(), Error> {
        let fresh = self.connect().await?;
        std::mem::replace(session, fresh).close().await;
        Ok(())
    }

    async fn newest(&self, session: &mut Session) -> Result<(), Error> {
        if !session.transport().is_defined_in(Revision::NEWEST) {
            return self.initialize(session, Revision::NEWEST_LEGACY, false).await;
        }
        let Discovered::Legacy(reply) = self.discover(session, Revision::NEWEST, PROBE_TIMEOUT, PROBE).await else {
            return Ok(());
        };
        if session.closed().is_some() {
            // The probe made it exit, or it never started: a second start shows which.
            let first = self.explain(&reply, session);
            self.restart(session).await.map_err(|_| first)?;
        }
        let mut legacy = self.initialize(session, Revision::NEWEST_LEGACY, false).await;
        if legacy.is_err() && reply.end == End::Timeout && session.closed().is_some() {
            // It started slowly, and exited when it read the probe.
            self.restart(session).await?;
            legacy = self.initialize(session, Revision::NEWEST_LEGACY, false).await;
        }
        if reply.end == End::Timeout
            && session
                .late_answer(&json!(PROBE_ID))
                .is_some_and(|late| is_modern(late.get("result"), late.get("error")))
        {
            // It started slowly. It must not see the handshake that was sent meanwhile.
            self.restart(session).await?;
            let within = self.limits.request * PATIENCE;
            return match self.discover(session, Revision::NEWEST, within, "handshake").await {
                Discovered::Modern => Ok(()),
                // The late response showed that it supports the newest revision, so it would reject a handshake.
                Discovered::Legacy(reply) if reply.end == End::Timeout => Err(self.explain(&reply, session)),
                Discovered::Legacy(_) => self.initialize(session, Revision::NEWEST_LEGACY, false).await,
            };
        }
        if legacy.is_err() && session.closed().is_none() && self.speaks(session, Revision::NEWEST, &reply).await {
            return Ok(());
        }
        legacy.map_err(|error| with_discovery(error, &reply))
    }

    async fn discover(&self, session: &mut Session, revision: Revision, within: Duration, by: &str) -> Discovered {
        session.settle(Some(revision), None);
        let within = if session.transport().capabilities().process { within } else { self.limits.request };
        // The short timeout of the probe excludes the start of the process; other timeouts are long enough for it.
        let (id, starting) = (Some(json!(PROBE_ID)), by == PROBE);
        let options = CallOptions { timeout: Some(within), id, starting, ..CallOptions::default() };
        let reply = self.ask(session, by, "server/discover", None, options).await;
        session.hello = Some(reply.clone());
        if is_modern(reply.result.as_ref(), reply.error.as_ref()) {
            return Discovered::Modern;
        }
        session.settle(None, None);
        Discovered::Legacy(Box::new(reply))
    }

    /// A server without `server/discover`, or that does not list the revision there, may still support it. Only a
    /// modern result shows that.
    async fn speaks(&self, session: &mut Session, revision: Revision, refusal: &Reply) -> bool {
        if !matches!(refusal.end, End::Error | End::Result) || requires_authorization(refusal) {
            return false;
        }
        session.settle(Some(revision), None);
        for method in ["resources/list", "tools/list", "prompts/list"] {
            let reply = session.call(PROBE, method, None, CallOptions::default()).await;
            if reply.result.is_some_and(|result| result.get("resultType").is_some()) {
                session.hello = Some(refusal.clone());
                return true;
            }
        }
        session.settle(None, None);
        false
    }

    /// The handshake of legacy revisions. `exactly` rejects any revision other than the requested one.
    async fn initialize(&self, session: &mut Session, revision: Revision, exactly: bool) -> Result<(), Error> {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": self.profile.capabilities(revision),
            "clientInfo": ClientProfile::info(),
        });
        let within = self.known.start_limit(self.limits.request);
        let options = CallOptions { timeout: Some(within), ..CallOptions::default() };
        let reply = self.ask(session, "handshake", "initialize", Some(params), options).await;
        session.hello = Some(reply.clone());
        if exactly && reply.end == End::Closed {
            Box::pin(self.diagnose_exit()).await;
        }
        let offered = reply.result.as_ref().and_then(|result| result.get("protocolVersion")).and_then(Value::as_str);
        // If the server omits the revision, the requested one is assumed: a rule judges the omission.
        let spoken =
            offered.map_or(Some(revision), |version| version.parse().ok()).filter(|spoken| !spoken.is_modern());
        match (reply.end, spoken) {
            (End::Result, Some(spoken)) if spoken == revision || !exactly => {
                let session_id = reply.http.as_ref().and_then(|http| http.headers.get("mcp-session-id"));
                session.settle(Some(spoken), session_id.cloned());
                session.notify("handshake", "notifications/initialized", None).await;
                if session.transport().capabilities().stream_per_request {
                    session.listen("handshake");
                }
                Ok(())
            }
            // This server speaks no revision at all, which a rule judges.
            (End::Result, _) if offered.is_some_and(|offered| !is_named_by_date(offered)) => {
                Err(self.explain(&reply, session))
            }
            (End::Result | End::Error, _) if exactly => Err(self.not_spoken(revision, &reply, session)),
            _ => Err(self.explain(&reply, session)),
        }
    }

    /// Sends the first request, during which the server may still start.
    async fn ask(
        &self,
        session: &Session,
        by: &str,
        method: &str,
        params: Option<Value>,
        options: CallOptions,
    ) -> Reply {
        match select(pin!(session.call(by, method, params, options)), pin!(self.garbled(session))).await {
            Either::Left((reply, _)) | Either::Right((reply, _)) => reply,
        }
    }

    /// Ends if a server that has started wrote an unreadable response.
    async fn garbled(&self, session: &Session) -> Reply {
        sleep(self.limits.request).await;
        let on_it = || self.recorder.frames().filter(|frame| frame.link == session.link());
        let asked = on_it().filter(|frame| frame.from == Side::Client && frame.kind == FrameKind::Message).last();
        let Some(asked) = asked else { return pending().await };
        let is_response = |frame: &Arc<Frame>| frame.frame > asked.frame && frame.is_garbled_message();
        let Some(garbled) = on_it().find(|frame| frame.from == Side::Server && is_response(frame)) else {
            return pending().await;
        };
        let frames = vec![asked.frame, garbled.frame];
        Reply { frames, why: garbled.why.clone(), ..Reply::ended(End::Malformed) }
    }

    /// Determines whether the process exits immediately or because of the handshake: starts another one with another
    /// request.
    async fn diagnose_exit(&self) {
        if !self.target.start.capabilities().process || self.has_spoken() {
            return;
        }
        if let Ok(session) = self.connect().await {
            self.recorder.brief(session.link());
            session.call(PROBE, "ping", None, CallOptions { starting: true, ..CallOptions::default() }).await;
            session.close().await;
        }
    }

    pub(super) fn has_spoken(&self) -> bool {
        self.recorder.frames().any(|frame| frame.from == Side::Server && frame.kind == FrameKind::Message)
    }

    /// Whether the server sent a message with its newline.
    fn has_sent_whole_messages(&self) -> bool {
        let is_whole =
            |frame: &Frame| frame.kind == FrameKind::Message && !frame.flaws.iter().any(|flaw| flaw == "unterminated");
        self.recorder.frames().any(|frame| frame.from == Side::Server && is_whole(&frame))
    }

    fn is_silent(&self) -> bool {
        !self.recorder.frames().any(|frame| {
            frame.from == Side::Server
                && matches!(frame.kind, FrameKind::Message | FrameKind::Junk | FrameKind::HttpResponse)
        })
    }
}

/// Whether it is a `DiscoverResult`, or an error that only modern servers send. It must not list only revisions that
/// use `initialize`.
fn is_modern(result: Option<&Value>, error: Option<&Value>) -> bool {
    let listed = result.and_then(|result| result.get("supportedVersions"));
    let supported = listed.or_else(|| error?.pointer("/data/supported"));
    if let Some(Value::Array(versions)) = supported.filter(|versions| **versions != json!([])) {
        return versions.iter().any(|version| version == Revision::NEWEST.as_str());
    }
    let code = error.and_then(|error| error["code"].as_i64());
    // Other results have no `resultType`, so this one only lacks its versions.
    let discovered = result.is_some_and(|result| result.get("resultType").and(result.get("capabilities")).is_some());
    supported.is_some() || discovered || code.is_some_and(|code| MODERN_CODES.contains(&code))
}

/// Whether it may be a revision, if only one that this program does not know. Drafts have other names.
fn is_named_by_date(version: &str) -> bool {
    let shape = |c: char| if c.is_ascii_digit() { '0' } else { c };
    version.chars().map(shape).collect::<String>().contains("0000-00-00")
        || version.to_ascii_lowercase().contains("draft")
}
