//! The world of the tasks extension: calls become tasks, each with a course of its own.

use serde_json::{Map, Value, json};

use crate::{
    faults::{Behaviour, EVERYWHERE, Heard, Memory, Scene},
    handlers::EXTENSION,
    worlds::made::{is_modern, method, page},
};
use conform_model::revision::Revision;

pub static TASK_EXTENSION: &[Behaviour] = &[Behaviour {
    hear: Some(hear),
    say: Some(say),
    since: Some(Revision::V2026_07_28),
    ..Behaviour::new("task-extension", "calls become tasks of the extension, each with a course of its own", EVERYWHERE)
}];

/// How a task goes on after its polls.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Completed,
    /// The result has `isError`.
    Failed,
    /// The call fails with a JSON-RPC error.
    Broken,
    /// It requires two inputs, one after the other, and completes.
    Asks,
    /// The task is not known any more.
    Gone,
}

struct Course {
    tool: &'static str,
    /// The id of the first task; those of later ones have a number after it.
    id: &'static str,
    /// The polls during which it works.
    polls: u64,
    /// Its intervals in milliseconds: at first, and after each poll. The last one stays.
    intervals: &'static [u64],
    end: End,
}

/// Ids that do not survive a change of case, of the type or of the encoding.
const COURSES: [Course; 9] = [
    course("sometimes", "007", 1, End::Completed),
    course("count-down", "Count/Down %2F+ №1 🦀", 6, End::Completed),
    Course { intervals: &[500, 500, 1500], ..course("steady", "STEADY-a-1E5", 3, End::Completed) },
    course("failed-result", "null", 1, End::Failed),
    course("broken", " -0 ", 1, End::Broken),
    course("asking", "id-asking", 0, End::Asks),
    course("watched", "id-watched", 5, End::Completed),
    course("vanishing", "id-vanishing", 1, End::Gone),
    course("asks-first", "id-asks-first", 1, End::Completed),
];

const fn course(tool: &'static str, id: &'static str, polls: u64, end: End) -> Course {
    Course { tool, id, polls, intervals: &[100], end }
}

/// How often the first input of `asking` is listed again after its response: the update takes effect later.
const STALE: u64 = 3;

fn course_of(memory: &Memory, id: &str) -> Option<&'static Course> {
    COURSES.iter().filter(|_| !id.is_empty()).find(|course| {
        let number = id.strip_prefix(course.id).map(|rest| if rest.is_empty() { "#1" } else { rest });
        let number = number.and_then(|rest| rest.strip_prefix('#')).and_then(|number| number.parse::<u64>().ok());
        number.is_some_and(|number| number <= memory.counts.get(course.tool).copied().unwrap_or_default())
    })
}

fn answered(message: &Value, mut result: Value) -> Heard {
    if result.get("resultType").is_none() {
        result["resultType"] = json!("complete");
    }
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

fn failed(message: &Value, error: &Value) -> Heard {
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
}

fn declares(message: &Value) -> bool {
    let extensions = "/params/_meta/io.modelcontextprotocol~1clientCapabilities/extensions";
    message.pointer(extensions).and_then(|extensions| extensions.get(EXTENSION)).is_some_and(Value::is_object)
}

fn hear(memory: &mut Memory, message: &mut Value) -> Heard {
    let method = method(message);
    if !is_modern(message) {
        return Heard::Message;
    }
    match method {
        "tools/list" => page(message, "tools", &[("", tools())]),
        "tools/call" => call(memory, message),
        "prompts/get" if message["params"]["name"] == "as-a-task" => answered(message, created("id-of-prompt", 100)),
        "tasks/get" | "tasks/update" | "tasks/cancel" => about(memory, message, method),
        _ => Heard::Message,
    }
}

fn tools() -> Vec<Value> {
    let named = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    COURSES.iter().map(|course| course.tool).chain(["after", "uninvited"]).map(named).collect()
}

fn created(id: &str, interval: u64) -> Value {
    json!({ "resultType": "task", "taskId": id, "status": "working", "createdAt": "2026-01-01T00:00:00Z",
        "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": 60_000, "pollIntervalMs": interval })
}

fn content(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn input(key: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    let params = json!({ "mode": "form", "message": "What is your name?", "requestedSchema": schema });
    json!({ key: { "method": "elicitation/create", "params": params } })
}

fn call(memory: &mut Memory, message: &Value) -> Heard {
    let params = &message["params"];
    let name = params["name"].as_str().unwrap_or_default();
    if name == "after" {
        return answered(message, content("after"));
    }
    if name == "uninvited" && !declares(message) {
        return answered(message, created("id-uninvited", 100));
    }
    let Some(course) = COURSES.iter().find(|course| course.tool == name).filter(|_| declares(message)) else {
        return answered(message, content("without a task"));
    };
    if params["arguments"]["plain"] == true {
        return answered(message, content("without a task"));
    }
    if name == "asks-first" && params.get("inputResponses").is_none() {
        let required =
            json!({ "resultType": "input_required", "inputRequests": input("first"), "requestState": "asked" });
        return answered(message, required);
    }
    let count = memory.counts.entry(name.to_owned()).or_default();
    *count += 1;
    let id = if *count == 1 { course.id.to_owned() } else { format!("{}#{count}", course.id) };
    answered(message, created(&id, course.intervals[0]))
}

fn about(memory: &mut Memory, message: &Value, method: &str) -> Heard {
    if !declares(message) {
        let data = json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } });
        return failed(message, &json!({ "code": -32021, "message": "The extension is not declared.", "data": data }));
    }
    let id = message["params"]["taskId"].as_str().unwrap_or_default().to_owned();
    let unknown = || failed(message, &json!({ "code": -32602, "message": "There is no such task." }));
    let Some(course) = course_of(memory, &id) else { return unknown() };
    match method {
        "tasks/update" => {
            for key in message["params"]["inputResponses"].as_object().into_iter().flat_map(Map::keys) {
                memory.keys.insert(format!("{id} {key}"));
            }
            answered(message, json!({}))
        }
        // A cancellation is a wish: the task goes on.
        "tasks/cancel" => answered(message, json!({})),
        _ => {
            *memory.counts.entry(id.clone()).or_default() += 1;
            described(memory, course, &id).map_or_else(unknown, |task| answered(message, task))
        }
    }
}

/// The task as tasks/get returns it; none if it is not known any more.
fn described(memory: &mut Memory, course: &Course, id: &str) -> Option<Value> {
    let polls = memory.counts.get(id).copied().unwrap_or_default();
    let at = usize::try_from(polls).unwrap_or(usize::MAX);
    let mut task = created(id, course.intervals.get(at).or(course.intervals.last()).copied().unwrap_or_default());
    task["resultType"] = json!("complete");
    let result = content(&format!("{} is done", course.tool));
    let ended = |task: &mut Value, status: &str, field: &str, value: Value| {
        task["status"] = json!(status);
        task[field] = value;
    };
    if polls <= course.polls {
        return Some(task);
    }
    match course.end {
        // Whether results inside of a task have a type is open, so one has, and the others have none.
        End::Completed => ended(&mut task, "completed", "result", result),
        End::Failed => {
            let mut result = result;
            (result["isError"], result["resultType"]) = (json!(true), json!("complete"));
            ended(&mut task, "completed", "result", result);
        }
        End::Broken => ended(&mut task, "failed", "error", json!({ "code": -32603, "message": "The tool broke." })),
        End::Gone => return None,
        End::Asks => {
            let mut since = |key: &str| {
                let has = memory.keys.contains(&format!("{id} {key}"));
                has.then(|| {
                    let polls = memory.counts.entry(format!("{id} {key}")).or_default();
                    *polls += 1;
                    *polls
                })
            };
            match (since("first"), since("second")) {
                (None | Some(..=STALE), _) => ended(&mut task, "input_required", "inputRequests", input("first")),
                (_, None) => ended(&mut task, "input_required", "inputRequests", input("second")),
                (_, Some(..=2)) => {}
                _ => ended(&mut task, "completed", "result", result),
            }
        }
    }
    Some(task)
}

/// The acknowledgement of a subscription lacks the tasks, so that the client has to poll.
fn say(_: &mut Memory, _: &Scene, message: &mut Value) -> bool {
    if message["method"] == "notifications/subscriptions/acknowledged"
        && let Some(filter) = message.pointer_mut("/params/notifications").and_then(Value::as_object_mut)
    {
        filter.shift_remove("taskIds");
    }
    true
}
