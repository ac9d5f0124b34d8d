//! Faults in notifications and requests of the upstream.

use serde_json::{Value, json};

use super::edits::{instead, is, without};
use crate::reference::gateway::{
    Fault,
    fault::{Action, HTTP, Memory, STDIO, STREAMABLE},
};

const PROGRESS: &str = "notifications/progress";
const LOG: &str = "notifications/message";
const UPDATED: &str = "notifications/resources/updated";

pub static NEWS: &[Fault] = &[
    Fault {
        down: Some(|_, message| dropped(message, PROGRESS)),
        ..Fault::new("progress-dropped", "progress does not pass")
    },
    Fault {
        down: Some(|_, message| if is(message, PROGRESS) { Action::Hold } else { Action::Pass }),
        ..Fault::new("progress-held", "progress is received only with the response")
    },
    Fault {
        down: Some(
            |memory, message| if memory.unmarked && is(message, PROGRESS) { Action::Hold } else { Action::Pass },
        ),
        backs: STREAMABLE,
        also: &["gateway-progress-in-time"],
        ..Fault::new("unmarked-streams-held", "progress of event streams without X-Accel-Buffering is held back")
    },
    Fault {
        down: Some(|memory, message| {
            memory.count = 1;
            if is(message, PROGRESS) { Action::Hold } else { Action::Pass }
        }),
        also: &["gateway-progress-in-time", "gateway-unmarked-streams-in-time"],
        ..Fault::new("progress-after-response", "progress is received after the response")
    },
    Fault {
        down: Some(|_, message| {
            if is(message, PROGRESS) {
                instead(message, "/params/progressToken", |_| json!("back-7"))
            } else {
                Action::Pass
            }
        }),
        also: &["*"],
        ..Fault::new("progress-other-token", "progress has a token that the client did not send")
    },
    Fault {
        down: Some(|memory, message| {
            let is_first = is(message, PROGRESS) && memory.kept.is_empty();
            memory.kept.extend(is_first.then_some(json!(null)));
            if is_first { Action::Hold } else { Action::Pass }
        }),
        also: &["gateway-progress-in-time", "gateway-unmarked-streams-in-time"],
        ..Fault::new("progress-first-last", "the first progress is received after the rest")
    },
    Fault {
        down: Some(
            |_, message| if is(message, PROGRESS) { without(message, "/params", "message") } else { Action::Pass },
        ),
        ..Fault::new("progress-message-dropped", "`message` of progress does not pass")
    },
    Fault {
        down: Some(
            |_, message| if is(message, PROGRESS) { without(message, "/params", "total") } else { Action::Pass },
        ),
        ..Fault::new("progress-total-dropped", "`total` of progress does not pass")
    },
    Fault {
        down: Some(|_, message| if is(message, PROGRESS) { Action::Twice } else { Action::Pass }),
        ..Fault::new("progress-repeated", "progress comes twice")
    },
    Fault {
        down: Some(every_second),
        ..Fault::new("progress-thinned", "every second progress notification does not pass")
    },
    Fault { down: Some(|_, message| dropped(message, LOG)), ..Fault::new("log-dropped", "log messages don't pass") },
    Fault {
        down: Some(|_, message| if is(message, LOG) { without(message, "/params", "logger") } else { Action::Pass }),
        ..Fault::new("logger-dropped", "`logger` does not pass")
    },
    Fault {
        down: Some(|_, message| {
            if is(message, LOG) {
                instead(message, "/params/data", |data| json!(data.to_string()))
            } else {
                Action::Pass
            }
        }),
        ..Fault::new("log-data-as-text", "`data` of log messages becomes text")
    },
    Fault {
        down: Some(
            |_, message| {
                if is(message, LOG) { instead(message, "/params/level", |_| json!("info")) } else { Action::Pass }
            },
        ),
        ..Fault::new("log-level-replaced", "every log message has the level `info`")
    },
    Fault {
        down: Some(|_, message| without(message, "/params", "_meta")),
        ..Fault::new("notification-meta-dropped", "`_meta` of notifications does not pass")
    },
    Fault {
        down: Some(|_, message| dropped(message, "notifications/tools/list_changed")),
        ..Fault::new("tools-changed-dropped", "notifications/tools/list_changed does not pass")
    },
    Fault {
        down: Some(|_, message| dropped(message, "notifications/prompts/list_changed")),
        ..Fault::new("prompts-changed-dropped", "notifications/prompts/list_changed does not pass")
    },
    Fault {
        down: Some(|_, message| dropped(message, "notifications/resources/list_changed")),
        ..Fault::new("resources-changed-dropped", "notifications/resources/list_changed does not pass")
    },
    Fault {
        down: Some(|_, message| dropped(message, UPDATED)),
        ..Fault::new("updated-dropped", "notifications/resources/updated does not pass")
    },
    Fault {
        down: Some(|_, message| {
            if is(message, UPDATED) {
                instead(message, "/params/uri", |uri| json!(format!("upstream+{}", uri.as_str().unwrap_or_default())))
            } else {
                Action::Pass
            }
        }),
        ..Fault::new("updated-other-uri", "updates have another URI than the subscription")
    },
    Fault {
        down: Some(|_, message| if is(message, UPDATED) { Action::ToAll } else { Action::Pass }),
        fronts: HTTP,
        ..Fault::new("updated-to-all", "every client receives updates of resources")
    },
    Fault {
        down: Some(|_, message| if is(message, PROGRESS) { Action::ToAll } else { Action::Pass }),
        fronts: HTTP,
        ..Fault::new("progress-to-all", "every client receives progress")
    },
    Fault {
        down: Some(|_, message| if is_request(message) { Action::ToFirst } else { Action::Pass }),
        fronts: HTTP,
        also: &["*"],
        ..Fault::new("requests-to-first", "requests of the upstream go to the client that connected first")
    },
    Fault {
        down: Some(|_, message| if is_request(message) { Action::Drop } else { Action::Pass }),
        also: &["*"],
        ..Fault::new("requests-dropped", "requests of the upstream don't pass")
    },
    Fault {
        down: Some(|_, message| {
            if !is(message, "sampling/createMessage") {
                return Action::Pass;
            }
            let error = json!({ "code": -32601, "message": "Method not found" });
            Action::Return(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
        }),
        ..Fault::new("sampling-rejected", "the gateway rejects sampling that the client supports")
    },
    Fault {
        down: Some(|_, message| {
            if is(message, "sampling/createMessage") { without(message, "/params", "maxTokens") } else { Action::Pass }
        }),
        ..Fault::new("sampling-params-dropped", "`maxTokens` of sampling does not pass")
    },
    Fault {
        down: Some(|_, message| {
            if is(message, "elicitation/create") {
                without(message, "/params", "requestedSchema")
            } else {
                Action::Pass
            }
        }),
        also: &["*"],
        ..Fault::new("elicitation-schema-dropped", "`requestedSchema` of elicitations does not pass")
    },
    Fault {
        down: Some(|_, message| {
            if is(message, "roots/list") {
                Action::Return(json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "roots": [] } }))
            } else {
                Action::Pass
            }
        }),
        ..Fault::new("roots-answered", "the gateway responds to roots/list itself")
    },
    Fault {
        down: Some(|_, message| if is(message, LOG) { Action::Twice } else { Action::Pass }),
        fronts: &[STDIO],
        ..Fault::new("log-repeated", "log messages come twice")
    },
];

fn dropped(message: &Value, method: &str) -> Action {
    if is(message, method) { Action::Drop } else { Action::Pass }
}

fn is_request(message: &Value) -> bool {
    message.get("id").is_some() && !is(message, "ping")
}

fn every_second(memory: &mut Memory, message: &mut Value) -> Action {
    if !is(message, PROGRESS) {
        return Action::Pass;
    }
    memory.kept.push(Value::Null);
    if memory.kept.len().is_multiple_of(2) { Action::Drop } else { Action::Pass }
}
