//! Requests of the server to a legacy client while it handles a request of that client.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::{
    dispatch::Server,
    era::{self, Era},
    faults::Scene,
    message,
    session::Session,
    turn::{Outgoing, Turn},
};

impl Server {
    /// Sends requests to a legacy client; the response to the client's request waits for their responses.
    pub(super) fn ask(
        &mut self,
        session: &mut Session,
        scene: &Scene,
        sent: &Value,
        id: &Value,
        asks: Map<String, Value>,
    ) -> Vec<Outgoing> {
        let (mut open, mut out) = (Vec::new(), Vec::new());
        for (key, request) in asks {
            session.asked += 1;
            let own = format!("ask-{}", session.asked);
            let message = message::request(&own, &request["method"], request.get("params"));
            out.extend(self.say(scene, message, false, Some(id), Duration::ZERO, 200));
            open.push((own, key));
        }
        session.await_answers(sent, open);
        out
    }

    /// The client responded; after the last response its own request continues.
    pub(super) fn response(&mut self, session: &mut Session, heard: &Value) -> Turn {
        let Some((sent, answers)) = session.answered(heard) else { return Turn::default() };
        let (Some(id), Some(method)) = (sent.get("id"), sent["method"].as_str()) else { return Turn::default() };
        let nothing = Map::new();
        let params = sent["params"].as_object().unwrap_or(&nothing);
        let Ok(era) = era::of(params, session, &self.revisions, method) else { return Turn::default() };
        let turn = self.handle(session, &sent, id, method, params, Era { answers, ..era });
        session.collected = None;
        Turn { resumed: Some(id.clone()), ..turn }
    }
}
