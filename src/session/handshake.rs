//! Finds out which revision a server speaks, and opens a conversation in it.
//!
//! The modern probe comes first. A legacy server may answer it with any error, with nothing, or by dying; only a
//! `DiscoverResult` or one of the errors that no legacy revision knows makes a server modern.

use std::{future::pending, pin::pin, sync::Arc, time::Duration};

use futures_util::future::{Either, select};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    answers::ClientProfile,
    conversation::Opener,
    echo::echo,
    help::{answer_in_words, help, lets_nobody_in},
    negotiated::{CallOptions, Session},
};
use crate::{
    error::Error,
    evidence::{Cause, End, Frame, FrameKind, Reply, Side},
    revision::Revision,
    target::Start,
    wire::{OpenError, last_words},
};

/// How long a silent server is believed to be still thinking about the modern probe that it has read. It may be short:
/// a server whose start did not show answers `initialize` after the probe, and then both answers count.
const PROBE: Duration = Duration::from_millis(1500);

/// A server that is still being installed or started gets this many times the limit of a request.
pub const PATIENCE: u32 = 3;

/// Told apart from every later id, so that a late answer is recognised.
const PROBE_ID: &str = "discover";

/// Milliseconds to wait, each time that nobody listens yet.
const START_PAUSES: &[u64] = &[200, 400, 800, 1600];

/// Characters that are shown of a line which is no message.
const BANNER: usize = 120;

/// Errors that only a modern server gives.
const MODERN_CODES: [i64; 3] = [-32020, -32021, -32022];

/// The revision to open the conversation in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    Newest,
    Exactly(Revision),
}

/// A conversation that did not come about: why, and the last reply, if there was one.
#[derive(Debug)]
pub struct Unopened {
    pub error: Error,
    pub hello: Value,
}

impl From<Error> for Unopened {
    fn from(error: Error) -> Self {
        Self { error, hello: Value::Null }
    }
}

/// Opens a conversation and settles its revision. For the first one a server over HTTP has a moment to start.
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
            let hello = std::mem::take(&mut session.hello);
            if opener.is_silent() {
                // It is no MCP server, or hangs: nothing would be learnt from how it ends.
                session.put_down().await;
            }
            session.close().await;
            Err(Unopened { error, hello })
        }
    }
}

enum Discovered {
    Modern,
    Legacy(Box<Reply>),
}

impl Opener {
    async fn connect(&self) -> Result<Session, Error> {
        Session::connect(self).await.map_err(unreachable)
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
        let Discovered::Legacy(reply) = self.discover(session, Revision::NEWEST, PROBE, "probe").await else {
            return Ok(());
        };
        if session.closed().is_some() {
            // It died of the probe, or was never alive: a second start tells which.
            let first = self.explain(&reply, session);
            self.restart(session).await.map_err(|_| first)?;
        }
        let mut legacy = self.initialize(session, Revision::NEWEST_LEGACY, false).await;
        if legacy.is_err() && reply.end == End::Timeout && session.closed().is_some() {
            // It was slow to start, and the probe killed it only when it came to read it.
            self.restart(session).await?;
            legacy = self.initialize(session, Revision::NEWEST_LEGACY, false).await;
        }
        if reply.end == End::Timeout && session.late_answer(&json!(PROBE_ID)).is_some_and(|late| is_modern(&late)) {
            // It was slow to start, and the handshake that went to it meanwhile is to be forgotten.
            self.restart(session).await?;
            let within = self.limits.request * PATIENCE;
            return match self.discover(session, Revision::NEWEST, within, "handshake").await {
                Discovered::Modern => Ok(()),
                // It speaks the newest, as the late answer showed; a handshake would be rejected for that.
                Discovered::Legacy(reply) if reply.end == End::Timeout => Err(self.explain(&reply, session)),
                Discovered::Legacy(_) => self.initialize(session, Revision::NEWEST_LEGACY, false).await,
            };
        }
        if legacy.is_err() && session.closed().is_none() && self.speaks(session, Revision::NEWEST, &reply).await {
            return Ok(());
        }
        legacy
    }

    async fn discover(&self, session: &mut Session, revision: Revision, within: Duration, by: &str) -> Discovered {
        session.settle(Some(revision), None);
        let within = if session.transport().capabilities().process { within } else { self.limits.request };
        // A server that is asked for certain gets time enough to start.
        let (id, starting) = (Some(json!(PROBE_ID)), by == "probe");
        let options = CallOptions { timeout: Some(within), id, starting, ..CallOptions::default() };
        let reply = self.ask(session, by, "server/discover", None, options).await;
        session.hello = json!(reply);
        if is_modern(&session.hello) {
            return Discovered::Modern;
        }
        session.settle(None, None);
        Discovered::Legacy(Box::new(reply))
    }

    /// A server that has no `server/discover`, or does not name the revision there, may speak it all the same; only a
    /// modern result tells.
    async fn speaks(&self, session: &mut Session, revision: Revision, refusal: &Reply) -> bool {
        if !matches!(refusal.end, End::Error | End::Result) || lets_nobody_in(refusal) {
            return false;
        }
        session.settle(Some(revision), None);
        for method in ["resources/list", "tools/list", "prompts/list"] {
            let reply = session.call("probe", method, None, CallOptions::default()).await;
            if reply.result.is_some_and(|result| result.get("resultType").is_some()) {
                session.hello = json!(refusal);
                return true;
            }
        }
        session.settle(None, None);
        false
    }

    /// The handshake of the legacy revisions. `exactly` rejects any other revision than the one asked for.
    async fn initialize(&self, session: &mut Session, revision: Revision, exactly: bool) -> Result<(), Error> {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": self.profile.capabilities(revision),
            "clientInfo": ClientProfile::info(),
        });
        let within = self.known.start_limit(self.limits.request);
        let options = CallOptions { timeout: Some(within), ..CallOptions::default() };
        let reply = self.ask(session, "handshake", "initialize", Some(params), options).await;
        session.hello = json!(reply);
        if exactly && reply.end == End::Closed {
            Box::pin(self.look_for_life()).await;
        }
        let offered = reply.result.as_ref().and_then(|result| result.get("protocolVersion")).and_then(Value::as_str);
        // Where the server leaves it out, it is taken to have agreed: the rule on that looks at its response.
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
            (End::Result | End::Error, _) if exactly => Err(self.not_spoken(revision, &reply, session)),
            _ => Err(self.explain(&reply, session)),
        }
    }

    /// The first request, which a server may need time to start for.
    async fn ask(
        &self,
        session: &Session,
        by: &str,
        method: &str,
        params: Option<Value>,
        options: CallOptions,
    ) -> Reply {
        match select(pin!(session.call(by, method, params, options)), pin!(self.garbled(session))).await {
            Either::Left((reply, _)) => reply,
            Either::Right((why, _)) => Reply { why: Some(why), ..Reply::ended(End::Timeout) },
        }
    }

    /// Ends when a server that needs no time to start any more has written its response so that nobody can read it.
    async fn garbled(&self, session: &Session) -> String {
        let limit = self.limits.request;
        sleep(limit).await;
        let is_message = |frame: Arc<Frame>| {
            let junk = frame.link == session.link() && frame.kind == FrameKind::Junk && frame.from == Side::Server;
            junk && frame.text.as_ref().is_some_and(|text| text.contains("\"jsonrpc\""))
        };
        if !self.recorder.frames().any(is_message) {
            return pending().await;
        }
        format!("no reply within {} s", limit.as_secs_f32())
    }

    /// Whether a process ends at once or because of the handshake shows another one, that is asked something else.
    async fn look_for_life(&self) {
        if !matches!(self.target.start, Start::Stdio { .. }) || self.has_spoken() {
            return;
        }
        if let Ok(session) = self.connect().await {
            self.recorder.brief(session.link());
            session.call("probe", "ping", None, CallOptions { starting: true, ..CallOptions::default() }).await;
            session.close().await;
        }
    }

    fn has_spoken(&self) -> bool {
        self.recorder.frames().any(|frame| frame.from == Side::Server && frame.kind == FrameKind::Message)
    }

    fn is_silent(&self) -> bool {
        !self.recorder.frames().any(|frame| {
            frame.from == Side::Server
                && matches!(frame.kind, FrameKind::Message | FrameKind::Junk | FrameKind::HttpResponse)
        })
    }

    fn not_spoken(&self, asked: Revision, reply: &Reply, session: &Session) -> Error {
        match reply.end {
            End::Result | End::Error if !lets_nobody_in(reply) => {
                Error::NotSpoken { asked, offered: answer_in_words(reply) }
            }
            _ => self.explain(reply, session),
        }
    }

    fn explain(&self, reply: &Reply, session: &Session) -> Error {
        let tried = self.target.name.clone();
        if let Some(line) = echo(&self.recorder) {
            let came = format!("its own input: `{}`", excerpt(&line).unwrap_or_default());
            let help = "this command sends its input back; give the command that starts the MCP server".into();
            return Error::Target { tried, came, help, refused: false };
        }
        let mut came = answer_in_words(reply);
        let stderr = session.stderr_tail();
        if let Some(words) = last_words(&stderr).filter(|words| !came.contains(words)) {
            came.extend(["; on stderr: ", &words]);
        }
        if let Some(body) = self.body(reply) {
            came.extend([": `", &body, "`"]);
        }
        let banner = self.banner(session);
        if let Some(banner) = &banner {
            came.extend(["; on stdout it wrote `", banner, "`, which is not a JSON-RPC message"]);
        }
        let mut help = help(&self.target.start, reply, banner.is_some(), &self.limits);
        let dies = reply.end == End::Closed && matches!(self.target.start, Start::Stdio { .. }) && self.has_spoken();
        if dies {
            came = format!("the server exited during `initialize`: {came}");
            help = "catch exceptions in the handler of `initialize`, and return them as errors".into();
        }
        let refused = reply.cause == Some(Cause::ConnectionRefused);
        Error::Target { tried, came, help, refused }
    }

    /// What an HTTP response says that holds no message: often why the server refuses.
    fn body(&self, reply: &Reply) -> Option<String> {
        let number = reply.frames.last().filter(|_| reply.end == End::Answered)?;
        let mut frames = self.recorder.frames();
        let frame = frames.find(|frame| frame.frame == *number && frame.kind == FrameKind::Document)?;
        excerpt(&frame.message.as_ref().map(Value::to_string).or_else(|| frame.text.clone())?)
    }

    /// What a server that was to be started wrote instead of a message.
    fn banner(&self, session: &Session) -> Option<String> {
        let is_junk = |frame: &Arc<Frame>| {
            frame.link == session.link() && frame.from == Side::Server && frame.kind == FrameKind::Junk
        };
        let junk = self.recorder.frames().filter(is_junk).find_map(|frame| frame.text.clone());
        let line = junk.filter(|_| session.transport().capabilities().process)?;
        excerpt(&line)
    }
}

/// The beginning of a text, on one line.
fn excerpt(text: &str) -> Option<String> {
    Some(text.trim().chars().filter(|c| !c.is_control()).take(BANNER).collect())
        .filter(|line: &String| !line.is_empty())
}

/// A `DiscoverResult`, or an error that only modern servers know, unless it names only revisions that open with
/// `initialize`.
fn is_modern(response: &Value) -> bool {
    let supported = response.pointer("/result/supportedVersions").or_else(|| response.pointer("/error/data/supported"));
    if let Some(Value::Array(versions)) = supported.filter(|versions| **versions != json!([])) {
        return versions.iter().any(|version| version == Revision::NEWEST.as_str());
    }
    let code = response.pointer("/error/code").and_then(Value::as_i64);
    // Other results have no type, so this one lacks its versions and nothing else.
    let discovered = response.pointer("/result/resultType").and(response.pointer("/result/capabilities"));
    supported.or(discovered).is_some() || code.is_some_and(|code| MODERN_CODES.contains(&code))
}

pub(super) fn unreachable(error: OpenError) -> Error {
    let refused = error.cause == Some(Cause::ConnectionRefused);
    Error::Target { tried: error.tried, came: error.came, help: error.help, refused }
}
