//! Worlds of 2025-11-25 in which calls become tasks. Each tool has a task with a course of its own, which goes on with
//! each poll, so that the world takes no longer than the client.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::odd::{note, request};
use crate::{
    content::tasks::RELATED,
    faults::{Behaviour, EVERYWHERE, Heard, Memory, Scene},
    worlds::made::{error, method, page, result},
};
use conform_model::revision::Revision;

/// How long a task without interval takes: long enough to tell polls with a pause from polls without.
const WORK: Duration = Duration::from_secs(3);
/// The delay of tasks/result before the end.
const BLOCKS: Duration = Duration::from_millis(500);

pub static TASKS: &[Behaviour] = &[
    Behaviour {
        hear: Some(hear),
        around: Some(around),
        since: Some(Revision::V2025_11_25),
        until: Some(Revision::V2025_11_25),
        ..Behaviour::new("tasks", "calls become tasks, each with a course of its own", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, scene, message| declare(memory, scene, message, &json!({ "list": {}, "cancel": {} }))),
        ..Behaviour {
            name: "tasks-not-for-calls",
            about: "the server declares tasks, and the extension of a later revision, but no tasks for calls",
            ..WITHOUT
        }
    },
    Behaviour {
        say: Some(|memory, scene, message| {
            declare(memory, scene, message, &json!({ "requests": { "tools": { "call": {} } } }))
        }),
        ..Behaviour {
            name: "tasks-without-list",
            about: "calls become tasks that the server can neither list nor cancel",
            ..WITHOUT
        }
    },
];

const WITHOUT: Behaviour = Behaviour {
    hear: Some(hear),
    around: Some(around),
    since: Some(Revision::V2025_11_25),
    until: Some(Revision::V2025_11_25),
    ..Behaviour::new("", "", EVERYWHERE)
};

/// How a task ends.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Completed,
    /// The result of the tool has `isError`.
    Failed,
    /// The call fails with a JSON-RPC error.
    Broken,
    /// The task is not known any more.
    Gone,
}

struct Course {
    tool: &'static str,
    support: Option<&'static str>,
    /// The id of the first task; those of later ones have a number after it.
    id: &'static str,
    /// The polls during which it works.
    polls: u64,
    /// Its intervals in milliseconds: at first, and after each poll. The last one stays.
    intervals: &'static [u64],
    end: End,
}

/// Ids that do not survive a change of case, of the type or of the encoding.
const COURSES: [Course; 12] = [
    course("plain", None, "of-plain", 0, End::Completed),
    course("forbidden", Some("forbidden"), "of-forbidden", 0, End::Completed),
    course("required", Some("required"), "007", 1, End::Completed),
    course("count-down", Some("optional"), "Count/Down %2F+ №1 🦀", 6, End::Completed),
    Course { intervals: &[500, 500, 1500], ..course("steady", Some("optional"), "STEADY-a-1E5", 2, End::Completed) },
    Course { intervals: &[], ..course("unhurried", Some("optional"), "1e3", 0, End::Completed) },
    course("quiet", Some("optional"), " quiet ", 2, End::Completed),
    course("failed-result", Some("optional"), "null", 1, End::Failed),
    course("broken", Some("optional"), "-0", 1, End::Broken),
    course("notified", Some("optional"), "id-notified", 2, End::Completed),
    course("elsewhere", Some("optional"), "id-elsewhere", 2, End::Completed),
    course("vanishing", Some("optional"), "id-vanishing", 1, End::Gone),
];

const fn course(tool: &'static str, support: Option<&'static str>, id: &'static str, polls: u64, end: End) -> Course {
    Course { tool, support, id, polls, intervals: &[100], end }
}

/// The task with this id, if a call created it.
fn course_of(memory: &Memory, id: &str) -> Option<&'static Course> {
    let course = COURSES.iter().find(|course| {
        let number = id.strip_prefix(course.id).map(|rest| if rest.is_empty() { "#1" } else { rest });
        let number = number.and_then(|rest| rest.strip_prefix('#')).and_then(|number| number.parse::<u64>().ok());
        number.is_some_and(|number| number <= memory.counts.get(course.tool).copied().unwrap_or_default())
    });
    course.filter(|_| !id.is_empty())
}

pub fn hear(memory: &mut Memory, message: &mut Value) -> Heard {
    let id = message["params"]["taskId"].as_str().unwrap_or_default().to_owned();
    let course = course_of(memory, &id);
    match (method(message), course) {
        ("tools/list", _) => page(message, "tools", &[("", tools())]),
        ("tools/call", _) => call(memory, message),
        ("tasks/get", Some(course)) => {
            *memory.counts.entry(id.clone()).or_default() += 1;
            match status(memory, course, &id) {
                Some(_) => result(message, described(memory, course, &id)),
                None => error(message, -32602, "There is no such task."),
            }
        }
        ("tasks/result", Some(course)) => match status(memory, course, &id) {
            None => error(message, -32602, "There is no such task."),
            Some("cancelled") => error(message, -32602, "The task was cancelled."),
            Some("working" | "input_required") => {
                memory.keys.insert(id.clone());
                match outcome(message, course, &id) {
                    Heard::Answered(outcome) => Heard::AnsweredLater(outcome, BLOCKS),
                    other => other,
                }
            }
            Some(_) => outcome(message, course, &id),
        },
        ("tasks/cancel", Some(course)) => {
            memory.cancelled.insert(id.clone());
            result(message, described(memory, course, &id))
        }
        ("tasks/list", _) => {
            let listed = |id: &str| {
                json!({ "taskId": id, "status": "completed", "createdAt": "2026-01-01T00:00:00Z",
                    "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": null })
            };
            let pages = [
                ("", vec![listed("listed-1")]),
                (" {\"after\": 1,  \"B\": \"%41+\"} ", vec![listed("listed-2")]),
                ("10", vec![listed("listed-3")]),
            ];
            page(message, "tasks", &pages)
        }
        _ => Heard::Message,
    }
}

fn tools() -> Vec<Value> {
    let tool = |name: &str, support: Option<&str>| {
        let mut tool = json!({ "name": name, "inputSchema": { "type": "object" } });
        if let Some(support) = support {
            tool["execution"] = json!({ "taskSupport": support });
        }
        tool
    };
    let others = [tool("after", None), tool("interview", Some("required"))];
    COURSES.iter().map(|course| tool(course.tool, course.support)).chain(others).collect()
}

fn call(memory: &mut Memory, message: &Value) -> Heard {
    let params = &message["params"];
    let name = params["name"].as_str().unwrap_or_default();
    let Some(course) = COURSES.iter().find(|course| course.tool == name) else {
        let after = name == "after";
        return if after { result(message, content("after")) } else { Heard::Message };
    };
    match (params.get("task"), course.support) {
        (None, Some("required")) => error(message, -32601, "This tool has to be called as a task."),
        (None, _) => result(message, content("without a task")),
        (Some(_), None | Some("forbidden")) => error(message, -32601, "This tool cannot be called as a task."),
        (Some(_), _) => {
            let count = memory.counts.entry(name.to_owned()).or_default();
            *count += 1;
            let id = if *count == 1 { course.id.to_owned() } else { format!("{}#{count}", course.id) };
            if course.intervals.is_empty() {
                memory.slow = Some(Instant::now());
            }
            if let Some(token) = params["_meta"].get("progressToken").filter(|_| name == "count-down") {
                memory.said.insert(TOKEN, token.clone());
            }
            result(message, json!({ "task": described(memory, course, &id) }))
        }
    }
}

/// The progress token of the call of `count-down`.
const TOKEN: &str = "token";

/// None if the task is not known any more.
fn status(memory: &Memory, course: &Course, id: &str) -> Option<&'static str> {
    let polls = memory.counts.get(id).copied().unwrap_or_default();
    let works = if course.intervals.is_empty() {
        memory.slow.is_some_and(|began| began.elapsed() < WORK)
    } else {
        polls <= course.polls
    };
    if memory.cancelled.contains(id) {
        return Some("cancelled");
    }
    if works && !memory.keys.contains(id) {
        return Some("working");
    }
    match course.end {
        End::Gone => None,
        End::Failed | End::Broken => Some("failed"),
        End::Completed => Some("completed"),
    }
}

fn described(memory: &Memory, course: &Course, id: &str) -> Value {
    let polls = memory.counts.get(id).copied().unwrap_or_default();
    let mut task = json!({ "taskId": id, "status": status(memory, course, id), "createdAt": "2026-01-01T00:00:00Z",
        "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": 60_000 });
    let at = usize::try_from(polls).unwrap_or(usize::MAX);
    if let Some(interval) = course.intervals.get(at).or(course.intervals.last()) {
        task["pollInterval"] = json!(interval);
    }
    task
}

fn content(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// What the call would have returned.
fn outcome(message: &Value, course: &Course, id: &str) -> Heard {
    let mut outcome = content(&format!("{} is done", course.tool));
    outcome["_meta"] = json!({ RELATED: { "taskId": id } });
    match course.end {
        End::Broken => error(message, -32603, "The tool broke."),
        End::Failed => {
            outcome["isError"] = json!(true);
            result(message, outcome)
        }
        _ => result(message, outcome),
    }
}

/// Messages on the way of a task.
pub fn around(memory: &mut Memory, scene: &Scene, message: &Value) -> (Vec<Value>, Vec<Value>) {
    let Some(sent) = scene.sent.filter(|sent| method(sent) == "tasks/get" && message.get("result").is_some()) else {
        return (Vec::new(), Vec::new());
    };
    let id = sent["params"]["taskId"].as_str().unwrap_or_default();
    let polls = memory.counts.get(id).copied().unwrap_or_default();
    let status = |id: &str, status: &str| {
        note(
            "notifications/tasks/status",
            json!({ "taskId": id, "status": status, "createdAt": "2026-01-01T00:00:00Z",
            "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": 60_000, "pollInterval": 100 }),
        )
    };
    let before = match id {
        "id-notified" => {
            vec![status("never-created", "working"), status("007", "working"), status("null", "completed")]
        }
        "id-elsewhere" if polls == 1 => vec![request(&json!("elsewhere"), "elicitation/create", question(id))],
        _ if id.starts_with("Count") && polls == 2 => {
            let token = memory.said.get(TOKEN).map(|token| {
                note(
                    "notifications/progress",
                    json!({ "progressToken": token, "progress": 1, "_meta": { RELATED: { "taskId": id } } }),
                )
            });
            token.into_iter().chain([status(id, "working")]).collect()
        }
        _ => Vec::new(),
    };
    (before, Vec::new())
}

fn question(id: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    json!({ "message": "What is your name?", "requestedSchema": schema, "_meta": { RELATED: { "taskId": id } } })
}

/// The capabilities of the world. The extension is not defined in this revision.
fn declare(_: &mut Memory, scene: &Scene, message: &mut Value, tasks: &Value) -> bool {
    if scene.method() == Some("initialize") && message.get("result").is_some() {
        message["result"]["capabilities"]["tasks"] = tasks.clone();
        message["result"]["capabilities"]["extensions"] = json!({ "io.modelcontextprotocol/tasks": {} });
    }
    true
}
