//! Tasks of the extension: calls that continue after their response.
//!
//! The tool has already run when its task begins; its result is held back until the time of the task is over. So
//! nothing happens in the background: the status of a task is computed when it is read.

use std::time::Duration;

use indexmap::IndexMap;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::{
    clock,
    content::{
        tasks::{INTERVIEW, form, fresh_id},
        tools::{Outcome, Tool, Trouble, text},
    },
    fail::Fail,
};
use conform_model::revision::Revision;

/// Maximum number of tasks; beyond it the oldest is forgotten.
const MOST_TASKS: usize = 1000;
/// How long a task is kept.
const KEPT: Duration = Duration::from_secs(600);
const POLL_MILLISECONDS: u64 = 10;

/// Tools that run as tasks for every client that supports tasks.
const AS_TASKS: [&str; 4] = ["slow", "fail", "interview", "collapse"];

/// Tools that exist only for tasks.
pub static TASK_TOOLS: [Tool; 2] = [
    Tool {
        description: "Requests a name and a colour, and then a confirmation.",
        read_only: false,
        since: Revision::V2026_07_28,
        call: |context, _| Ok(interview(&context.answers)),
        ..INTERVIEW
    },
    Tool {
        name: "collapse",
        title: "Collapse",
        description: "Ends in an error of the protocol, to show how that looks.",
        read_only: false,
        since: Revision::V2026_07_28,
        input: || (json!({}), &[]),
        output: None,
        call: |_, _| Err(Trouble::Refused(Fail::internal("The tool collapsed."))),
    },
];

fn interview(answers: &Map<String, Value>) -> Outcome {
    let question = |message: &str| json!({ "method": "elicitation/create", "params": form(message, "answer") });
    if !answers.contains_key("name") {
        Outcome::Ask(json!({ "name": question("What is your name?"), "colour": question("Which colour do you like?") }))
    } else if !answers.contains_key("right") {
        Outcome::Ask(json!({ "right": question("Was that right?") }))
    } else {
        Outcome::Content(vec![text("Thank you.")])
    }
}

pub fn runs_as_task(tool: &Tool) -> bool {
    AS_TASKS.contains(&tool.name)
}

#[derive(Default)]
pub struct Tasks(IndexMap<String, Task>);

pub struct Task {
    id: String,
    pub tool: &'static Tool,
    pub arguments: Map<String, Value>,
    /// The client's responses so far.
    pub answers: Map<String, Value>,
    began: Instant,
    created: Timestamp,
    updated: Timestamp,
    /// The status when it was last read.
    status: &'static str,
    stage: Stage,
}

enum Stage {
    /// It waits until every request here has a response.
    Asking(Map<String, Value>),
    /// Its result, and when it is available.
    Ending(Instant, Result<Value, Fail>),
    Cancelled,
}

impl Tasks {
    pub fn start(
        &mut self,
        tool: &'static Tool,
        arguments: Map<String, Value>,
        run: Result<Value, Fail>,
        time: Duration,
    ) -> &Task {
        self.0.retain(|_, task| task.began.elapsed() < KEPT);
        if self.0.len() >= MOST_TASKS {
            self.0.shift_remove_index(0);
        }
        let (id, now) = (fresh_id(), clock::now());
        let mut task = Task {
            id: id.clone(),
            tool,
            arguments,
            answers: Map::new(),
            began: Instant::now(),
            created: now,
            updated: now,
            status: "working",
            stage: Stage::Cancelled,
        };
        task.go_on(run, time);
        self.0.entry(id).insert_entry(task).into_mut()
    }

    pub fn find(&mut self, id: &str) -> Option<&mut Task> {
        self.0.get_mut(id).filter(|task| task.began.elapsed() < KEPT)
    }
}

impl Task {
    /// The result of the tool in this round, which becomes visible after some time.
    pub fn go_on(&mut self, mut run: Result<Value, Fail>, time: Duration) {
        let asked = run.as_mut().ok().and_then(|result| result.get_mut("inputRequests")).map(Value::take);
        self.stage = match asked {
            Some(Value::Object(requests)) => Stage::Asking(requests),
            _ => Stage::Ending(Instant::now() + time.max(Duration::from_millis(POLL_MILLISECONDS)), run),
        };
    }

    /// Handles responses of the client; returns whether all requests have one. Other responses are ignored.
    pub fn answer(&mut self, answers: &Map<String, Value>) -> bool {
        let Stage::Asking(requests) = &mut self.stage else { return false };
        for (key, answer) in answers {
            if requests.shift_remove(key).is_some() {
                self.answers.insert(key.clone(), answer.clone());
            }
        }
        requests.is_empty()
    }

    /// A finished task keeps its status.
    pub fn cancel(&mut self) {
        if matches!(self.now(), "working" | "input_required") {
            self.stage = Stage::Cancelled;
        }
    }

    /// Updates the status; returns whether it changed.
    pub fn settle(&mut self) -> bool {
        let now = self.now();
        let changed = now != self.status;
        if changed {
            (self.status, self.updated) = (now, clock::now());
        }
        changed
    }

    fn now(&self) -> &'static str {
        match &self.stage {
            Stage::Asking(_) => "input_required",
            Stage::Cancelled => "cancelled",
            Stage::Ending(due, _) if Instant::now() < *due => "working",
            Stage::Ending(_, Ok(_)) => "completed",
            Stage::Ending(_, Err(_)) => "failed",
        }
    }

    /// Its fields without the result.
    pub fn handle(&self) -> Value {
        json!({
            "taskId": self.id,
            "status": self.status,
            "createdAt": self.created.to_string(),
            "lastUpdatedAt": self.updated.to_string(),
            "ttlMs": u64::try_from(KEPT.as_millis()).unwrap_or(u64::MAX),
            "pollIntervalMs": POLL_MILLISECONDS,
        })
    }

    /// All its fields, when it was last read.
    pub fn describe(&self) -> Value {
        let mut told = self.handle();
        match (self.status, &self.stage) {
            ("input_required", Stage::Asking(requests)) => told["inputRequests"] = json!(requests),
            ("completed", Stage::Ending(_, Ok(result))) => {
                told["result"] = result.clone();
                told["result"]["resultType"] = json!("complete");
            }
            ("failed", Stage::Ending(_, Err(fail))) => {
                told["statusMessage"] = json!(fail.message);
                told["error"] = json!({ "code": fail.code, "message": fail.message });
            }
            _ => {}
        }
        told
    }
}
