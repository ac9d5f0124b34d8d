//! Failed calls, one per line of JSON: they are repeated first in the next run, and a user can repeat one by an option.

use serde_json::{Value, json};

use super::{
    calls::{Beside, Call, Kind, Source},
    subject::{Subject, What},
};

/// A stored call.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    what: What,
    name: String,
    arguments: Value,
    kind: Option<Kind>,
    /// The place of a value at a bound, and the same arguments with a value inside of it.
    bound: Option<(String, Value)>,
    /// The place of a valid value, and values for it.
    beside: Option<(String, Beside)>,
    /// Whether many servers accept it on purpose, though it is invalid.
    tolerated: bool,
    /// How many times in a row it is made.
    times: usize,
}

/// Maximum number of times that one call is made in a row.
const MOST_TIMES: usize = 1_000;
/// Maximum number of stored calls of one target.
const KEPT: usize = 200;

impl Stored {
    /// The call, to be made this many times in a row.
    pub fn new(subject: &Subject, call: &Call, times: usize) -> Self {
        Self {
            what: subject.what,
            name: subject.name.clone(),
            arguments: call.arguments.clone(),
            kind: Some(call.kind),
            bound: call.inside.clone().map(|inside| (call.at.clone(), inside)),
            tolerated: call.is_tolerated(),
            beside: call.beside.clone().map(|beside| (call.at.clone(), beside)),
            times,
        }
    }

    pub const fn repeated(&self) -> usize {
        self.times
    }

    /// Reads what was typed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        Self::of(&value)
    }

    fn of(value: &Value) -> Result<Self, String> {
        let text = |name: &str| value[name].as_str();
        let kinds = [What::Tool, What::Prompt, What::Template, What::Completion, What::List].into_iter();
        let named: Vec<(What, &str)> = kinds.filter_map(|what| Some((what, text(what.word())?))).collect();
        let [(what, name)] = named[..] else {
            return Err("it needs one of `tool`, `prompt`, `template`, `completion` and `list` with a name".to_owned());
        };
        let arguments = value["arguments"].clone();
        if !arguments.is_object() {
            return Err("`arguments` has to be an object".to_owned());
        }
        let inside = value.get("inside").filter(|inside| inside.is_object());
        let beside = value["plain"].as_array().zip(value["unlike"].as_array());
        let beside = beside.map(|(plain, unlike)| Beside { plain: plain.clone(), invalid: unlike.clone() });
        let times = value["times"].as_u64().and_then(|times| usize::try_from(times).ok());
        Ok(Self {
            what,
            name: name.to_owned(),
            arguments,
            kind: text("kind").and_then(Kind::named),
            bound: inside.map(|inside| (text("at").unwrap_or_default().to_owned(), inside.clone())),
            tolerated: value["tolerated"] == true,
            beside: beside.map(|beside| (text("at").unwrap_or_default().to_owned(), beside)),
            times: times.unwrap_or(1).clamp(1, MOST_TIMES),
        })
    }

    fn value(&self) -> Value {
        let mut value = json!({ self.what.word(): self.name, "arguments": self.arguments });
        let mut with = |name: &str, field: Value| value[name] = field;
        if let Some(kind) = self.kind {
            with("kind", json!(kind));
        }
        if let Some((at, inside)) = &self.bound {
            with("at", json!(at));
            with("inside", inside.clone());
        }
        if let Some((at, beside)) = &self.beside {
            with("at", json!(at));
            with("plain", json!(beside.plain));
            with("unlike", json!(beside.invalid));
        }
        if self.tolerated {
            with("tolerated", json!(true));
        }
        if self.times > 1 {
            with("times", json!(self.times));
        }
        value
    }

    pub fn text(&self) -> String {
        self.value().to_string()
    }

    pub fn is_of(&self, subject: &Subject) -> bool {
        self.what == subject.what && self.name == subject.name
    }

    /// The call, classified by the current schema.
    pub fn call(&self, source: &Source) -> Option<Call> {
        let mut call = source.of(self.arguments.clone(), self.kind == Some(Kind::Hostile))?;
        if let Some((at, inside)) = self.bound.clone().filter(|_| call.kind == Kind::Valid) {
            (call.at, call.inside) = (at, Some(inside));
            "bound".clone_into(&mut call.keyword);
        }
        call.tolerated = self.tolerated;
        if let Some((at, beside)) = self.beside.clone().filter(|_| call.kind == Kind::Valid) {
            (call.at, call.beside) = (at, Some(beside));
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
            Some((value["target"].as_str()?.to_owned(), Stored::of(&value["call"]).ok()?))
        };
        Self(text.lines().filter_map(line).collect())
    }

    pub fn of(&self, target: &str) -> Vec<Stored> {
        self.0.iter().filter(|(of, _)| of == target).map(|(_, call)| call.clone()).collect()
    }

    /// Replaces the stored calls of the target.
    pub fn replace(&mut self, target: &str, calls: Vec<Stored>) {
        self.0.retain(|(of, _)| of != target);
        for call in calls.into_iter().map(|call| (target.to_owned(), call)) {
            if !self.0.contains(&call) && self.0.iter().filter(|(of, _)| of == target).count() < KEPT {
                self.0.push(call);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn text(&self) -> String {
        self.0
            .iter()
            .map(|(target, call)| json!({ "target": target, "call": call.value() }).to_string() + "\n")
            .collect()
    }
}
