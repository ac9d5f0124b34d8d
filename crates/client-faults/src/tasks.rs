//! Faults in tasks, of 2025-11-25 and of the extension.

use std::time::Duration;

use serde_json::{Value, json};

use conform_model::revision::Revision;
use conform_reference_client::{
    behaviour::{
        Behaviour, EVERYWHERE, HTTP, code_of,
        decisions::{Following, Heard, Moment, Next, Scene, TaskStep},
        memory::Memory,
    },
    report::{Failure, Outcome},
    tasks::RELATED_TASK,
};

use crate::simple::reject;

/// The interval of clients that poll too often.
const SHORT: Duration = Duration::from_millis(100);
/// Polls without an end: enough for 10 s, which is how long a rule waits.
const MANY: u32 = 120;

pub static TASKS: &[Behaviour] = &[
    params("task-for-every-tool", "every tool is called as a task", |_, _, method, params| {
        if method == "tools/call" {
            params["task"] = json!({});
        }
    }),
    params(
        "required-task-called-plainly",
        "no tool is called as a task because it has to be",
        |memory, _, _, params| {
            if memory.seen.contains(&format!("required {}", params["name"])) {
                drop(params.as_object_mut().map(|params| params.shift_remove("task")));
            }
        },
    ),
    params(
        "task-by-tool-support-alone",
        "`taskSupport` alone decides whether a call is a task",
        |memory, _, _, params| {
            if memory.seen.contains(&format!("supports {}", params["name"])) {
                params["task"] = json!({});
            }
        },
    ),
    params("task-in-every-request", "every request has `task`", |_, _, method, params| {
        if !method.starts_with("tools/call") {
            params["task"] = json!({});
        }
    }),
    Behaviour {
        params: Some(|_, _, method, params| {
            if method == "tools/call" {
                params["task"] = json!({});
            }
        }),
        ..Behaviour::modern("task-param-in-modern", "calls have `task`, as in 2025-11-25", EVERYWHERE)
    },
    Behaviour {
        token: Some(|_, _| json!("progress")),
        ..since("one-progress-token", "all requests have the same progress token")
    },
    task("task-taken-for-result", "the creation of a task is taken for the result", |_, _, following, step| {
        if following.polls == 0 {
            step.then = Next::Give(Ok(json!({ "task": following.task })));
        }
    }),
    task("polls-every-100-ms", "tasks are polled every 100 ms", |_, _, _, step| step.wait = step.wait.min(SHORT)),
    task("first-poll-interval-kept", "tasks are polled at their first interval", |memory, _, following, step| {
        let id = following.task["taskId"].to_string();
        if let Next::Poll = step.then {
            let first = step.wait.as_millis().to_string();
            let kept = memory.seen.iter().find_map(|seen| seen.strip_prefix(&format!("interval {id} "))?.parse().ok());
            if let Some(kept) = kept {
                step.wait = Duration::from_millis(kept);
            } else {
                memory.seen.insert(format!("interval {id} {first}"));
            }
        }
    }),
    task("task-polled-without-pause", "a task without interval is polled without a pause", |_, _, following, step| {
        if following.task.get("pollInterval").is_none() && following.task.get("pollIntervalMs").is_none() {
            step.wait = step.wait.min(Duration::from_millis(20));
        }
    }),
    task("three-polls-only", "a task is polled three times at most", |_, _, following, step| {
        if following.polls >= 3 && matches!(step.then, Next::Poll) {
            *step = give(Err(Failure::new("timeout", "the task takes too long")));
        }
    }),
    task("waits-for-task-notification", "a task is polled only after a notification", |memory, _, following, step| {
        let notified = memory.seen.contains(&format!("notified {}", following.task["taskId"]));
        if !notified && matches!(step.then, Next::Poll) {
            *step = give(Err(Failure::new("timeout", "there was no notification")));
        }
    }),
    task("polls-after-end", "a task is polled five times after its end", |memory, _, following, step| {
        let id = following.task["taskId"].to_string();
        let interval = following.task.get("pollIntervalMs").or_else(|| following.task.get("pollInterval"));
        if is_over(following) && memory.tally(&format!("end of {id}")) <= 5 {
            let wait = interval.and_then(Value::as_u64).map_or(SHORT, Duration::from_millis);
            *step = TaskStep { wait, then: Next::Poll };
        }
    }),
    task("failed-task-polled-on", "only a completed task is over", |_, _, following, step| {
        if following.task["status"] == "failed" && following.polls < 12 {
            *step = TaskStep { wait: SHORT, then: Next::Poll };
        }
    }),
    task("task-result-never-fetched", "the status of a completed task is its result", |_, _, following, step| {
        if following.task["status"] == "completed" && matches!(step.then, Next::Fetch) {
            *step = give(Ok(following.task.clone()));
        }
    }),
    task("failed-task-not-fetched", "of a failed task only the status is reported", |_, _, following, step| {
        if following.task["status"] == "failed" && matches!(step.then, Next::Fetch) {
            *step = give(Err(Failure::new("error", "the task failed")));
        }
    }),
    task("input-required-polled", "a task that requires input is polled", |_, _, following, step| {
        if following.task["status"] == "input_required" && following.polls < MANY {
            *step = TaskStep { wait: SHORT, then: Next::Poll };
        }
    }),
    task("input-responded-at-each-poll", "inputs get a response at each poll", |memory, _, following, step| {
        let keys = following.task["inputRequests"].as_object().into_iter().flatten().map(|(key, _)| key.clone());
        // Between two responses the task is polled.
        if following.task["status"] == "input_required" && memory.tally(&format!("poll {}", following.polls)) == 1 {
            *step = TaskStep { wait: Duration::ZERO, then: Next::Respond(keys.collect()) };
        }
    }),
    task("update-taken-for-result", "the result of tasks/update is that of the tool", |_, _, following, step| {
        if !following.responded.is_empty() {
            *step = give(Ok(json!({ "resultType": "complete" })));
        }
    }),
    task("completed-is-success", "a completed task is a success", |_, _, _, step| {
        if let Next::Give(Ok(result)) = &mut step.then {
            drop(result.as_object_mut().map(|result| result.shift_remove("isError")));
        }
    }),
    Behaviour {
        say: Some(|memory, _, messages| {
            let ids = messages[0].pointer("/params/notifications/taskIds").and_then(Value::as_array);
            memory.seen.extend(ids.into_iter().flatten().map(Value::to_string));
        }),
        permit: Some(|memory, _, method, params, permitted| {
            *permitted &= method != "tasks/get" || !memory.seen.contains(&params["taskId"].to_string());
        }),
        ..Behaviour::modern("task-left-to-subscription", "a task is not polled after a subscription to it", EVERYWHERE)
    },
    Behaviour {
        retry: Some(|_, _, method, outcome, retry| {
            let missing = method == "tasks/get" && code_of(outcome) == Some(-32602) && retry.attempts < 8;
            (retry.again, retry.wait) = (retry.again || missing, SHORT);
        }),
        ..since("missing-task-polled-on", "a task that is missing is polled again and again")
    },
    Behaviour {
        hear: Some(|memory, _, message| {
            let id = message["params"]["taskId"].to_string();
            let is_unknown = message["method"] == "notifications/tasks/status" && !memory.seen.contains(&id);
            if let Some(created) = message.pointer("/result/task/taskId") {
                memory.seen.insert(created.to_string());
            }
            if is_unknown { Heard::Disconnect } else { Heard::Message }
        }),
        ..legacy("unknown-task-notification-disconnects", "a notification about an unknown task ends the connection")
    },
    Behaviour {
        hear: Some(|_, scene, message| {
            let open = scene.open.iter().any(|(_, method)| method == "tasks/result");
            let related = message["params"]["_meta"].get(RELATED_TASK).is_some() && message.get("id").is_some();
            if related && !open { Heard::Nothing } else { Heard::Message }
        }),
        // A rule waits for the response.
        unasked: Some(|_, _, moment| match moment {
            Moment::BeforeClose => vec![json!({ "do": "wait", "ms": 10_500 })],
            _ => Vec::new(),
        }),
        transports: HTTP,
        ..legacy("task-input-only-beside-result", "requests of a task are handled only while tasks/result is open")
    },
    Behaviour {
        hear: Some(|memory, _, message| {
            let created = message.pointer("/result/task").unwrap_or(&message["result"]);
            // The first response with the id is that of the call.
            if let Some(task) = created.get("taskId").and_then(Value::as_str) {
                let call = json!([task, message["id"]]);
                memory.held.push(call);
            }
            Heard::Message
        }),
        say: Some(|memory, _, messages| {
            if messages[0]["method"] == "tasks/cancel" {
                let call = memory.held.iter().find(|call| call[0] == messages[0]["params"]["taskId"]);
                let mut params = json!({ "requestId": call.map(|call| call[1].clone()) });
                if let Some(meta) = messages[0]["params"].get("_meta") {
                    params["_meta"] = meta.clone();
                }
                messages[0] = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            }
        }),
        ..since("task-cancelled-by-call-id", "a task is cancelled with the id of its call")
    },
    Behaviour {
        permit: Some(|_, _, method, _, permitted| *permitted |= method == "tasks/cancel"),
        ..legacy("tasks-cancelled-undeclared", "tasks are cancelled whatever the server declares")
    },
    Behaviour {
        unasked: Some(|_, _, moment| asks(moment == Moment::Connected, "tasks/list")),
        ..legacy("tasks-listed-on-connect", "tasks are listed at once")
    },
    Behaviour {
        unasked: Some(|_, _, moment| asks(moment == Moment::BeforeClose, "tasks/update")),
        ..legacy("extension-in-legacy", "tasks/update is sent in a session of 2025-11-25")
    },
    Behaviour {
        unasked: Some(|_, _, moment| asks(moment == Moment::BeforeClose, "tasks/result")),
        ..Behaviour::modern("tasks-result-in-modern", "tasks/result is sent", EVERYWHERE)
    },
    outcome("plain-result-rejected", "after a task, a result without one is rejected", |_, action, outcome| {
        if action["arguments"]["again"] == true {
            reject(outcome, "the result is no task");
        }
    }),
    outcome("task-result-read-as-empty", "the content of a task's result is dropped", |_, action, outcome| {
        if let Ok(result) = outcome
            && action["task"] == true
        {
            result["content"] = json!([]);
        }
    }),
    outcome("task-after-input-rejected", "a task after rounds of input is rejected", |_, action, outcome| {
        if action["name"] == "asks-first" {
            reject(outcome, "the result is a task");
        }
    }),
    Behaviour {
        hear: Some(|_, scene, message| {
            let gets = |(id, method): &(Value, String)| method == "prompts/get" && *id == message["id"];
            if message["result"]["resultType"] == "task" && scene.open.iter().any(gets) {
                message["result"] = json!({ "resultType": "complete", "messages": [] });
            }
            Heard::Message
        }),
        ..Behaviour::modern(
            "uninvited-task-taken-for-result",
            "a task in place of a prompt is an empty prompt",
            EVERYWHERE,
        )
    },
    Behaviour {
        say: Some(|memory, _, messages| {
            if messages[0]["method"] == "tasks/cancel" {
                memory.count("cancelled");
            }
        }),
        hear: Some(|memory, _, message| {
            let completed = message["result"]["status"] == "completed" && message["result"]["taskId"].is_string();
            if completed && memory.counts.contains_key("cancelled") { Heard::Disconnect } else { Heard::Message }
        }),
        ..Behaviour::modern(
            "completed-after-cancel-disconnects",
            "a task that completes after its cancellation ends the connection",
            EVERYWHERE,
        )
    },
];

/// In each revision with tasks.
const fn since(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour { since: Some(Revision::V2025_11_25), ..Behaviour::new(name, about, EVERYWHERE) }
}

/// In the revision whose tasks are no extension.
const fn legacy(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour { until: Some(Revision::V2025_11_25), ..since(name, about) }
}

const fn task(
    name: &'static str,
    about: &'static str,
    hook: fn(&mut Memory, &Scene, &Following, &mut TaskStep),
) -> Behaviour {
    Behaviour { task: Some(hook), hear: Some(notified), ..since(name, about) }
}

/// Remembers the tasks that notifications are about.
fn notified(memory: &mut Memory, _: &Scene, message: &mut Value) -> Heard {
    if message["method"] == "notifications/tasks/status" {
        memory.seen.insert(format!("notified {}", message["params"]["taskId"]));
    }
    Heard::Message
}

const fn params(name: &'static str, about: &'static str, hook: fn(&mut Memory, &Scene, &str, &mut Value)) -> Behaviour {
    Behaviour { params: Some(hook), hear: Some(support), ..legacy(name, about) }
}

/// Remembers which tools support tasks, and which need them.
fn support(memory: &mut Memory, _: &Scene, message: &mut Value) -> Heard {
    for tool in message.pointer("/result/tools").and_then(Value::as_array).into_iter().flatten() {
        let support = tool["execution"]["taskSupport"].as_str().unwrap_or_default();
        if support == "required" {
            memory.seen.insert(format!("required {}", tool["name"]));
        }
        if support == "required" || support == "optional" {
            memory.seen.insert(format!("supports {}", tool["name"]));
        }
    }
    Heard::Message
}

const fn outcome(name: &'static str, about: &'static str, hook: fn(&mut Memory, &Value, &mut Outcome)) -> Behaviour {
    Behaviour { outcome: Some(hook), ..Behaviour::modern(name, about, EVERYWHERE) }
}

fn asks(now: bool, method: &str) -> Vec<Value> {
    let request = json!({ "do": "request", "method": method, "params": { "taskId": "007" }, "force": true });
    if now { vec![request] } else { Vec::new() }
}

fn is_over(following: &Following) -> bool {
    following.task["status"].as_str().is_some_and(|status| matches!(status, "completed" | "failed" | "cancelled"))
}

fn give(outcome: Outcome) -> TaskStep {
    TaskStep { wait: Duration::ZERO, then: Next::Give(outcome) }
}
