//! One request while it is handled: who asks in which revision, and what is to be said besides the answer.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::{
    reference::{
        fail::Fail,
        message::notification,
        options::Proposals,
        session::{Change, Level, Session},
        world::{View, World},
    },
    revision::{Features, Revision},
};

pub struct Context<'a> {
    pub id: &'a Value,
    pub revision: Revision,
    /// All revisions that the server speaks.
    pub revisions: &'a [Revision],
    pub proposals: Proposals,
    pub world: &'a mut World,
    pub session: &'a mut Session,
    /// What the client can do.
    pub capabilities: Value,
    /// What the client answered to an earlier round of this request.
    pub answers: Map<String, Value>,
    pub progress: Option<Value>,
    pub level: Option<Level>,
    /// How long after the request the next thing is said.
    pub delay: Duration,
    /// Notifications about this request, each with its delay.
    pub notes: Vec<(Duration, Value)>,
    /// What is said behind the answer.
    pub later: Vec<(Duration, Value)>,
    /// An earlier request about which nothing more is to be said.
    pub cancelled: Option<Value>,
    /// Earlier requests that can be answered now.
    pub settled: Vec<(Value, Result<Value, Fail>)>,
    pub changes: Vec<Change>,
    /// No answer is due yet: a subscription was opened, or the client has to answer something first.
    pub open: bool,
    /// What the client is asked by requests of their own.
    pub asks: Map<String, Value>,
}

impl Context<'_> {
    pub fn features(&self) -> &'static Features {
        self.revision.features()
    }

    pub fn view(&self) -> View {
        View { revision: self.revision, proposals: self.proposals }
    }

    pub fn notify(&mut self, method: &str, params: &Value) {
        self.notes.push((self.delay, notification(method, params)));
    }

    pub fn report_progress(&mut self, progress: u64, total: u64, message: &str) {
        let Some(token) = self.progress.clone() else { return };
        let mut params = json!({ "progressToken": token, "progress": progress, "total": total });
        if self.features().progress_message {
            params["message"] = json!(message);
        }
        self.notify("notifications/progress", &params);
    }

    pub fn log(&mut self, data: &Value) {
        let inverted = self.world.slips.levels_inverted;
        if self.level.is_some_and(|level| if inverted { level >= Level::Info } else { level <= Level::Info }) {
            self.notify("notifications/message", &json!({ "level": "info", "logger": "reference", "data": data }));
        }
    }
}
