//! The usual form of a fault: a name, a description, and one hook.

use serde_json::Value;

use conform_reference_client::{
    behaviour::{
        Behaviour, EVERYWHERE,
        decisions::{Heard, NextPage, Node, Pages, Scene},
        memory::Memory,
    },
    report::{Failure, Outcome},
};

/// The outcome that the caller of a request sees.
pub const fn outcome(
    name: &'static str,
    about: &'static str,
    hook: fn(&mut Memory, &Value, &mut Outcome),
) -> Behaviour {
    Behaviour { outcome: Some(hook), ..Behaviour::new(name, about, EVERYWHERE) }
}

pub const fn params(
    name: &'static str,
    about: &'static str,
    hook: fn(&mut Memory, &Scene, &str, &mut Value),
) -> Behaviour {
    Behaviour { params: Some(hook), ..Behaviour::new(name, about, EVERYWHERE) }
}

pub const fn page(
    name: &'static str,
    about: &'static str,
    hook: fn(&mut Memory, &Scene, &Pages, &mut NextPage),
) -> Behaviour {
    Behaviour { page: Some(hook), ..Behaviour::new(name, about, EVERYWHERE) }
}

pub const fn walk(name: &'static str, about: &'static str, hook: fn(&mut Memory, &mut Node, &mut bool)) -> Behaviour {
    Behaviour { walk: Some(hook), ..Behaviour::new(name, about, EVERYWHERE) }
}

pub const fn hear(
    name: &'static str,
    about: &'static str,
    hook: fn(&mut Memory, &Scene, &mut Value) -> Heard,
) -> Behaviour {
    Behaviour { hear: Some(hook), ..Behaviour::new(name, about, EVERYWHERE) }
}

/// The client rejects the response.
pub fn reject(outcome: &mut Outcome, why: &str) {
    *outcome = Err(Failure::invalid(why));
}

/// The URI of an action that reads.
pub fn reads(action: &Value) -> Option<&str> {
    action["uri"].as_str().filter(|_| action["do"] == "read")
}

/// The text of a call of `echo` in an action.
pub fn said(action: &Value) -> &str {
    action["arguments"]["text"].as_str().unwrap_or_default()
}

/// The contents of a read.
pub fn contents(outcome: &mut Outcome) -> Option<&mut Vec<Value>> {
    outcome.as_mut().ok()?.get_mut("contents")?.as_array_mut()
}

/// The contents of a read in a message.
pub fn read_in(message: &Value) -> impl Iterator<Item = &Value> {
    message.pointer("/result/contents").and_then(Value::as_array).into_iter().flatten()
}

/// The tools of an action that lists them.
pub fn tools<'a>(action: &Value, outcome: &'a mut Outcome) -> Option<&'a mut Vec<Value>> {
    outcome.as_mut().ok()?.as_array_mut().filter(|_| action["do"] == "list" && action["of"] == "tools")
}
