//! The shared state of the client.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    rc::Rc,
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::AsyncWrite,
    sync::{Mutex, oneshot},
    task::AbortHandle,
    time::Instant,
};

use crate::{
    behaviour::{
        Behaviour,
        decisions::{Phase, Scene},
        memory::Memory,
    },
    cache::Cache,
    message,
    oauth::Held,
    options::{Options, Transport},
    outside::Outside,
    report::{Failure, Outcome, Report},
    skills::Skills,
    tasks::Task,
    transport::{Connection, headers::MirroredParam},
};
use conform_faults::{Fate, Passing, Sent, Side};
use conform_model::revision::Revision;

/// A request that waits for its response.
pub struct Open {
    pub id: Value,
    pub method: String,
    /// The action of the request.
    pub action: String,
    pub waiter: oneshot::Sender<Outcome>,
    pub since: Instant,
}

#[derive(Default)]
pub struct State {
    /// `None` until it is negotiated.
    pub revision: Option<Revision>,
    /// Messages state a modern version.
    pub modern: bool,
    pub opening: bool,
    pub opened: bool,
    /// The capabilities of the server.
    pub server: Value,
    /// The capabilities of the client.
    pub own: Value,
    pub session: Option<String>,
    pub open: Vec<Open>,
    /// Requests of the server that are being handled; those without a handle cannot be cancelled any more.
    pub served: Vec<(Value, Option<AbortHandle>)>,
    pub requests: u64,
    pub tokens: u64,
    /// The mirrored parameters of each tool that was listed last.
    pub tools: HashMap<String, Vec<MirroredParam>>,
    /// `execution.taskSupport` of each tool that was listed last.
    pub task_support: HashMap<String, String>,
    pub tasks: Vec<Task>,
    /// The tools with an output schema that were listed last.
    pub outputs: HashMap<String, Value>,
    /// Tools that the client does not call because their annotations are invalid.
    pub excluded: HashSet<String>,
    pub roots: Vec<String>,
    /// The filters of the listens that are open.
    pub listens: Vec<Value>,
    /// Why the connection cannot be used any more.
    pub over: Option<String>,
    /// How often a connection was opened.
    pub starts: u32,
    pub restarts: u32,
    pub deaf: bool,
    pub hangs: bool,
    /// `notifications/initialized` has not been sent yet.
    pub owes_initialized: bool,
}

pub struct Client {
    pub options: Options,
    pub ways: &'static Behaviour,
    pub report: Report,
    pub memory: RefCell<Memory>,
    pub state: RefCell<State>,
    pub transport: RefCell<Option<Rc<Connection>>>,
    /// The transport in use, which a fallback can change.
    pub kind: Cell<Transport>,
    pub cache: RefCell<Cache>,
    pub skills: RefCell<Skills>,
    /// Only one part of the client opens a connection at a time.
    pub reviving: Mutex<()>,
    pub deadline: Option<Instant>,
    pub outside: Rc<dyn Outside>,
    /// Tokens, and what was needed to get them.
    pub held: RefCell<Held>,
    /// Only one part of the client logs in at a time.
    pub renewing: Mutex<()>,
    /// Pipes to servers that are left running: they close when the client ends.
    pub left: RefCell<Vec<Box<dyn AsyncWrite + Unpin>>>,
}

impl Client {
    pub fn new(options: Options, ways: &'static Behaviour, report: Report, outside: Rc<dyn Outside>) -> Rc<Self> {
        let state = State { roots: options.answers.roots.clone(), ..State::default() };
        // The rest of the time is for closing the connection in order.
        let spare = Duration::from_secs(1);
        Rc::new(Self {
            deadline: options.limit.map(|limit| Instant::now() + limit.saturating_sub(spare)),
            kind: Cell::new(options.transport),
            options,
            ways,
            report,
            memory: RefCell::default(),
            state: RefCell::new(state),
            transport: RefCell::default(),
            cache: RefCell::default(),
            skills: RefCell::default(),
            reviving: Mutex::default(),
            outside,
            held: RefCell::default(),
            renewing: Mutex::default(),
            left: RefCell::default(),
        })
    }

    /// Calls a hook.
    pub fn with<T>(&self, hook: impl FnOnce(&mut Memory, &Scene) -> T) -> T {
        let scene = self.scene();
        hook(&mut self.memory.borrow_mut(), &scene)
    }

    pub fn scene(&self) -> Scene {
        let state = self.state.borrow();
        Scene {
            revision: state.revision,
            modern: state.modern,
            transport: self.kind.get(),
            phase: match (state.opened, state.opening) {
                (true, _) => Phase::Open,
                (false, true) => Phase::Opening,
                (false, false) => Phase::Closed,
            },
            session: state.session.clone(),
            server: state.server.clone(),
            own: state.own.clone(),
            open: state.open.iter().map(|open| (open.id.clone(), open.method.clone())).collect(),
        }
    }

    pub fn is_modern(&self) -> bool {
        self.state.borrow().modern
    }

    pub fn is_open(&self, id: &Value) -> bool {
        self.state.borrow().open.iter().any(|open| message::same_id(&open.id, id))
    }

    /// The negotiated revision; before that, the one that the client requests.
    pub fn revision(&self) -> Revision {
        self.state.borrow().revision.unwrap_or(self.options.revision)
    }

    /// The version in `_meta`.
    pub fn stated(&self) -> Revision {
        if self.options.revision.is_modern() { self.options.revision } else { Revision::NEWEST }
    }

    /// Fails those of the requests that are still open.
    pub fn fail(&self, ids: &[Value], failure: &Failure) {
        for id in ids {
            self.resolve(id, Err(failure.clone()));
        }
    }

    /// Ends the oldest open request with this id.
    pub fn resolve(&self, id: &Value, outcome: Outcome) {
        let at = self.state.borrow().open.iter().position(|open| message::same_id(&open.id, id));
        if let Some(at) = at {
            self.resolve_at(at, outcome);
        }
    }

    pub fn resolve_at(&self, at: usize, outcome: Outcome) {
        if self.state.borrow().hangs {
            return;
        }
        let open = self.state.borrow_mut().open.remove(at);
        // The receiver may be gone.
        let _ = open.waiter.send(outcome);
    }

    /// The connection is lost: open requests get no response.
    pub fn lose(&self, why: &str) {
        if self.ways.ignores_loss && self.state.borrow().restarts != u32::MAX {
            return;
        }
        let ids: Vec<Value> = {
            let mut state = self.state.borrow_mut();
            state.over.get_or_insert_with(|| why.to_owned());
            state.open.iter().map(|open| open.id.clone()).collect()
        };
        self.fail(&ids, &Failure::closed(why));
    }

    /// Closes the connection for good, in order.
    pub fn disconnect(&self, why: &str) {
        self.state.borrow_mut().restarts = u32::MAX;
        self.lose(why);
    }

    /// Exits like a program with an uncaught exception.
    pub fn crash(&self, why: &str) {
        let what = format!("Unhandled exception in the reference client (fault {}): {why}", self.ways.name);
        self.outside.say(&format!("{what}\n    at crash (crates/reference-client/src/client.rs)"));
        self.state.borrow_mut().deaf = true;
        self.outside.crash();
    }

    pub fn current(&self) -> Result<Rc<Connection>, Failure> {
        self.transport.borrow().clone().ok_or_else(|| Failure::closed("there is no connection"))
    }

    /// Sends a message, possibly changed by a fault.
    pub async fn deliver(self: &Rc<Self>, message: Value) -> Result<(), Failure> {
        let mut messages = if message::method(&message).is_some() {
            let request = message.clone();
            self.edited(Some(&request), message)
        } else {
            vec![message]
        };
        if let Some(hook) = self.ways.say
            && !messages.is_empty()
        {
            self.with(|memory, scene| hook(memory, scene, &mut messages));
        }
        self.deliver_plain(messages).await
    }

    /// What becomes of an own message. The request is the one that it belongs to, or itself.
    pub fn edited(&self, request: Option<&Value>, message: Value) -> Vec<Value> {
        let fate = self.pass(Side::Client, request, message);
        fate.sent.into_iter().filter_map(Sent::into_message).collect()
    }

    /// What becomes of a message, by the edits of the fault.
    pub fn pass(&self, from: Side, request: Option<&Value>, message: Value) -> Fate {
        let Some(edit) = self.ways.edit else { return Fate::unchanged(message) };
        let passing = Passing { from, is_own: from == Side::Client, request, revision: None };
        edit.pass(&mut self.memory.borrow_mut().edited, &passing, message)
    }

    /// Sends messages unchanged.
    pub async fn deliver_plain(self: &Rc<Self>, messages: Vec<Value>) -> Result<(), Failure> {
        let transport = self.current()?;
        for message in messages {
            transport.send(self, message).await?;
        }
        Ok(())
    }

    /// The rest of a time limit before the run has to end.
    pub fn within_deadline(&self, limit: Duration) -> Duration {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        left.map_or(limit, |left| left.min(limit))
    }
}
