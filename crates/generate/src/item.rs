//! What is known of one call, of a sequence of calls, and of the server's processes: as rules see it, with the fields that
//! `crates/suite/src/views` declares.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    calls::{Call, Kind},
    subject::{Subject, What},
};
use conform_model::evidence::{End, Reply};

/// One call and all observations about it: an item of `$calls`.
#[derive(Clone, Debug, Serialize)]
pub struct Item {
    pub what: What,
    pub name: String,
    pub listed: Value,
    pub method: String,
    pub params: Value,
    pub arguments: Value,
    pub kind: Kind,
    pub keyword: String,
    pub at: String,
    pub odd: String,
    pub end: End,
    // A result that is `null` is present, unlike an observation that was not made.
    #[serde(skip)]
    pub result: Option<Value>,
    #[serde(skip)]
    pub error: Option<Value>,
    pub failed: bool,
    pub ms: u64,
    pub frames: Vec<u64>,
    #[serde(flatten)]
    pub seen: Observations,
}

/// What was observed besides the reply. What was not is `None`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Observations {
    pub said: Option<String>,
    pub why: Option<String>,
    pub killed: Option<String>,
    pub responds: Option<bool>,
    pub usual: Option<bool>,
    pub by_number: Option<bool>,
    pub inside: Option<Inside>,
    pub explodes: Option<bool>,
    pub changed: Option<Vec<String>>,
    pub changed_again: Option<Vec<String>>,
    pub seen_elsewhere: Option<bool>,
    pub misread: Option<bool>,
    pub unfilled: Option<bool>,
    pub discloses: Option<bool>,
    pub expects_pattern: Option<bool>,
    pub mixed_up: Option<bool>,
    pub ignored: Option<bool>,
    pub survives_cancelled: Option<bool>,
    pub empty_value: Option<End>,
    pub tolerated: Option<bool>,
    pub rejected_elsewhere: Option<bool>,
    pub like_invalid: Option<bool>,
    pub expects_failure: Option<bool>,
    pub plain_succeeds: Option<bool>,
    pub stale: Option<bool>,
    pub offered: Option<bool>,
    pub lost: Option<String>,
}

/// The same call with a value inside the bound.
#[derive(Clone, Debug, Serialize)]
pub struct Inside {
    pub end: End,
    pub failed: bool,
    pub value: Option<Value>,
}

impl Item {
    /// Only the call and its reply.
    pub fn new(subject: &Subject, call: &Call, (method, params, reply): (String, Value, &Reply)) -> Self {
        Self {
            what: subject.what,
            name: subject.name.clone(),
            listed: subject.listed.clone(),
            method,
            params,
            arguments: call.arguments.clone(),
            kind: call.kind,
            keyword: call.keyword.clone(),
            at: call.at.clone(),
            odd: call.why.clone(),
            end: reply.end,
            result: reply.result.clone(),
            error: reply.error.clone(),
            failed: is_failed(reply),
            ms: reply.ms,
            frames: reply.frames.clone(),
            seen: Observations { tolerated: call.is_tolerated().then_some(true), ..Observations::default() },
        }
    }

    pub fn succeeded(&self) -> bool {
        self.end == End::Result && !self.failed
    }

    /// As rules see it.
    pub fn shown(&self) -> Value {
        let mut shown = json!(self);
        let Some(fields) = shown.as_object_mut() else { return shown };
        fields.retain(|_, value| !value.is_null());
        for (name, value) in [("result", &self.result), ("error", &self.error)] {
            fields.extend(value.iter().map(|value| (name.to_owned(), value.clone())));
        }
        shown
    }
}

/// Whether the server reports that the call failed.
pub fn is_failed(reply: &Reply) -> bool {
    reply.end == End::Error || reply.result.as_ref().is_some_and(|result| result["isError"] == true)
}

/// Calls that belong together: an item of `$sequences`.
#[derive(Clone, Debug, Serialize)]
pub struct Sequence {
    pub kind: &'static str,
    pub name: String,
    pub holds: bool,
    pub received: String,
    pub calls: Vec<SequenceCall>,
    pub frames: Vec<u64>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SequenceCall {
    pub name: String,
    pub arguments: Value,
    pub end: End,
    pub failed: bool,
}

/// How the processes of the server grew: an item of `$growth`.
#[derive(Clone, Debug, Serialize)]
pub struct Growth {
    pub of: &'static str,
    pub name: String,
    pub first: u64,
    pub last: u64,
    pub calls: usize,
    pub curve: Vec<u64>,
    pub grows: bool,
}
