//! Faults with tasks of 2025-11-25 that need state.

use serde_json::{Value, json};

use crate::{
    faults::{
        Heard, Scene,
        behaviour::{Behaviour, EVERYWHERE, Memory},
    },
    options::Transport,
};
use conform_model::revision::Revision;

/// The state of the faults.
#[derive(Default)]
pub struct TaskMemory {
    /// Ids of tasks in the order of their creation, each with the number of times that it was read as completed.
    ids: Vec<(String, u64)>,
    /// Ids of tasks whose result was requested.
    asked: Vec<String>,
    /// Tasks as they were created.
    created: Vec<Value>,
}

impl TaskMemory {
    fn seen(&mut self, id: &str) -> Option<&mut u64> {
        self.ids.iter_mut().find(|(known, _)| known == id).map(|(_, seen)| seen)
    }
}

pub static TASKS: &[Behaviour] = &[
    Behaviour {
        say: Some(|_, scene, message| {
            hide_capability(scene, message);
            true
        }),
        hear: Some(|_, message| match message.pointer("/params/task") {
            Some(_) if message["method"] == "tools/call" => refused(message, "Unknown parameter: task"),
            _ => Heard::Message,
        }),
        ..fault("task-member-refused", "without the capability for tasks, a call with `task` is rejected")
    },
    Behaviour {
        hear: Some(|memory, message| match task_asked(message, "tasks/result") {
            Some(id) if !memory.tasks.asked.contains(&id) => {
                memory.tasks.asked.push(id);
                refused(message, "The result is not ready.")
            }
            _ => Heard::Message,
        }),
        also: &["tasks-input-required-left"],
        ..fault("task-result-not-ready", "tasks/result before the end of a task is rejected as not ready")
    },
    Behaviour {
        say: Some(|memory, scene, message| end(memory, scene, message, "working")),
        ..fault("task-lives-again", "a completed task is working again some time later")
    },
    Behaviour {
        say: Some(|memory, scene, message| end(memory, scene, message, "failed")),
        also: &["tasks-failed-status-message"],
        ..fault("task-ends-twice", "a completed task is failed some time later")
    },
    Behaviour {
        say: Some(|memory, scene, message| {
            if sight(memory, scene, message) {
                message["result"]["lastUpdatedAt"] = json!("2025-11-25T00:00:00Z");
            }
            true
        }),
        ..fault("task-updated-set-back", "lastUpdatedAt of a completed task goes back some time later")
    },
    Behaviour {
        say: Some(|memory, scene, message| {
            sight(memory, scene, message);
            true
        }),
        hear: Some(|memory, message| {
            let worn_out = |id: String| memory.tasks.seen(&id).is_some_and(|seen| *seen >= LOOKS);
            if task_asked(message, "tasks/get").is_some_and(worn_out) {
                refused(message, "There is no such task.")
            } else {
                Heard::Message
            }
        }),
        ..fault("task-dropped-early", "a task is deleted long before its ttl is over")
    },
    Behaviour {
        hear: Some(|memory, message| {
            let number = message.pointer("/params/taskId").and_then(Value::as_str).and_then(|id| id.parse().ok());
            if let Some((id, _)) = number.and_then(|number: usize| memory.tasks.ids.get(number)) {
                message["params"]["taskId"] = json!(id);
            }
            Heard::Message
        }),
        say: Some(|memory, _, message| {
            note_creation(memory, message);
            let mut text = message.to_string();
            for (number, (id, _)) in memory.tasks.ids.iter().enumerate() {
                text = text.replace(id, &number.to_string());
            }
            *message = serde_json::from_str(&text).unwrap_or_default();
            true
        }),
        also: &["tasks-id-unique"],
        ..fault("task-ids-counted", "ids of tasks are consecutive numbers")
    },
    Behaviour {
        say: Some(|_, scene, message| {
            if let (Some("tasks/list"), Some(tasks)) = (scene.method(), message.pointer_mut("/result/tasks")) {
                let going_on = |task: &&Value| task["status"] != "completed";
                *tasks = tasks.as_array().into_iter().flatten().filter(going_on).cloned().collect();
            }
            true
        }),
        ..fault("task-list-forgets-finished", "completed tasks are not listed")
    },
    Behaviour {
        transports: &[Transport::Http],
        say: Some(list_all),
        ..fault("task-list-for-everybody", "every session can list the tasks of all sessions")
    },
    Behaviour {
        transports: &[Transport::Http],
        protected: true,
        say: Some(list_all),
        ..fault("auth-old-tasks-listed-to-any-user", "every user can list the tasks of all users")
    },
];

/// How often a task is read as completed before its status changes.
const LOOKS: u64 = 2;

const fn fault(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour {
        since: Some(Revision::V2025_11_25),
        until: Some(Revision::V2025_11_25),
        ..Behaviour::new(name, about, EVERYWHERE)
    }
}

/// Adds the tasks of every session to the last page of each list.
fn list_all(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    if let Some(task) = message.pointer("/result/task") {
        memory.tasks.created.push(task.clone());
    }
    let last = message.pointer("/result/nextCursor").is_none() && scene.method() == Some("tasks/list");
    if let Some(tasks) = message.pointer_mut("/result/tasks").and_then(Value::as_array_mut).filter(|_| last) {
        tasks.extend(memory.tasks.created.iter().cloned());
    }
    true
}

fn hide_capability(scene: &Scene, message: &mut Value) {
    let capabilities = message.pointer_mut("/result/capabilities").and_then(Value::as_object_mut);
    if let Some(capabilities) = capabilities.filter(|_| scene.method() == Some("initialize")) {
        capabilities.shift_remove("tasks");
    }
}

fn refused(message: &Value, why: &str) -> Heard {
    let error = json!({ "code": -32602, "message": why });
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
}

fn task_asked(message: &Value, method: &str) -> Option<String> {
    let id = message.pointer("/params/taskId").filter(|_| message["method"] == method)?;
    id.as_str().map(str::to_owned)
}

fn note_creation(memory: &mut Memory, message: &Value) {
    let id = message.pointer("/result/task/taskId").and_then(Value::as_str);
    memory.tasks.ids.extend(id.map(|id| (id.to_owned(), 0)));
}

/// A completed task changes its status later.
fn end(memory: &mut Memory, scene: &Scene, message: &mut Value, later: &str) -> bool {
    if sight(memory, scene, message) {
        message["result"]["status"] = json!(later);
    }
    true
}

/// Counts the reads of a completed task; returns whether it was read before.
fn sight(memory: &mut Memory, scene: &Scene, message: &Value) -> bool {
    note_creation(memory, message);
    let result = message.get("result").filter(|result| result["status"] == "completed");
    let id = result.filter(|_| scene.method() == Some("tasks/get")).and_then(|result| result["taskId"].as_str());
    let Some(seen) = id.and_then(|id| memory.tasks.seen(id)) else { return false };
    *seen += 1;
    *seen > LOOKS
}
