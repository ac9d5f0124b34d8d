//! One deviation of the client, as functions that are called at the ends of the one correct code path.

pub mod decisions;
pub mod habits;
pub mod memory;

use std::time::Duration;

use serde_json::{Map, Value};

use crate::{
    behaviour::{
        decisions::{
            Abort, Era, Following, Handshake, Head, Heard, Lost, Moment, NextPage, Node, Pages, Posting, Probed,
            Reaction, Restart, Resumption, Retry, Scene, Settlement, Shutdown, Standalone, TaskStep,
        },
        habits::Habits,
        memory::Memory,
    },
    oauth::{errand::Errand, ways::Ways},
    options::Transport,
    report::{Failure, Outcome},
    skills::Flaw,
    transport::{event_stream::Event, lines::LineWays, streams::StreamWays},
};
use conform_faults::Edit;
use conform_model::revision::Revision;

/// A hook that may change a decision.
type Hook<T> = Option<fn(&mut Memory, &Scene, &mut T)>;

/// A hook that may change a decision about something.
type HookOn<A, T> = Option<fn(&mut Memory, &Scene, &A, &mut T)>;

/// A hook for what was received.
type Hearing<T> = Option<fn(&mut Memory, &Scene, &mut T) -> Heard>;

/// A hook that may change something of a method.
type HookBy<T> = Option<fn(&mut Memory, &Scene, &str, &mut T)>;

/// A hook for a decision by method and parameters.
type Permission = Option<fn(&mut Memory, &Scene, &str, &Value, &mut bool)>;

/// A hook by method and outcome.
type Repetition = Option<fn(&mut Memory, &Scene, &str, &Outcome, &mut Retry)>;

/// A hook for bytes that are not JSON.
type Noise = Option<fn(&mut Memory, &Scene, &[u8]) -> Heard>;

type ExtraActions = Option<fn(&mut Memory, &Scene, Moment) -> Vec<Value>>;

pub struct Behaviour {
    pub name: &'static str,
    pub about: &'static str,
    pub transports: &'static [Transport],
    pub since: Option<Revision>,
    pub until: Option<Revision>,
    /// The change of messages and HTTP requests, of a fault that is data.
    pub edit: Option<&'static Edit>,
    /// The reaction to received messages that the edit selects.
    pub reaction: Option<Reaction>,

    // Messages that are sent.
    /// The id of the next request, by its number (from 1) and method.
    pub id: Option<fn(&mut Memory, u64, &str) -> Value>,
    /// The progress token of the next request, by its number (from 1).
    pub token: Option<fn(&mut Memory, u64) -> Value>,
    /// The messages that are sent in place of one: change, drop, repeat, precede or follow. An array is sent as a batch.
    pub say: Hook<Vec<Value>>,
    /// The bytes of a message: over stdio with the newline, over HTTP the body.
    pub spell: Option<fn(&mut Memory, &Value, &mut Vec<u8>)>,
    /// The HTTP request with a message, or without one.
    pub post: Hook<Posting>,
    /// The responses to a request of the server, which is the first argument.
    pub reply: HookOn<Value, Vec<Value>>,
    /// The delay of the response to a request of the server, by its method.
    pub reply_delay: Option<fn(&mut Memory, &str) -> Duration>,
    /// One request of the server is handled at a time, and only when no own request is open.
    pub serves_in_turn: bool,

    // Messages that are received.
    /// The bytes of a line or body that is not JSON.
    pub noise: Noise,
    /// A batch before it is split.
    pub hear_batch: Hearing<Vec<Value>>,
    /// A message before it is handled.
    pub hear: Hearing<Value>,
    /// Which of the open requests (see `Scene::open`) a response belongs to.
    pub correlate: HookOn<Value, Option<usize>>,
    /// An HTTP request of a login.
    pub errand: Hook<Errand>,
    /// The head of the response to an HTTP request.
    pub head: HookOn<Posting, Head>,
    /// An event before its data are read.
    pub event: Hearing<Event>,
    /// How an event stream is split into events.
    pub streams: StreamWays,
    /// How stdout is split into lines, and how stderr is handled.
    pub lines: LineWays,

    /// The end of a process or stream is not noticed.
    pub ignores_loss: bool,

    // Decisions.
    pub handshake: Hook<Handshake>,
    /// The consequences of the result of `initialize`.
    pub settle: HookOn<Outcome, Settlement>,
    /// The consequences of the probe.
    pub era: Option<fn(&mut Memory, &Scene, &Probed, &mut Era)>,
    /// A request waits until no other one is open.
    pub one_request: bool,
    /// The endpoint of HTTP+SSE, by the URL of its stream and the data of the event.
    pub endpoint: Option<fn(&str, &str) -> String>,
    /// The client does not wait for the endpoint of HTTP+SSE.
    pub guesses_endpoint: bool,
    /// The tools that the client uses, selected from the whole list.
    pub tools: HookOn<Vec<Value>, Vec<Value>>,
    /// The tool by whose output schema a result is validated.
    pub output: Option<fn(&mut Value)>,
    /// Whether a request may be sent, by its method and parameters.
    pub permit: Permission,
    /// Parameters of a request before `_meta` is added.
    pub params: HookBy<Value>,
    /// The time limit of a request; `None` is no limit.
    pub timeout: HookBy<Option<Duration>>,
    pub abort: HookOn<(Value, String), Abort>,
    /// Whether a request with this outcome is repeated.
    pub retry: Repetition,
    /// The parameters of the request that follows an `input_required` result, which is the first value.
    pub input: HookOn<Value, Map<String, Value>>,
    /// The next step about a task.
    pub task: HookOn<Following, TaskStep>,
    /// The next page.
    pub page: HookOn<Pages, NextPage>,
    /// Whether a resource is listed in a walk; its URI may be changed in the node.
    pub walk: Option<fn(&mut Memory, &mut Node, &mut bool)>,
    pub resume: HookOn<Lost, Resumption>,
    pub standalone: Hook<Standalone>,
    pub restart: Hook<Restart>,
    /// The first POST failed: whether HTTP+SSE is tried, by the status.
    pub old_transport: Option<fn(&mut Memory, u16, &mut bool)>,
    pub shutdown: Hook<Shutdown>,
    /// What is reported for an action.
    pub outcome: Option<fn(&mut Memory, &Value, &mut Outcome)>,
    /// Additional actions; `"force": true` skips the check of capabilities.
    pub unasked: ExtraActions,
    pub habits: Habits,
    /// What the client does wrong with skills.
    pub skills: Option<Flaw>,
    /// Decisions in a login.
    pub oauth: Ways,
}

impl Behaviour {
    /// The correct client.
    pub const USUAL: Self = Self {
        name: "",
        about: "",
        transports: EVERYWHERE,
        since: None,
        until: None,
        edit: None,
        reaction: None,
        id: None,
        token: None,
        say: None,
        spell: None,
        post: None,
        reply: None,
        reply_delay: None,
        serves_in_turn: false,
        noise: None,
        hear_batch: None,
        hear: None,
        correlate: None,
        errand: None,
        head: None,
        event: None,
        streams: StreamWays::USUAL,
        lines: LineWays::USUAL,
        ignores_loss: false,
        one_request: false,
        endpoint: None,
        guesses_endpoint: false,
        tools: None,
        output: None,
        handshake: None,
        settle: None,
        era: None,
        permit: None,
        params: None,
        timeout: None,
        abort: None,
        retry: None,
        input: None,
        task: None,
        page: None,
        walk: None,
        resume: None,
        standalone: None,
        restart: None,
        old_transport: None,
        shutdown: None,
        outcome: None,
        unasked: None,
        habits: Habits::USUAL,
        skills: None,
        oauth: Ways::USUAL,
    };

    pub const fn new(name: &'static str, about: &'static str, transports: &'static [Transport]) -> Self {
        Self { name, about, transports, ..Self::USUAL }
    }

    /// Only in revisions with a handshake.
    pub const fn legacy(name: &'static str, about: &'static str, transports: &'static [Transport]) -> Self {
        Self { until: Some(Revision::NEWEST_LEGACY), ..Self::new(name, about, transports) }
    }

    /// Only in stateless revisions.
    pub const fn modern(name: &'static str, about: &'static str, transports: &'static [Transport]) -> Self {
        Self { since: Some(Revision::V2026_07_28), ..Self::new(name, about, transports) }
    }
}

pub const EVERYWHERE: &[Transport] = &Transport::ALL;
pub const STDIO: &[Transport] = &[Transport::Stdio];
pub const HTTP: &[Transport] = &[Transport::Http];
pub const SSE: &[Transport] = &[Transport::Sse];
pub const WEB: &[Transport] = &[Transport::Http, Transport::Sse];

/// The code of a failure.
pub fn code_of(outcome: &Outcome) -> Option<i64> {
    outcome.as_ref().err().and_then(Failure::code)
}

/// The behaviour of a name, or an error with the name that was probably meant.
pub fn lookup(
    what: &str,
    name: &str,
    mut known: impl Iterator<Item = &'static Behaviour> + Clone,
) -> Result<&'static Behaviour, String> {
    let names = known.clone();
    known.find(|behaviour| behaviour.name == name).ok_or_else(|| {
        let close = names.map(|behaviour| (strsim::jaro_winkler(behaviour.name, name), behaviour.name));
        let closest =
            close.max_by(|(one, _), (other, _)| one.total_cmp(other)).filter(|(closeness, _)| *closeness > 0.7);
        let tip = closest.map(|(_, name)| format!("; did you mean `{name}`?")).unwrap_or_default();
        format!("the reference client has no {what} `{name}`{tip}")
    })
}
