//! Failed calls, one per line of JSON: they are repeated first in the next run, and a user can repeat one by an option.

use serde_json::{Value, json};

use super::{
    calls::{Call, Kind, Source},
    subject::{Subject, What},
};

/// A stored call.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored(Value);

/// Maximum number of times that one call is made in a row.
const MOST_TIMES: usize = 1_000;
/// Maximum number of stored calls of one target.
const KEPT: usize = 200;

impl Stored {
    pub fn new(subject: &Subject, call: &Call) -> Self {
        let mut stored =
            json!({ subject.what.word(): subject.name, "arguments": call.arguments, "kind": call.kind.word() });
        if let Some(inside) = &call.inside {
            stored["at"] = json!(call.at);
            stored["inside"] = inside.clone();
        }
        Self(stored)
    }

    /// The call, to be made this many times in a row.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        if times > 1 {
            self.0["times"] = json!(times);
        }
        self
    }

    /// How many times in a row it is made.
    pub fn repeated(&self) -> usize {
        let times = self.0["times"].as_u64().and_then(|times| usize::try_from(times).ok());
        times.unwrap_or(1).clamp(1, MOST_TIMES)
    }

    /// Reads what was typed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let named = [What::Tool, What::Prompt, What::Template, What::Completion, What::List].into_iter();
        match named.filter(|what| value[what.word()].is_string()).count() {
            1 if value["arguments"].is_object() => Ok(Self(value)),
            1 => Err("`arguments` has to be an object".to_owned()),
            _ => Err("it needs one of `tool`, `prompt`, `template`, `completion` and `list` with a name".to_owned()),
        }
    }

    pub fn text(&self) -> String {
        self.0.to_string()
    }

    pub fn is_of(&self, subject: &Subject) -> bool {
        self.0[subject.what.word()] == subject.name.as_str()
    }

    /// The call, classified by the current schema.
    pub fn call(&self, source: &Source) -> Option<Call> {
        let hostile = self.0["kind"].as_str().and_then(Kind::named) == Some(Kind::Hostile);
        let mut call = source.of(self.0["arguments"].clone(), hostile)?;
        if call.kind == Kind::Valid && self.0["inside"].is_object() {
            call.inside = Some(self.0["inside"].clone());
            self.0["at"].as_str().unwrap_or_default().clone_into(&mut call.at);
            "bound".clone_into(&mut call.keyword);
        }
        Some(call)
    }
}

/// The stored calls of all targets, one per line: `{"target": NAME, "call": {...}}`.
#[derive(Debug, Default)]
pub struct Store(Vec<(String, Stored)>);

impl Store {
    /// Invalid lines are ignored: losing one does no harm.
    pub fn read(text: &str) -> Self {
        let line = |line: &str| {
            let value: Value = serde_json::from_str(line).ok()?;
            Some((value["target"].as_str()?.to_owned(), Stored::parse(&value["call"].to_string()).ok()?))
        };
        Self(text.lines().filter_map(line).collect())
    }

    pub fn of(&self, target: &str) -> Vec<Stored> {
        self.0.iter().filter(|(of, _)| of == target).map(|(_, call)| call.clone()).collect()
    }

    /// Replaces the stored calls of the target.
    pub fn replace(&mut self, target: &str, calls: Vec<Stored>) {
        self.0.retain(|(of, _)| of != target);
        self.0.extend(calls.into_iter().take(KEPT).map(|call| (target.to_owned(), call)));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn text(&self) -> String {
        self.0.iter().map(|(target, call)| json!({ "target": target, "call": call.0 }).to_string() + "\n").collect()
    }
}
