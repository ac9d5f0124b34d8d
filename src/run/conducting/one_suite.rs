//! Gathers for one suite.

use std::{pin::pin, sync::atomic::Ordering};

use futures_util::future::{Either, select};
use serde_json::json;
use tokio::{sync::Mutex, time::Instant};

use super::{
    executor::Executor,
    gathered::Gathered,
    stop::Incident,
    suite_effects::{Effect, effect},
};
use crate::{
    error::Error,
    evidence::{Ended, FrameKind, PROBE, Recorder, RunContext, Side},
    gather::{self, Controls, gather, steps},
    judge::subject,
    outcome::excerpt::middle,
    session::{Conversation, EndedConnection, OneShot, lock},
    suite::{Connection, SURVEY, Suite},
};

/// Maximum length of a line that is not a message.
const LINE: usize = 60;

/// The server was there before, but not for this suite.
pub const UNREACHABLE: &str = "the server could not be reached again";

/// How a connection ended, and the last messages sent on it since the server sent one, except to check whether it still
/// responds.
fn describe_end(recorder: &Recorder, link: u32, why: String) -> String {
    if recorder.indexes().any(|frame| frame.link == link && frame.ended == Some(Ended::Unsent)) {
        return format!("{UNREACHABLE}: {why}");
    }
    let mut since: Vec<String> = Vec::new();
    for frame in recorder.frames_where(|index| index.link == link) {
        match (frame.from, frame.kind, &frame.message) {
            (Side::Server, FrameKind::Message, _) => since.clear(),
            (Side::Client, ..) if frame.by.as_deref() == Some(PROBE) => {}
            (Side::Client, FrameKind::Message, Some(message)) if message["method"].is_string() => {
                since.push(subject(message));
            }
            (Side::Client, FrameKind::Junk, _) => {
                since.push(middle(frame.text.as_deref().unwrap_or_default(), LINE).into_owned());
            }
            _ => {}
        }
    }
    match since.as_slice() {
        [] => why,
        [one] => format!("{why}; the last message of the suite was `{one}`"),
        [.., before, last] => format!("{why}; the last messages of the suite were `{before}` and `{last}`"),
    }
}

impl<'a> Executor<'a> {
    /// Gathers for one suite, on the conversation given or, without one, on a new one.
    pub async fn suite(
        &self,
        suite: &'a Suite,
        context: &RunContext,
        conversation: &mut Option<Conversation>,
        turn: Option<&Mutex<()>>,
        crowded: bool,
    ) -> Result<Gathered<'a>, Error> {
        if let Some(why) = self.stop.why() {
            return Ok(Gathered::nothing(suite, why));
        }
        let began = Instant::now();
        let beside = OneShot::new(self.opener_for(suite), context.revision, crowded);
        if conversation.is_none() && suite.connection != Connection::PerCall && steps(suite, context).next().is_some() {
            *conversation = Some(self.open(&beside.opener, context.revision).await?);
        }
        let conversation = conversation.as_ref();
        if let Some(conversation) = conversation {
            conversation.serve(&suite.id);
        }
        let ended_connections = || conversation.map(Conversation::ended_connections).unwrap_or_default();
        let earlier = ended_connections().len();
        let recorder = &self.opener.recorder;
        let stage = gather::Stage {
            suite,
            beside: &beside,
            conversation,
            recorder,
            limits: &self.job.limits,
            context,
            controls: Controls::default(),
            turn,
        };
        let gathering = async {
            if effect(suite, context) != Effect::Observes {
                return gather(&stage).await;
            }
            match select(pin!(gather(&stage)), pin!(self.has_nothing_to_observe())).await {
                Either::Left((saves, _)) => saves,
                Either::Right(_) => json!({}),
            }
        };
        let saves = self.stop.unless_in_suite(gathering).await;
        let lost = beside.lost.load(Ordering::Relaxed);
        self.endings.spawn(async move {
            beside.close().await;
            None
        });
        let incident = match (&saves, conversation) {
            (Err(why), _) => Some(why.clone()),
            (Ok(_), None) => None,
            // This suite may kill the server: stop using the connection.
            (Ok(_), Some(conversation)) if matches!(suite.connection, Connection::Final | Connection::PerCall) => {
                if conversation.is_over().await {
                    *lock(&self.killed_by_suite) = Some(suite.id.clone());
                }
                None
            }
            // The last request may have killed the server. If so, all requests were sent, but the connection is lost.
            (Ok(_), Some(conversation)) => {
                let session = conversation.session().await;
                session.closed().map(|why| Incident::Lost(describe_end(recorder, session.link(), why)))
            }
        };
        // The effect of the last request is only visible now.
        let ended_connections: Vec<EndedConnection> = ended_connections().drain(..).skip(earlier).collect();
        if let Some(why) = self.stop.why() {
            recorder.cut_short(&why.to_string(), self.job.limits.request);
        }
        if suite.id != SURVEY {
            self.job.suites.one_done();
        }
        let saves = saves.unwrap_or_else(|_| json!({}));
        Ok(Gathered { suite, saves, incident, ended_connections, lost, unasked: false, took: began.elapsed() })
    }
}
