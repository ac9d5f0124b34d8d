//! Faults of the tasks extension that need state.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::faults::{
    Heard, Scene,
    behaviour::{Behaviour, EVERYWHERE, Memory},
};
use conform_model::revision::Revision;

#[derive(Default)]
pub struct TaskMemory {
    /// Whether a request declared the extension.
    declared: bool,
    /// Tasks that were read.
    seen: HashSet<String>,
    /// The real id for each number.
    numbers: HashMap<String, String>,
    /// Completed tasks that were looked at.
    ended: HashSet<String>,
    /// Input requests of tasks that were listed.
    told: HashSet<String>,
}

const DECLARED: &str = "/params/_meta/io.modelcontextprotocol~1clientCapabilities/extensions";

pub static TASK_FAULTS: &[Behaviour] = &[
    Behaviour {
        hear: Some(remember_extension),
        also: &["lifecycle-extension-fallback"],
        ..fault("task-extension-remembered", "a client that declared tasks once is treated as if it always did")
    },
    Behaviour {
        hear: Some(|memory, message| {
            let (id, task) = (message["id"].clone(), message["params"]["taskId"].to_string());
            let declared = message.pointer(DECLARED).is_some();
            if message["method"] != "tasks/get" || !declared || !memory.task_extension.seen.insert(task) {
                return Heard::Message;
            }
            let error = json!({ "code": -32602, "message": "Task not found" });
            Heard::Answered(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
        }),
        also: &["tasks-ext-kept", "tasks-ext-failed-kept"],
        ..fault("task-stored-late", "a task is stored shortly after it was returned to the client")
    },
    Behaviour {
        say: Some(|memory, scene, message| {
            if seen_again(memory, scene, message) {
                message["result"]["status"] = json!("working");
                message["result"].as_object_mut().map(|task| task.shift_remove("result"));
            }
            true
        }),
        ..fault("task-ext-lives-again", "a completed task is working again at the second tasks/get")
    },
    Behaviour {
        say: Some(|memory, scene, message| {
            if seen_again(memory, scene, message) {
                message["result"]["lastUpdatedAt"] = json!("2025-11-25T00:00:00Z");
            }
            true
        }),
        ..fault("task-ext-updated-set-back", "lastUpdatedAt of a completed task goes back")
    },
    Behaviour {
        hear: Some(|memory, message| {
            let id = message.pointer_mut("/params/taskId");
            if let Some((id, known)) = id.and_then(|id| {
                let known = memory.task_extension.numbers.get(id.as_str()?).cloned()?;
                Some((id, known))
            }) {
                *id = json!(known);
            }
            Heard::Message
        }),
        say: Some(count),
        ..fault("task-ext-ids-counted", "the ids of tasks are consecutive numbers")
    },
    Behaviour {
        say: Some(|memory, scene, message| {
            let task = message.pointer("/result/taskId").map(Value::to_string).unwrap_or_default();
            let requests = message.pointer_mut("/result/inputRequests").and_then(Value::as_object_mut);
            if let Some(requests) = requests.filter(|_| scene.method() == Some("tasks/get")) {
                requests.retain(|key, _| memory.task_extension.told.insert(format!("{task} {key}")));
            }
            true
        }),
        ..fault("task-input-told-once", "only the first tasks/get lists the input requests of a task")
    },
];

const fn fault(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour { since: Some(Revision::V2026_07_28), ..Behaviour::new(name, about, EVERYWHERE) }
}

fn remember_extension(memory: &mut Memory, message: &mut Value) -> Heard {
    let capabilities = message.pointer_mut("/params/_meta/io.modelcontextprotocol~1clientCapabilities");
    if let Some(capabilities) = capabilities.and_then(Value::as_object_mut) {
        memory.task_extension.declared |= capabilities.contains_key("extensions");
        if memory.task_extension.declared {
            capabilities.insert("extensions".to_owned(), json!({ "io.modelcontextprotocol/tasks": {} }));
        }
    }
    Heard::Message
}

fn count(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    let method = scene.method().unwrap_or("notifications/tasks");
    let id = if method == "notifications/tasks" { "/params/taskId" } else { "/result/taskId" };
    if let Some(id) = message.pointer_mut(id) {
        let text = id.as_str().unwrap_or_default().to_owned();
        let known =
            memory.task_extension.numbers.iter().find(|(_, known)| **known == text).map(|(number, _)| number.clone());
        let number = known.unwrap_or_else(|| format!("task-{}", memory.task_extension.numbers.len() + 1));
        memory.task_extension.numbers.insert(number.clone(), text);
        *id = json!(number);
    }
    true
}

/// Whether this is a further look at a completed task.
fn seen_again(memory: &mut Memory, scene: &Scene, message: &Value) -> bool {
    let result = message.get("result").filter(|result| result["status"] == "completed");
    let id = result.filter(|_| scene.method() == Some("tasks/get")).and_then(|result| result["taskId"].as_str());
    id.is_some_and(|id| !memory.task_extension.ended.insert(id.to_owned()))
}
