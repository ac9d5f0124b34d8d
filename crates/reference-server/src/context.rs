//! One request while it is handled: its client and revision, and what is sent besides the response.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::{
    content::{Content, View},
    fail::Fail,
    message::notification,
    options::Proposals,
    session::{Change, Level, Session},
};
use conform_model::revision::{Features, Revision};

pub struct Context<'a> {
    pub id: &'a Value,
    pub revision: Revision,
    /// All revisions that the server speaks.
    pub revisions: &'a [Revision],
    pub proposals: Proposals,
    pub content: &'a mut Content,
    pub session: &'a mut Session,
    /// The capabilities of the client.
    pub capabilities: Value,
    /// The client's responses in earlier rounds of this request.
    pub answers: Map<String, Value>,
    pub progress: Option<Value>,
    pub level: Option<Level>,
    /// The delay of the next message, counted from the request.
    pub delay: Duration,
    /// Notifications about this request, each with its delay.
    pub notes: Vec<(Duration, Value)>,
    /// Messages that follow the response.
    pub later: Vec<(Duration, Value)>,
    /// An earlier request about which nothing more is sent.
    pub cancelled: Option<Value>,
    /// Earlier requests whose response can now be sent.
    pub settled: Vec<(Value, Result<Value, Fail>)>,
    pub changes: Vec<Change>,
    /// There is no response yet: a subscription was opened, or the client has to respond first.
    pub open: bool,
    /// Requests to the client.
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
        let inverted = self.content.slips.levels_inverted;
        if self.level.is_some_and(|level| if inverted { level >= Level::Info } else { level <= Level::Info }) {
            self.notify("notifications/message", &json!({ "level": "info", "logger": "reference", "data": data }));
        }
    }
}
