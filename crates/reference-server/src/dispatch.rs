//! From a received message to the messages that are sent, independent of the transport.
//!
//! There is one correct code path. The fault, if there is one, acts at its two ends: on received messages and on sent
//! messages.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::{
    content::{Content, skills},
    context::Context,
    era::{self, Era},
    fail::Fail,
    faults::{Batch, Faults, Heard, Scene},
    handlers::{self, Params},
    message::{self, Call, Incoming},
    options::{Options, Proposals},
    session::{Change, Session},
    turn::{Outgoing, Turn},
};
use conform_model::revision::Revision;

pub struct Server {
    /// The oldest first; at least one.
    pub revisions: Vec<Revision>,
    pub faults: Faults,
    proposals: Proposals,
    content: Content,
}

impl Server {
    pub fn new(options: Options) -> Result<Self, String> {
        let mut content = Content::new(options.content);
        for extension in &options.extensions {
            match (extension.as_str(), extension.strip_prefix("skills:")) {
                (_, Some(count)) => {
                    let count = count.parse().map_err(|_| format!("`{count}` is no number of skills"))?;
                    content.add_skills(skills::many(count));
                }
                ("skills", None) => content.add_skills(skills::skills()),
                ("apps", None) => content.add_apps(),
                // It is unknown, which is reported below.
                _ => {}
            }
        }
        let faults = Faults::commit(options.fault.as_deref(), options.variation.as_deref(), &mut content)?;
        let mut revisions = faults.speaks().unwrap_or(options.revisions);
        revisions.sort_unstable();
        revisions.dedup();
        if revisions.is_empty() {
            return Err("a server has to speak at least one revision".to_owned());
        }
        let proposals = Proposals::named(&options.proposals, &options.extensions)?;
        Ok(Self { revisions, faults, proposals, content })
    }

    pub fn newest(&self) -> Revision {
        self.revisions.last().copied().unwrap_or(Revision::NEWEST)
    }

    /// Handles a message as received bytes.
    pub fn receive(&mut self, session: &mut Session, bytes: &[u8]) -> Turn {
        match serde_json::from_slice(bytes) {
            Ok(value) => self.message(session, value),
            Err(_) => self.unreadable(session, bytes),
        }
    }

    /// Handles bytes that are not JSON.
    pub fn unreadable(&mut self, session: &Session, bytes: &[u8]) -> Turn {
        match self.faults.hear_noise(session.transport, bytes) {
            Heard::Message => self.refuse(session, None, None, Fail::parse()),
            heard => self.misheard(session, None, heard),
        }
    }

    pub fn message(&mut self, session: &mut Session, value: Value) -> Turn {
        match value {
            Value::Array(batch)
                if session.revision.is_some_and(|revision| revision.features().batches)
                    && !batch.is_empty()
                    && self.faults.batch() != Some(Batch::Refused) =>
            {
                self.batch(session, batch)
            }
            value => self.single(session, &value),
        }
    }

    /// Responses of a batch are sent together, when the last one is ready.
    fn batch(&mut self, session: &mut Session, batch: Vec<Value>) -> Turn {
        let mut whole = Turn::default();
        session.batching = true;
        let mut answers = Vec::new();
        let fault = self.faults.batch();
        for value in batch {
            let turn = self.single(session, &value);
            whole.changes.extend(turn.changes);
            whole.cancelled = whole.cancelled.or(turn.cancelled);
            whole.crash = whole.crash.or(turn.crash);
            let (said, beside): (Vec<_>, Vec<_>) = turn.out.into_iter().partition(|out| out.answer);
            let failed = said.iter().any(|out| is_error(&out.bytes));
            answers.extend(said);
            whole.out.extend(beside);
            if fault == Some(Batch::First) || (fault == Some(Batch::UntilError) && failed) {
                break;
            }
        }
        session.batching = false;
        let at_least = (fault == Some(Batch::Always)).then_some(Duration::ZERO);
        if let Some(after) = answers.iter().map(|answer| answer.after).max().or(at_least) {
            let bodies: Vec<_> = answers.into_iter().map(|answer| answer.bytes).collect();
            let bytes = [b"[".as_slice(), &bodies.join(b",".as_slice()), b"]"].concat();
            whole.out.push(Outgoing { after, id: None, answer: true, status: 200, bytes });
        }
        whole
    }

    fn single(&mut self, session: &mut Session, sent: &Value) -> Turn {
        let mut heard = sent.clone();
        let scene = self.scene(session, sent);
        match self.faults.hear(&scene, &mut heard) {
            Heard::Message => {}
            other => return self.misheard(session, Some(sent), other),
        }
        match message::classify(&heard) {
            Incoming::Call(call) => match &call.id {
                Some(id) => self.request(session, sent, id, &call),
                None => notification(session, &call),
            },
            Incoming::Response => {
                let settled = handlers::answered(session, &heard);
                Turn { settled: self.settle(session, settled), ..self.response(session, &heard) }
            }
            Incoming::Invalid { id, fail } => self.refuse(session, Some(sent), id.as_ref(), fail),
        }
    }

    fn misheard(&mut self, session: &Session, sent: Option<&Value>, heard: Heard) -> Turn {
        match heard {
            Heard::Message | Heard::Nothing => Turn::default(),
            Heard::Crash => Turn::crash("stopped by its fault"),
            Heard::Exit(why) => Turn::crash(why),
            Heard::Answered(answer) => self.misheard(session, sent, Heard::AnsweredLater(answer, Duration::ZERO)),
            Heard::AnsweredLater(mut answer, after) => {
                let spoken = sent.map_or(self.newest(), |sent| era::spoken(sent, session, &self.revisions));
                message::name_server(&mut answer, spoken);
                let scene = Scene { sent, revision: self.newest(), transport: session.transport };
                let out = self.say(&scene, answer, true, None, after, 200);
                Turn { out, ..Turn::default() }
            }
        }
    }

    fn request(&mut self, session: &mut Session, sent: &Value, id: &Value, call: &Call) -> Turn {
        let nothing = Map::new();
        let params = match &call.params {
            Some(Value::Object(params)) => params,
            Some(_) => {
                return self.refuse(session, Some(sent), Some(id), Fail::params("`params` has to be an object."));
            }
            None => &nothing,
        };
        if call.method == "initialize" {
            let result = handlers::initialize(session, &self.revisions, self.proposals, Params(params));
            return self.answer(&self.scene(session, sent), id, Duration::ZERO, result);
        }
        match era::of(params, session, &self.revisions, &call.method) {
            Ok(era) => self.handle(session, sent, id, &call.method, params, era),
            Err(fail) => self.refuse(session, Some(sent), Some(id), fail),
        }
    }

    pub(super) fn handle(
        &mut self,
        session: &mut Session,
        sent: &Value,
        id: &Value,
        method: &str,
        params: &Map<String, Value>,
        era: Era,
    ) -> Turn {
        let scene = Scene::new(sent, era.revision, session.transport);
        let Some(handler) = handlers::find(method, era.revision, self.proposals) else {
            return self.answer(&scene, id, Duration::ZERO, Err(Fail::method(method, era.revision)));
        };
        let mut context = Context {
            id,
            revision: era.revision,
            revisions: &self.revisions,
            proposals: self.proposals,
            content: &mut self.content,
            session,
            capabilities: era.capabilities,
            answers: era.answers,
            progress: era.progress,
            level: era.level,
            delay: Duration::ZERO,
            notes: Vec::new(),
            later: Vec::new(),
            cancelled: None,
            settled: Vec::new(),
            changes: Vec::new(),
            open: false,
            asks: Map::new(),
        };
        let result = handler(&mut context, Params(params)).map(|result| finish(result, method, era.revision));
        let Context { mut notes, later, cancelled, settled, changes, delay, open, asks, .. } = context;
        if result.as_ref().is_err_and(|fail| fail.status != 200) {
            // Over HTTP the status can only be set before anything is sent.
            notes.clear();
        }
        let mut turn = Turn { cancelled, changes, open, ..Turn::default() };
        for (after, note) in notes {
            turn.out.extend(self.say(&scene, note, false, Some(id), after, 200));
        }
        if !asks.is_empty() {
            turn.out.extend(self.ask(session, &scene, sent, id, asks));
        }
        if !open {
            turn.out.extend(self.answer(&scene, id, delay, result).out);
        }
        for (after, note) in later {
            turn.later.extend(self.say(&scene, note, false, Some(id), after, 200));
        }
        turn.settled = self.settle(session, settled);
        turn
    }

    /// Responses to requests that had to wait.
    fn settle(&mut self, session: &Session, settled: Vec<(Value, Result<Value, Fail>)>) -> Vec<Outgoing> {
        let answer = |(sent, result): (Value, _)| {
            let scene = self.scene(session, &sent);
            self.answer(&scene, &sent["id"], Duration::ZERO, result).out
        };
        settled.into_iter().flat_map(answer).collect()
    }

    /// An error for a message that was not handled.
    pub fn refuse(&mut self, session: &Session, sent: Option<&Value>, id: Option<&Value>, fail: Fail) -> Turn {
        let revision = sent.map_or(session.revision, |sent| Some(era::spoken(sent, session, &self.revisions)));
        let scene = Scene { sent, revision: revision.unwrap_or(self.newest()), transport: session.transport };
        let status = fail.status;
        let error = message::error(id, fail, scene.revision);
        let out = self.say(&scene, error, true, id, Duration::ZERO, status);
        Turn { out, ..Turn::default() }
    }

    fn answer(&mut self, scene: &Scene, id: &Value, after: Duration, result: Result<Value, Fail>) -> Turn {
        let status = result.as_ref().err().map_or(200, |fail| fail.status);
        let answer = match result {
            Ok(result) => message::result(id, &result),
            Err(fail) => message::error(Some(id), fail, scene.revision),
        };
        Turn { out: self.say(scene, answer, true, Some(id), after, status), ..Turn::default() }
    }

    /// Notifications for a session about changes, also those of other clients.
    pub fn announce(&mut self, session: &Session, changes: &[Change]) -> Vec<Outgoing> {
        let mut out = Vec::new();
        for (revision, note) in changes.iter().flat_map(|change| session.announce(change)) {
            let scene = Scene { sent: None, revision, transport: session.transport };
            out.extend(self.say(&scene, note, false, None, Duration::ZERO, 200));
        }
        out
    }

    /// The last messages of a server that closes its subscriptions.
    pub fn close(&mut self, session: &mut Session) -> Vec<Outgoing> {
        let mut out = Vec::new();
        for (id, result) in handlers::closed(session) {
            let scene = Scene { sent: None, revision: Revision::V2026_07_28, transport: session.transport };
            out.extend(self.say(&scene, message::result(&id, &result), true, Some(&id), Duration::ZERO, 200));
        }
        out
    }

    /// Every message of the server passes through here, where the fault acts.
    pub(super) fn say(
        &mut self,
        scene: &Scene,
        message: Value,
        answer: bool,
        id: Option<&Value>,
        after: Duration,
        status: u16,
    ) -> Vec<Outgoing> {
        let after = if answer { after + self.faults.delay() } else { after };
        let spoken = self.faults.say(scene, message).into_iter();
        let outgoing = spoken.map(|spoken| Outgoing {
            after,
            id: id.cloned(),
            answer,
            status: spoken.status.unwrap_or(status),
            bytes: spoken.bytes,
        });
        outgoing.collect()
    }

    fn scene<'a>(&self, session: &Session, sent: &'a Value) -> Scene<'a> {
        Scene::new(sent, era::spoken(sent, session, &self.revisions), session.transport)
    }
}

fn is_error(answer: &[u8]) -> bool {
    serde_json::from_slice::<Value>(answer).is_ok_and(|answer| answer.get("error").is_some())
}

/// A cancelled subscription ends without a response.
fn notification(session: &mut Session, call: &Call) -> Turn {
    let cancels = call.method == "notifications/cancelled";
    let id = call.params.as_ref().and_then(|params| params.get("requestId")).filter(|id| message::is_id(id));
    let cancelled = id.filter(|_| cancels).cloned();
    if let Some(id) = &cancelled {
        session.end_listen(id);
        session.tasks.forget(id);
        session.pending.retain(|pending| pending.sent.get("id") != Some(id));
    }
    Turn { cancelled, ..Turn::default() }
}

/// The fields that every result of 2026-07-28 has besides its own.
fn finish(mut result: Value, method: &str, revision: Revision) -> Value {
    if let Some(result) = result.as_object_mut().filter(|_| revision.is_modern()) {
        let kind = result.entry("resultType").or_insert_with(|| json!("complete"));
        if kind == "complete" && handlers::can_be_kept(method) {
            result.insert("ttlMs".to_owned(), json!(5000));
            result.insert("cacheScope".to_owned(), json!("public"));
        }
        result.insert("_meta".to_owned(), handlers::result_meta(revision));
    }
    result
}
