//! Tasks of 2025-11-25: calls of tools that are answered at once and carried out behind the answer.
//!
//! What comes of a tool is known as soon as it was called; a task keeps it back until its time has come. A task belongs
//! to the session that created it.

use std::{collections::hash_map::RandomState, hash::BuildHasher, time::Duration};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    reference::{
        clock,
        fail::Fail,
        world::tools::{Outcome, Tool, text},
    },
    revision::Revision,
};

pub const RELATED: &str = "io.modelcontextprotocol/related-task";

const POLL_INTERVAL: u64 = 10;
/// Of tasks for which no time to live is asked, and the longest that is granted, in milliseconds.
const USUAL_TTL: u64 = 600_000;
const LONGEST_TTL: u64 = 3_600_000;
/// The oldest one goes when there are more.
const MOST_TASKS: usize = 100;
/// From the last word of a tool to the end of its task, so that nothing is said of a task that has ended.
const SETTLING: Duration = Duration::from_millis(5);

/// Asks the user, which takes a task: nobody waits for the answer of a person.
pub const INTERVIEW: Tool = Tool {
    name: "interview",
    title: "Interview",
    description: "Asks the user for a name and says hello.",
    read_only: true,
    since: Revision::V2025_11_25,
    input: || (json!({}), &[]),
    output: None,
    call: |_, _| Ok(Outcome::Ask(form("What is your name?", "name"))),
};

/// A form with one field to fill in.
pub fn form(message: &str, field: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { field: { "type": "string" } }, "required": [field] });
    json!({ "mode": "form", "message": message, "requestedSchema": schema })
}

/// Whether a tool can be called as a task, must be, or (`None`) must not be.
pub fn support(tool: &str) -> Option<&'static str> {
    match tool {
        "slow" | "fail" => Some("optional"),
        "interview" => Some("required"),
        _ => None,
    }
}

#[derive(Debug, Default)]
pub struct Tasks(Vec<Task>);

#[derive(Debug)]
pub struct Task {
    pub id: String,
    /// The id of the call that it came of.
    pub call: Value,
    ttl: u64,
    created: Timestamp,
    stage: Stage,
    /// Ids of the requests that wait for its result.
    pub waiting: Vec<Value>,
}

#[derive(Debug)]
enum Stage {
    /// It ends at this time.
    Ends(Timestamp, Result<Value, Fail>),
    /// The client has to answer this first; whether it was asked already.
    Asks(Value, bool),
    Cancelled(Timestamp),
}

impl Tasks {
    pub fn add(&mut self, call: &Value, ttl: Option<u64>, delay: Duration, outcome: Result<Value, Fail>) -> &Task {
        let ends = clock::now() + delay + SETTLING;
        self.push(call, ttl, Stage::Ends(ends, outcome))
    }

    pub fn add_asking(&mut self, call: &Value, ttl: Option<u64>, question: Value) -> &Task {
        self.push(call, ttl, Stage::Asks(question, false))
    }

    fn push(&mut self, call: &Value, ttl: Option<u64>, stage: Stage) -> &Task {
        self.drop_old();
        if self.0.len() >= MOST_TASKS {
            self.0.remove(0);
        }
        let ttl = ttl.unwrap_or(USUAL_TTL).min(LONGEST_TTL);
        let waiting = Vec::new();
        self.0.push(Task { id: fresh_id(), call: call.clone(), ttl, created: clock::now(), stage, waiting });
        &self.0[self.0.len() - 1]
    }

    pub fn find(&mut self, id: &str) -> Result<&mut Task, Fail> {
        self.drop_old();
        let task = self.0.iter_mut().find(|task| task.id == id);
        task.ok_or_else(|| Fail::params("There is no such task, or no more."))
    }

    pub fn all(&mut self) -> &[Task] {
        self.drop_old();
        &self.0
    }

    /// Nobody waits any more for the answer to this request.
    pub fn forget(&mut self, request: &Value) {
        self.0.iter_mut().for_each(|task| task.waiting.retain(|waiting| waiting != request));
    }

    /// The client has answered the question of this task.
    pub fn answer(&mut self, question: &str, answer: &Value) -> Option<&mut Task> {
        let task = self.0.iter_mut().find(|task| task.question_id() == question)?;
        let Stage::Asks(_, true) = task.stage else { return None };
        let name = answer["result"]["content"]["name"].as_str().unwrap_or("whoever you are");
        let result = json!({ "content": [text(&format!("Hello, {name}."))] });
        task.stage = Stage::Ends(clock::now(), Ok(result));
        Some(task)
    }

    fn drop_old(&mut self) {
        let now = clock::now();
        self.0.retain(|task| task.created + Duration::from_millis(task.ttl) > now);
    }
}

impl Task {
    pub fn has_ended(&self) -> bool {
        self.rest().is_some_and(|rest| rest.is_zero())
    }

    /// The time until it ends, if that is known.
    pub fn rest(&self) -> Option<Duration> {
        match &self.stage {
            Stage::Ends(ends, _) => Some(ends.duration_since(clock::now()).try_into().unwrap_or_default()),
            Stage::Asks(..) => None,
            Stage::Cancelled(_) => Some(Duration::ZERO),
        }
    }

    /// What the call led to.
    pub fn outcome(&self) -> Result<Value, Fail> {
        match &self.stage {
            Stage::Ends(_, outcome) => {
                let mut result = outcome.clone()?;
                result["_meta"] = self.relation();
                Ok(result)
            }
            _ => Err(Fail::params("The task was cancelled and has no result.")),
        }
    }

    /// The request that asks what is to be known, the first time that somebody waits for it.
    pub fn question(&mut self) -> Option<Value> {
        let (id, relation) = (self.question_id(), self.relation());
        let Stage::Asks(question, asked @ false) = &mut self.stage else { return None };
        *asked = true;
        let mut params = question.clone();
        params["_meta"] = relation;
        Some(json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params }))
    }

    fn question_id(&self) -> String {
        format!("ask-{}", self.id)
    }

    /// For `_meta` of every message about it.
    pub fn relation(&self) -> Value {
        json!({ RELATED: { "taskId": self.id } })
    }

    pub fn cancel(&mut self) {
        self.stage = Stage::Cancelled(clock::now());
    }

    /// As it was when it began, whatever has become of it since.
    pub fn at_first(&self) -> Value {
        self.told("working", self.created, None)
    }

    pub fn now(&self) -> Value {
        match &self.stage {
            Stage::Ends(..) if self.has_ended() => self.in_the_end(),
            Stage::Ends(..) => self.at_first(),
            Stage::Asks(..) => self.told("input_required", self.created, Some("The user is to be asked.")),
            Stage::Cancelled(at) => self.told("cancelled", *at, Some("Cancelled by request.")),
        }
    }

    /// As it will be when it has ended.
    pub fn in_the_end(&self) -> Value {
        let Stage::Ends(ends, outcome) = &self.stage else { return self.now() };
        match outcome {
            Ok(result) if result["isError"] == true => {
                self.told("failed", *ends, Some(result["content"][0]["text"].as_str().unwrap_or("The tool failed.")))
            }
            Ok(_) => self.told("completed", *ends, None),
            Err(fail) => self.told("failed", *ends, Some(&fail.message)),
        }
    }

    fn told(&self, status: &str, updated: Timestamp, message: Option<&str>) -> Value {
        let mut told = json!({
            "taskId": self.id,
            "status": status,
            "createdAt": self.created.to_string(),
            "lastUpdatedAt": updated.to_string(),
            "ttl": self.ttl,
            "pollInterval": POLL_INTERVAL,
        });
        if let Some(message) = message {
            told["statusMessage"] = json!(message);
        }
        told
    }
}

/// The name of a task: 128 bits that cannot be guessed: hashes under keys that the system's source of randomness gave.
pub fn fresh_id() -> String {
    let half = || RandomState::new().hash_one(0_u8);
    format!("{:016x}{:016x}", half(), half())
}
