//! Tasks of 2025-11-25: tool calls that get a response at once and continue after it.
//!
//! The result of a tool is known as soon as it was called; a task holds it back for some time. A task belongs to the
//! session that created it.

use std::{collections::hash_map::RandomState, hash::BuildHasher, time::Duration};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    clock,
    content::tools::{Outcome, Tool, text},
    fail::Fail,
};
use conform_model::revision::Revision;

pub const RELATED: &str = "io.modelcontextprotocol/related-task";

const POLL_INTERVAL: u64 = 10;
/// The default and the maximum time to live, in milliseconds.
const USUAL_TTL: u64 = 600_000;
const LONGEST_TTL: u64 = 3_600_000;
/// Maximum number of tasks; beyond it the oldest is removed.
const MOST_TASKS: usize = 100;
/// The delay between the last message of a tool and the end of its task, so that no message follows the end.
const SETTLING: Duration = Duration::from_millis(5);

/// Sends a request to the user. It is a task because a person takes time to respond.
pub const INTERVIEW: Tool = Tool {
    name: "interview",
    title: "Interview",
    description: "Requests a name from the user and says hello.",
    read_only: true,
    since: Revision::V2025_11_25,
    input: || (json!({}), &[]),
    output: None,
    call: |_, _| Ok(Outcome::Ask(form("What is your name?", "name"))),
};

/// A form with one field.
pub fn form(message: &str, field: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { field: { "type": "string" } }, "required": [field] });
    json!({ "mode": "form", "message": message, "requestedSchema": schema })
}

/// Whether a tool may be called as a task, must be, or (`None`) must not be.
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
    /// The id of the call that created it.
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
    /// The client has to respond to this first; whether it was already sent.
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

    /// The response to this request is no longer needed.
    pub fn forget(&mut self, request: &Value) {
        self.0.iter_mut().for_each(|task| task.waiting.retain(|waiting| waiting != request));
    }

    /// Handles the client's response to the request of this task.
    pub fn answer(&mut self, question: &str, answer: &Value) -> Option<&mut Task> {
        let task = self.0.iter_mut().find(|task| task.question_id() == question)?;
        let Stage::Asks(_, true) = task.stage else { return None };
        let name = answer["result"]["content"]["name"].as_str().unwrap_or("stranger");
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

    /// The remaining time, if it is known.
    pub fn rest(&self) -> Option<Duration> {
        match &self.stage {
            Stage::Ends(ends, _) => Some(ends.duration_since(clock::now()).try_into().unwrap_or_default()),
            Stage::Asks(..) => None,
            Stage::Cancelled(_) => Some(Duration::ZERO),
        }
    }

    /// The result of the call.
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

    /// The request to the client, when the result is waited for the first time.
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

    /// For `_meta` of every message about the task.
    pub fn relation(&self) -> Value {
        json!({ RELATED: { "taskId": self.id } })
    }

    pub fn cancel(&mut self) {
        self.stage = Stage::Cancelled(clock::now());
    }

    /// The task in its initial status, whatever its status is now.
    pub fn at_first(&self) -> Value {
        self.told("working", self.created, None)
    }

    pub fn now(&self) -> Value {
        match &self.stage {
            Stage::Ends(..) if self.has_ended() => self.in_the_end(),
            Stage::Ends(..) => self.at_first(),
            Stage::Asks(..) => self.told("input_required", self.created, Some("Waiting for input of the user.")),
            Stage::Cancelled(at) => self.told("cancelled", *at, Some("Cancelled by request.")),
        }
    }

    /// The task in its final status.
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

/// The id of a task: 128 bits that cannot be guessed, hashes with random keys of the system.
pub fn fresh_id() -> String {
    let half = || RandomState::new().hash_one(0_u8);
    format!("{:016x}{:016x}", half(), half())
}
