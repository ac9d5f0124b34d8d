//! The faults of the reference gateway.

use std::collections::HashMap;

use serde_json::Value;

use crate::evidence::Transport;

/// What happens to a message.
#[derive(Debug, PartialEq)]
pub enum Action {
    Pass,
    Drop,
    Twice,
    /// It is held until the open request has a response.
    Hold,
    /// The sender gets this in its place.
    Return(Value),
    /// It goes to the client that connected first.
    ToFirst,
    /// Every client gets it.
    ToAll,
}

/// The client that receives a response if several use its id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ById {
    /// The last one; the others are forgotten.
    Last,
    /// Each in turn, in the order of their requests.
    InTurn,
}

/// The state of one client.
#[derive(Default)]
pub struct Memory {
    /// Open requests of the client, by id.
    pub open: HashMap<String, Value>,
    /// Open requests of the upstream, by id.
    pub asked: HashMap<String, Value>,
    pub count: usize,
    /// Whether event streams of the upstream have no X-Accel-Buffering.
    pub unmarked: bool,
    /// Whatever a fault has to keep.
    pub kept: Vec<Value>,
}

pub type Edit = fn(&mut Memory, &mut Value) -> Action;
/// The second value is the request that a response is for.
pub type Reply = fn(&mut Memory, &mut Value, &Value) -> Action;

#[derive(Clone, Copy)]
pub struct Fault {
    pub name: &'static str,
    pub about: &'static str,
    pub fronts: &'static [Transport],
    pub backs: &'static [Transport],
    /// A request or notification of the client.
    pub up: Option<Edit>,
    /// A response of the upstream.
    pub result: Option<Reply>,
    /// A notification or request of the upstream.
    pub down: Option<Edit>,
    /// A response of the client.
    pub answer: Option<Reply>,
    pub leaks_credentials: bool,
    pub lacks_version: bool,
    pub keeps_session: bool,
    /// Open requests of all clients are kept together, by id alone.
    pub keeps_by_id: Option<ById>,
    /// Rules besides those that name the fault which it also violates; `*` stands for any.
    pub also: &'static [&'static str],
}

pub const STDIO: Transport = Transport::Stdio;
pub const EVERYWHERE: &[Transport] = &Transport::ALL;
pub const STREAMABLE: &[Transport] = &[Transport::Http];
pub const HTTP: &[Transport] = &[Transport::Http, Transport::Sse];

impl Fault {
    pub const NONE: Self = Self::new("", "");

    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            about,
            fronts: EVERYWHERE,
            backs: EVERYWHERE,
            up: None,
            result: None,
            down: None,
            answer: None,
            leaks_credentials: false,
            lacks_version: false,
            keeps_session: false,
            keeps_by_id: None,
            also: &[],
        }
    }
}
